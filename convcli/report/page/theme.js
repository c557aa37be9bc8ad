const root = document.documentElement;
const stored = (value) => {  // a page of a file may have no storage
  try { return value ? localStorage.setItem("convcli-theme", value) : localStorage.getItem("convcli-theme"); } catch { return null; }
};
const theme = () => {
  const dark = getComputedStyle(root).colorScheme === "dark"
    || (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  root.dataset.theme = dark ? "light" : "dark", stored(root.dataset.theme);
};
if (stored()) root.dataset.theme = stored() === "dark" ? "dark" : "light";
