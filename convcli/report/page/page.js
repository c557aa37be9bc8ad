const form = document.getElementById("filters"), main = document.querySelector("main");
const [box] = form.querySelectorAll("input[type=search]"), counter = form.querySelector("output");
const roles = [...form.querySelectorAll("input[type=checkbox]")], [tool, status] = form.querySelectorAll("select");
const list = document.querySelector(".index tbody") ?? main;
const version = document.body.dataset.version;
const chunks = (root) => [...root.querySelectorAll("main > .item, main > .later, tbody > .item")];
const folds = (item) => [...(item.tagName === "DETAILS" ? [item] : []), ...item.querySelectorAll("details")];
let known = version ? chunks(document).map((chunk) => chunk.outerHTML) : [];
let pieces = [], opened = false;

// ---- what is looked for
const marks = window.Highlight && CSS.highlights ? new Highlight() : null;
if (marks) CSS.highlights.set("found", marks);
let wanted = [], hidden = new Set(), filtered = false, shown = new WeakSet(), run = 0;
const has = (names, name) => !name || names.split("\n").includes(name);
const holds = (facts, text) => !hidden.has(facts.role) && has(facts.tool ?? "", tool?.value)
  && has(facts.status ?? "", status?.value) && (!wanted.length || wanted.every((word) => text().includes(word)));
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
const show = (item) => {  // once in a search: what somebody folds then stays folded
  if (!wanted.length || shown.has(item)) return;
  shown.add(item);
  for (const fold of folds(item)) fold.open = wanted.some((word) => fold.textContent.toLowerCase().includes(word));
  if (marks) wanted.forEach((word) => mark(item, word));
};

// ---- pieces of a long session: texts, whose articles stand in the page only while they are near
const NAMED = { lt: "<", gt: ">", quot: '"', amp: "&", "#x27": "'" };
const plain = (html) => html.replace(/<[^>]*>/g, "").replace(/&(#?\w+);/g, (all, name) => NAMED[name] ?? all);
const facts = (html) => {
  const [, role, names = "", states = ""]
    = / data-role="(\w*)"(?: data-tool="([^"]*)" data-status="([^"]*)")?/.exec(html) ?? [];
  return { role, tool: plain(names), status: states, text: plain(html).toLowerCase() };
};
class Piece {
  constructor(later) {
    this.later = later, this.size = Number(later.dataset.items), this.articles = [], later.piece = this, this.rest();
  }
  get html() {
    const script = this.later.querySelector("script");
    if (script) this.text = script.textContent, script.remove();
    return this.text;
  }
  get sources() { return this.html.split(/(?=<(?:article|details) class="item)/); }
  get facts() { return (this.known ??= this.sources.map(facts)); }
  sift() {  // how many of its articles are shown
    this.wanted = filtered ? [...this.facts.keys()].filter((at) => holds(this.facts[at], () => this.facts[at].text)) : null;
    this.height = 0, this.later.hidden = this.wanted?.length === 0;
    if (this.near) this.place(); else this.rest();
    return this.wanted?.length ?? this.size;
  }
  make(html) {
    const holder = document.createElement("template");
    holder.innerHTML = html;
    const article = holder.content.firstElementChild;
    if (opened) for (const fold of folds(article)) fold.open = true;
    return article;
  }
  place() {
    const { sources } = this, nodes = (this.wanted ?? [...sources.keys()]).map((at) => (this.articles[at] ??= this.make(sources[at])));
    this.near = true, this.later.replaceChildren(...nodes), this.later.style.height = "";
    nodes.forEach(show);
  }
  rest() {  // as high as its articles were, or will be about
    if (this.near) this.height = this.later.offsetHeight, this.later.replaceChildren();
    this.near = false;
    this.later.style.height = this.height ? `${this.height}px` : `${9.8 * (this.wanted?.length ?? this.size)}rem`;
  }
  follow(before) {  // what somebody has unfolded stays so
    const { sources } = before;
    this.sources.forEach((html, at) => { if (html === sources[at]) this.articles[at] = before.articles[at]; });
  }
}
const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target: { piece } } of entries) {
    piece.seen = isIntersecting;
    if (isIntersecting !== Boolean(piece.near)) isIntersecting ? piece.place() : piece.rest();
  }
}, { rootMargin: "3000px" });
const watch = () => {
  pieces = [...main.querySelectorAll(".later")].map((later) => later.piece ?? new Piece(later));
  for (const { later } of pieces) near.observe(later);
};
const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));
const prepare = (from = 0) => {  // the first search need not wait for it
  if (from < pieces.length) pieces[from].facts, idle(() => prepare(from + 1));
};

// ---- filters
const pause = () => new Promise((next) => { setTimeout(next); });
const filter = async () => {
  const mine = ++run, singles = [...list.querySelectorAll(":scope > .item")];
  const total = pieces.reduce((sum, { size }) => sum + size, singles.length);
  wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  hidden = new Set(roles.filter((each) => !each.checked).map((each) => each.value));
  filtered = Boolean(wanted.length || hidden.size || tool?.value || status?.value);
  marks?.clear(), shown = new WeakSet();
  let count = 0, begin = performance.now();
  for (const item of singles) {
    item.hidden = !holds(item.dataset, () => item.textContent.toLowerCase());
    if (!item.hidden) count += 1, show(item);
  }
  const tell = (more) => { counter.textContent = filtered ? `${count} of ${total}${more}` : ""; };
  for (const piece of pieces) {
    if (performance.now() - begin > 40) {
      tell(" …");
      await pause();
      if (mine !== run) return;
      begin = performance.now();
    }
    count += piece.sift();
  }
  tell("");
};
let pending;
for (const event of ["input", "change"])
  form.addEventListener(event, () => { clearTimeout(pending), pending = setTimeout(filter, 120); });
form.addEventListener("submit", (event) => event.preventDefault());
form.querySelector("button")?.addEventListener("click", ({ target }) => {
  opened = !opened, target.textContent = opened ? "close all" : "open all";
  const apart = pieces.flatMap(({ articles }) => articles.filter((article) => article && !article.isConnected));
  for (const fold of [main, ...apart].flatMap(folds)) fold.open = opened;
});
const clear = () => {
  box.value = "";
  for (const each of roles) each.checked = true;
  if (tool) tool.value = status.value = "";
  return filter();
};

// ---- copies, keys, addresses, print
document.body.classList.toggle("copies", Boolean(navigator.clipboard));
main.addEventListener("click", async ({ target }) => {
  if (!target.matches(".copy")) return;
  const body = [...target.closest("article").children].slice(1).map((child) => child.innerText).join("\n");
  await navigator.clipboard.writeText(body), target.textContent = "copied";
  setTimeout(() => { target.textContent = "copy"; }, 1500);
});
const step = (by) => {
  const items = [...list.querySelectorAll(".item:not([hidden])")], top = 80;
  const at = items.findIndex((item) => item.getBoundingClientRect().top > top - 5);
  const here = at < 0 ? items.length : at;
  const next = by > 0 && items[here]?.getBoundingClientRect().top <= top + 5 ? here + 1 : by > 0 ? here : here - 1;
  items[Math.max(0, Math.min(next, items.length - 1))]?.scrollIntoView();
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === box) { if (event.key === "Escape") box.value = "", box.blur(), filter(); return; }
  if (event.target.matches("input, select, textarea")) return;
  if (event.key === "/") event.preventDefault(), box.focus();
  if (event.key === "j") step(1);
  if (event.key === "k") step(-1);
});
const locate = (id) => {
  const holder = document.getElementById(id) ? null : pieces.find(({ html }) => html.includes(` id="${id}"`));
  if (holder) holder.place();
  const place = document.getElementById(id);
  return place?.closest("[hidden]") ? null : place;
};
const unfold = async (event) => {
  const id = location.hash.slice(1);
  if (!/^[\w-]+$/.test(id)) return;
  if (event && filtered && !locate(id)) await clear();  // who follows a link wants to see where it leads
  const target = locate(id);
  for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  let frames = target ? 30 : 0;  // what lies above gets its true height only when it is laid out
  const settle = () => { if (frames-- > 0) target.scrollIntoView(), requestAnimationFrame(settle); };
  for (const kind of ["wheel", "touchstart", "keydown"]) window.addEventListener(kind, () => { frames = 0; }, { once: true });
  settle();
};
window.addEventListener("hashchange", unfold);
let closed = [];
window.addEventListener("beforeprint", () => {
  for (const piece of pieces) piece.place();
  closed = folds(main).filter((fold) => !fold.open);
  for (const fold of closed) fold.open = true;
});
window.addEventListener("afterprint", () => {
  for (const fold of closed) fold.open = false;
  for (const piece of pieces) if (!piece.seen) piece.rest();
});

// ---- a page of a server asks for what is new
const update = (text) => {
  const fresh = new DOMParser().parseFromString(text, "text/html"), now = chunks(fresh), old = chunks(document);
  const texts = now.map((chunk) => chunk.outerHTML), same = texts.findIndex((each, at) => each !== known[at]);
  const from = same < 0 ? texts.length : same, bottom = innerHeight + scrollY > document.body.scrollHeight - 200;
  const map = document.getElementById("map"), scrolled = map?.scrollTop;
  for (const part of ["#map", "header"]) document.querySelector(part)?.replaceWith(fresh.querySelector(part));
  if (map) document.getElementById("map").scrollTop = scrolled;
  list.append(...now.slice(from)), known = texts;
  old.slice(from).forEach((before, at) => {
    const after = now[from + at];
    if (before.piece && after?.classList.contains("later")) new Piece(after).follow(before.piece);
    else if (after) folds(after).forEach((fold, number) => { fold.open = folds(before)[number]?.open ?? opened; });
    near.unobserve(before), before.remove();
  });
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
watch(), filter(), unfold(), idle(() => prepare());
if (version) setTimeout(ask, version === "0" ? 0 : 1000, version);
