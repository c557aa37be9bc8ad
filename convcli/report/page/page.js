const form = document.getElementById("filters"), items = [...document.querySelectorAll(".item")];
const [box] = form.querySelectorAll("input[type=search]"), counter = form.querySelector("output");
const roles = [...form.querySelectorAll("input[type=checkbox]")], [tool, status] = form.querySelectorAll("select");
const marks = window.Highlight && CSS.highlights ? new Highlight() : null;
if (marks) CSS.highlights.set("found", marks);
const words = () => box.value.toLowerCase().split(/\s+/).filter(Boolean);
const has = (item, name, value) => !value || (item.dataset[name] ?? "").split(" ").includes(value);
const mark = (item, word) => {
  const walk = document.createTreeWalker(item, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode());) {
    const text = node.data.toLowerCase();
    for (let at = text.indexOf(word); at >= 0 && marks.size < 2000; at = text.indexOf(word, at + word.length)) {
      const range = new Range();
      range.setStart(node, at), range.setEnd(node, at + word.length), marks.add(range);
    }
  }
};
const filter = () => {
  const wanted = words(), hidden = new Set(roles.filter((each) => !each.checked).map((each) => each.value));
  let shown = 0;
  marks?.clear();
  for (const item of items) {
    const text = wanted.length ? item.textContent.toLowerCase() : "";
    const hit = !hidden.has(item.dataset.role) && has(item, "tool", tool?.value) && has(item, "status", status?.value)
      && wanted.every((word) => text.includes(word));
    item.hidden = !hit, shown += hit;
    if (!hit || !wanted.length) continue;
    const folds = [...(item.tagName === "DETAILS" ? [item] : []), ...item.querySelectorAll("details")];
    for (const fold of folds) fold.open = wanted.some((word) => fold.textContent.toLowerCase().includes(word));
    if (marks) wanted.forEach((word) => mark(item, word));
  }
  counter.textContent = shown < items.length ? `${shown} of ${items.length}` : "";
};
let waiting;
const soon = () => { clearTimeout(waiting), waiting = setTimeout(filter, 120); };
form.addEventListener("input", soon);
form.addEventListener("submit", (event) => event.preventDefault());
form.querySelector("button")?.addEventListener("click", (event) => {
  const open = event.target.textContent === "open all";
  for (const fold of document.querySelectorAll("main details")) fold.open = open;
  event.target.textContent = open ? "close all" : "open all";
});
for (const button of document.querySelectorAll(".copy")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    const body = [...button.closest("article").children].slice(1).map((child) => child.innerText).join("\n");
    await navigator.clipboard.writeText(body), button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
}
const step = (by) => {
  const shown = items.filter((item) => !item.hidden), top = 80;
  const at = shown.findIndex((item) => item.getBoundingClientRect().top > top - 5);
  const here = at < 0 ? shown.length : at;
  const next = by > 0 && shown[here]?.getBoundingClientRect().top <= top + 5 ? here + 1 : by > 0 ? here : here - 1;
  shown[Math.max(0, Math.min(next, shown.length - 1))]?.scrollIntoView();
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === box) { if (event.key === "Escape") box.value = "", box.blur(), filter(); return; }
  if (event.target.matches("input, select, textarea")) return;
  if (event.key === "/") event.preventDefault(), box.focus();
  if (event.key === "j") step(1);
  if (event.key === "k") step(-1);
});
const unfold = () => {
  const target = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  target?.scrollIntoView();
};
window.addEventListener("hashchange", unfold);
window.addEventListener("beforeprint", () => { for (const fold of document.querySelectorAll("details")) fold.open = true; });
form.hidden = false;
const asked = new URLSearchParams(location.search);
box.value = asked.get("q") ?? box.value;
if (tool) tool.value = asked.get("tool") ?? "", status.value = asked.get("status") ?? "";
for (const each of roles) each.checked = !(asked.get("hide") ?? "").split(",").includes(each.value);
filter();
unfold();
