const form = document.getElementById("filters"), main = document.querySelector("main");
const [box] = form.querySelectorAll("input[type=search]"), counter = form.querySelector("output");
const roles = [...form.querySelectorAll("input[type=checkbox]")], [tool, status] = form.querySelectorAll("select");
const items = () => [...main.querySelectorAll(".item")];
const version = document.body.dataset.version;
const pieces = (root) => [...root.querySelectorAll("main > .item, main > .later")];
let known = version ? pieces(document).map((piece) => piece.outerHTML) : [];

// ---- pieces of a long session, which are text until they come near
const waiting = () => [...main.querySelectorAll(".later > script")];
const plain = (text) => text.replace(/<[^>]*>/g, "").replace(/&lt;/g, "<").replace(/&gt;/g, ">")
  .replace(/&quot;/g, '"').replace(/&#x27;/g, "'").replace(/&amp;/g, "&").toLowerCase();
const fill = (script) => {
  const made = document.createElement("template"), later = script.parentElement;
  made.innerHTML = script.textContent;
  near.unobserve(later), later.replaceChildren(made.content), later.hidden = false, later.style.height = "";
  if (opened) for (const fold of later.querySelectorAll("details")) fold.open = true;
  return [...later.children].filter((item) => sift(item)).length;
};
const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries)
    if (isIntersecting && target.firstElementChild?.tagName === "SCRIPT") fill(target.firstElementChild);
}, { rootMargin: "3000px" });
const watch = () => {
  for (const { parentElement: later } of waiting())  // as high as its articles before they are laid out
    later.style.height = `${9.8 * later.dataset.items}rem`, near.observe(later);
};

// ---- filters
const marks = window.Highlight && CSS.highlights ? new Highlight() : null;
if (marks) CSS.highlights.set("found", marks);
let wanted = [], hidden = new Set(), run = 0, opened = false;
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
const sift = (item) => {
  const text = wanted.length ? item.textContent.toLowerCase() : "";
  const hit = !hidden.has(item.dataset.role) && has(item, "tool", tool?.value) && has(item, "status", status?.value)
    && wanted.every((word) => text.includes(word));
  item.hidden = !hit;
  if (!hit || !wanted.length) return hit;
  const folds = [...(item.tagName === "DETAILS" ? [item] : []), ...item.querySelectorAll("details")];
  for (const fold of folds) fold.open = wanted.some((word) => fold.textContent.toLowerCase().includes(word));
  if (marks) wanted.forEach((word) => mark(item, word));
  return hit;
};
const may = (script) => {
  const text = wanted.length ? plain(script.textContent) : "";
  return wanted.every((word) => text.includes(word))
    && (!status?.value || script.textContent.includes(` data-status="${status.value}`)
      || new RegExp(` data-status="[^"]*${status.value}`).test(script.textContent));
};
const filter = async () => {
  const mine = ++run, all = items(), scripts = waiting();
  wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  hidden = new Set(roles.filter((each) => !each.checked).map((each) => each.value));
  marks?.clear();
  let shown = all.filter((item) => sift(item)).length;
  const total = all.length + scripts.reduce((sum, script) => sum + Number(script.parentElement.dataset.items), 0);
  const filters = wanted.length || hidden.size || tool?.value || status?.value;
  for (const script of scripts) script.parentElement.hidden = Boolean(filters);
  const tell = (more) => { counter.textContent = filters && shown < total ? `${shown} of ${total}${more}` : ""; };
  for (const script of filters ? scripts : []) {
    tell(" …");
    await new Promise((next) => { setTimeout(next); });
    if (mine !== run) return;
    if (script.isConnected && may(script)) shown += fill(script);
  }
  tell("");
};
let pending;
for (const event of ["input", "change"])
  form.addEventListener(event, () => { clearTimeout(pending), pending = setTimeout(filter, 120); });
form.addEventListener("submit", (event) => event.preventDefault());
form.querySelector("button")?.addEventListener("click", (event) => {
  opened = !opened;
  for (const fold of main.querySelectorAll("details")) fold.open = opened;
  event.target.textContent = opened ? "close all" : "open all";
});

// ---- copies, keys, addresses, print
document.body.classList.toggle("copies", Boolean(navigator.clipboard));
main.addEventListener("click", async ({ target }) => {
  if (!target.matches(".copy")) return;
  const body = [...target.closest("article").children].slice(1).map((child) => child.innerText).join("\n");
  await navigator.clipboard.writeText(body), target.textContent = "copied";
  setTimeout(() => { target.textContent = "copy"; }, 1500);
});
const step = (by) => {
  const shown = items().filter((item) => !item.hidden), top = 80;
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
  const id = location.hash.slice(1);
  if (!/^[\w-]+$/.test(id)) return;
  const holder = document.getElementById(id) ? null : waiting().find((each) => each.textContent.includes(` id="${id}"`));
  if (holder) fill(holder);
  const target = document.getElementById(id);
  for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  let frames = target ? 30 : 0;  // what lies above gets its true height only when it is laid out
  const settle = () => { if (frames-- > 0) target.scrollIntoView(), requestAnimationFrame(settle); };
  for (const event of ["wheel", "touchstart", "keydown"]) window.addEventListener(event, () => { frames = 0; }, { once: true });
  settle();
};
window.addEventListener("hashchange", unfold);
window.addEventListener("beforeprint", () => {
  opened = true, waiting().forEach(fill);
  for (const fold of main.querySelectorAll("details")) fold.open = true;
});

// ---- a page of a server asks for what is new
const update = (text) => {
  const fresh = new DOMParser().parseFromString(text, "text/html"), now = pieces(fresh), old = pieces(document);
  const texts = now.map((piece) => piece.outerHTML), same = texts.findIndex((each, at) => each !== known[at]);
  const from = same < 0 ? texts.length : same, bottom = innerHeight + scrollY > document.body.scrollHeight - 200;
  old.slice(from).forEach((piece, at) => {
    const folds = [...piece.querySelectorAll("details")], next = [...(now[from + at]?.querySelectorAll("details") ?? [])];
    next.forEach((fold, number) => { fold.open = folds[number]?.open ?? opened; });
    piece.remove();
  });
  for (const part of ["#map", "header"]) document.querySelector(part).replaceWith(fresh.querySelector(part));
  main.append(...now.slice(from)), known = texts;
  watch(), filter();
  if (bottom) scrollTo(0, document.body.scrollHeight);
};
const ask = async (tag) => {
  const begin = performance.now();
  try {
    const answer = await fetch(location.pathname, { headers: { "If-None-Match": tag }, cache: "no-store" });
    if (answer.status === 200) update(await answer.text()), tag = answer.headers.get("ETag") ?? tag;
    document.body.classList.toggle("gone", answer.status !== 200 && answer.status !== 304);
  } catch { document.body.classList.add("gone"); }
  setTimeout(ask, Math.max(1000, 5 * (performance.now() - begin)), tag);
};

form.hidden = false;
const asked = new URLSearchParams(location.search);
box.value = asked.get("q") ?? box.value;
if (tool) tool.value = asked.get("tool") ?? "", status.value = asked.get("status") ?? "";
for (const each of roles) each.checked = !(asked.get("hide") ?? "").split(",").includes(each.value);
watch(), filter(), unfold();
if (version) setTimeout(ask, 1000, version);
