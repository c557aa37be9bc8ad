const form = document.getElementById("filters"), main = document.querySelector("main");
const [box] = form.querySelectorAll("input[type=search]"), counter = form.querySelector("output");
const roles = [...form.querySelectorAll("input[type=checkbox]")], [tool, status] = form.querySelectorAll("select");
const keys = document.getElementById("keys");
const version = document.body.dataset.version, button = (name) => form.querySelector(`button[name=${name}]`);
const chunks = (top) => [...top.querySelectorAll("main > .item, main > .later")];
const folds = (item) => [...(item.tagName === "DETAILS" ? [item] : []), ...item.querySelectorAll("details:not(.menu)")];
let known = version ? chunks(document).map((chunk) => chunk.outerHTML) : [];
let pieces = [], opened = false;

// ---- text: what an item says, without its heading; white space counts as a space
const flat = (text) => text.toLowerCase().replace(/\s/g, " ");
const REPEATED = ".meta, .preview, .first, .why";  // headings, and what only repeats the text below
const nodes = function* (item) {
  const walk = document.createTreeWalker(item, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT,
    (node) => node.nodeType === 1 && node.matches(REPEATED) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  for (let node; (node = walk.nextNode());) if (node.nodeType === 3) yield node;
};
const textOf = (item) => flat([...nodes(item)].map(({ data }) => data).join(""));
const times = (text) => {
  let count = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) count += 1;
  return count;
};
const rangesOf = (item) => {  // a hit may begin in one element and end in another
  const all = [...nodes(item)], starts = [], found = [];
  let length = 0;
  for (const { data } of all) starts.push(length), length += data.length;
  const text = textOf(item), within = (at) => { let low = 0, high = starts.length - 1;
    while (low < high) { const middle = (low + high + 1) >> 1; if (starts[middle] <= at) low = middle; else high = middle - 1; }
    return low; };
  if (text.length !== length) return found;  // some letters change their number with their case
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    const range = new Range(), first = within(at), last = within(at + wanted.length - 1);
    range.setStart(all[first], at - starts[first]);
    range.setEnd(all[last], at + wanted.length - starts[last]), found.push(range);
  }
  return found;
};

// ---- what is looked for
const [marks, here] = ["found", "here"].map((name) => {
  const one = window.Highlight && CSS.highlights ? new Highlight() : null;
  if (one) CSS.highlights.set(name, one);
  return one;
});
const MOST_MARKS = 2000, unfolded = new Set();
let sought, wanted = "", hidden = new Set(), filtered = false, shown = new WeakSet(), run = 0, hits = [], total = 0, at = -1;
const has = (names, name) => !name || names.split("\n").includes(name);
const passes = (facts) => !hidden.has(facts.role) && has(facts.tool ?? "", tool?.value) && has(facts.status ?? "", status?.value);
const open = (fold) => { if (!fold.open) fold.open = true, unfolded.add(fold); };
const show = (item) => {  // once in a search: what somebody folds then stays folded
  if (!wanted || shown.has(item)) return;
  shown.add(item);
  for (const fold of folds(item)) if (textOf(fold).includes(wanted)) open(fold);
  if (marks && marks.size < MOST_MARKS) for (const range of rangesOf(item)) marks.add(range);
};

// ---- pieces of a long session: texts, whose articles stand in the page only while they are near
const NAMED = { lt: "<", gt: ">", quot: '"', amp: "&", "#x27": "'" };
const plain = (html) => html.replace(/<[^>]*>/g, "").replace(/&(#?\w+);/g, (all, name) => NAMED[name] ?? all);
const facts = (html) => {
  const [, role, names = "", states = ""]
    = / data-role="(\w*)"(?: data-tool="([^"]*)" data-status="([^"]*)")?/.exec(html) ?? [];
  return { role, tool: plain(names), status: states, text: flat(plain(html.replace(/<h2 class="meta">.*?<\/h2>|<span class="(?:dim preview|first|why)">.*?<\/span>/gs, ""))) };
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
    this.wanted = null, this.height = 0;
    if (filtered) {
      this.wanted = [];
      this.facts.forEach((one, number) => {
        const count = !passes(one) ? 0 : wanted ? times(one.text) : 1;
        if (count) this.wanted.push(number);
        if (count && wanted) hits.push({ piece: this, number, count }), total += count;
      });
    }
    this.later.hidden = this.wanted?.length === 0;
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
    const { sources } = this, all = (this.wanted ?? [...sources.keys()]).map((one) => (this.articles[one] ??= this.make(sources[one])));
    this.near = true, this.later.replaceChildren(...all), this.later.style.height = "";
    all.forEach(show);
  }
  rest() {  // as high as its articles were, or will be about
    if (this.near) this.height = this.later.offsetHeight, this.later.replaceChildren();
    this.near = false;
    this.later.style.height = this.height ? `${this.height}px` : `${6 * (this.wanted?.length ?? this.size)}rem`;
  }
  follow(before) {  // what somebody has unfolded stays so
    const { sources } = before;
    this.sources.forEach((html, one) => { if (html === sources[one]) this.articles[one] = before.articles[one]; });
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

// ---- filters, and the hits of a search
const pause = () => new Promise((next) => { setTimeout(next); });
const showCount = (count, all, more = "") => {
  const [some, every, found, now] = [count, all, total, at + 1].map((number) => number.toLocaleString("en"));
  const of = `${some} of ${every}${more}`, hit = total === 1 ? "hit" : "hits";
  counter.textContent = !filtered ? "" : wanted && keys ? `${at < 0 ? "" : `${now}/`}${found} ${hit}, ${of}` : of;
};
let refresh = () => {};
const filter = async () => {
  const mine = ++run, singles = [...main.querySelectorAll(":scope > .item")];
  const all = pieces.reduce((sum, { size }) => sum + size, singles.length);
  sought = wish(), wanted = flat(box.value).trim();
  hidden = new Set(roles.filter((each) => !each.checked).map((each) => each.value));
  const chosen = Boolean(hidden.size || tool?.value || status?.value);
  filtered = Boolean(wanted || chosen), form.querySelector(".menu")?.classList.toggle("on", chosen);
  marks?.clear(), here?.clear(), shown = new WeakSet(), hits = [], total = 0, at = -1;
  for (const fold of unfolded) fold.open = opened;
  unfolded.clear();
  let count = 0, begin = performance.now();
  for (const item of singles) {
    const found = !passes(item.dataset) ? 0 : wanted ? times(textOf(item)) : 1;
    item.hidden = !found;
    if (found && wanted) hits.push({ item, count: found }), total += found;
    if (found) count += 1, show(item);
  }
  for (const piece of pieces) {
    if (performance.now() - begin > 40) {
      showCount(count, all, " …");
      await pause();
      if (mine !== run) return;
      begin = performance.now();
    }
    count += piece.sift();
  }
  refresh = () => showCount(count, all), refresh();
};
const visit = (by) => {  // the next hit, or the one before
  if (!total) return;
  at = at < 0 && by < 0 ? total - 1 : (at + by + total) % total;
  let left = at, hit = hits[0];
  for (hit of hits) { if (left < hit.count) break; left -= hit.count; }
  if (hit.piece && !hit.piece.near) hit.piece.place();
  const item = hit.item ?? hit.piece.articles[hit.number], ranges = rangesOf(item), range = ranges[Math.min(left, ranges.length - 1)];
  const element = range?.startContainer.parentElement ?? item;
  for (let node = element; node !== main; node = node.parentElement) if (node.tagName === "DETAILS") open(node);
  here?.clear(), refresh();
  if (range) here?.add(range);
  settle(element, () => {
    const top = range?.getBoundingClientRect().top ?? 0;
    element.closest("pre")?.scrollTo({ top: element.closest("pre").scrollTop + top - element.closest("pre").getBoundingClientRect().top - 60 });
    scrollTo({ top: scrollY + (range ?? element).getBoundingClientRect().top - innerHeight / 3 });
  });
};

// ---- the address: #m12, #q=word&tool=Edit&status=error&hide=event, or both with & in between
const parse = (hash) => {
  const words = hash.slice(1).split("&"), id = words[0].includes("=") ? "" : words.shift();
  return { id, chosen: new URLSearchParams(words.join("&")) };
};
const choose = (chosen) => {
  box.value = chosen.get("q") ?? "";
  if (tool) tool.value = chosen.get("tool") ?? "", status.value = chosen.get("status") ?? "";
  for (const each of roles) each.checked = !(chosen.get("hide") ?? "").split(",").includes(each.value);
};
const write = (id = parse(location.hash).id) => {
  const chosen = new URLSearchParams(), off = roles.filter((each) => !each.checked).map((each) => each.value).join(",");
  for (const [name, value] of [["q", box.value.trim()], ["tool", tool?.value], ["status", status?.value], ["hide", off]])
    if (value) chosen.set(name, value);
  const hash = [id, chosen.toString()].filter(Boolean).join("&"), { search } = location, rest = new URLSearchParams(search);
  for (const name of ["q", "tool", "status", "hide"]) rest.delete(name);  // they stand behind the # from now on
  const asks = rest.size < new URLSearchParams(search).size, query = location.protocol === "file:" ? search : rest.size ? `?${rest}` : "";
  if (location.hash.slice(1) !== hash || asks) history.replaceState(null, "", `${location.protocol === "file:" ? "" : location.pathname.replace(/.*\//, "")}${query}#${hash}`);
};
let pending;
const wish = () => [box.value, tool?.value, status?.value, ...roles.map((each) => each.checked)].join("\n");
const refilter = () => { if (wish() !== sought) filter(), write(); };  // a box that loses the focus has changed too
for (const event of ["input", "change"])
  form.addEventListener(event, () => { clearTimeout(pending), pending = setTimeout(refilter, 120); });
form.addEventListener("submit", (event) => event.preventDefault());
const clear = () => { choose(new URLSearchParams()); return filter(); };
const locate = (id) => {
  const holder = document.getElementById(id) ? null : pieces.find(({ html }) => html.includes(` id="${id}"`));
  if (holder) holder.place();
  const place = document.getElementById(id);
  return place?.closest("[hidden]") ? null : place;
};
let settling = 0;
const settle = (target, scroll = () => target.scrollIntoView()) => {  // what lies above gets its height when it is laid out
  const mine = ++settling;
  let frames = 30;
  const again = () => { if (mine === settling && frames-- > 0) scroll(), requestAnimationFrame(again); };
  for (const kind of ["wheel", "touchstart", "keydown"]) window.addEventListener(kind, () => { frames = 0; }, { once: true });
  again();
};
const follow = async (event) => {
  const { id, chosen } = parse(location.hash);
  if (event && (!id || [...chosen].length)) choose(chosen), await filter();
  if (!/^[\w-]+$/.test(id)) return;
  const isLost = filtered && !locate(id);  // who follows a link wants to see where it leads
  if (isLost && (event || (wanted && !total))) await clear();
  const target = locate(id);
  document.querySelector(".target")?.classList.remove("target");
  if (event) write(id);
  if (!target) return;
  target.classList.add("target");
  for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  settle(target.closest(".card") ?? target);
};
window.addEventListener("hashchange", follow);

// ---- buttons, copies, keys, print
const spread = () => {
  opened = !opened;
  if (button("open")) button("open").textContent = opened ? "close all" : "open all";
  const apart = pieces.flatMap(({ articles }) => articles.filter((article) => article && !article.isConnected));
  for (const fold of [main, ...apart].flatMap(folds)) fold.open = opened;
};
const help = () => { if (keys?.open) keys.close(); else keys?.showModal(); };
for (const [name, work] of Object.entries({ next: () => visit(1), previous: () => visit(-1), open: spread, theme, keys: help }))
  button(name)?.addEventListener("click", work);
document.addEventListener("click", ({ target }) => {
  const menu = form.querySelector(".menu[open]");
  if (menu && !menu.contains(target)) menu.open = false;
});
document.body.classList.toggle("copies", Boolean(navigator.clipboard));
main.addEventListener("click", async ({ target }) => {
  if (!target.matches(".copy")) return;
  await navigator.clipboard.writeText(target.closest("article").querySelector(".body").innerText);
  target.classList.add("done"), setTimeout(() => target.classList.remove("done"), 1500);
});
const reach = ({ target, skipped }) => {  // with the keyboard, what scrolls in itself, once it is seen
  for (const box of skipped ? [] : target.querySelectorAll("pre")) if (box.scrollHeight > box.clientHeight) box.tabIndex = 0;
};
for (const name of ["toggle", "contentvisibilityautostatechange"]) main.addEventListener(name, reach, true);
const step = (by) => {
  const items = [...main.querySelectorAll(".item:not([hidden])")], top = parseFloat(getComputedStyle(root).scrollPaddingTop);
  const first = items.findIndex((item) => item.getBoundingClientRect().top > top - 5);
  const now = first < 0 ? items.length : first;
  const next = by > 0 && items[now]?.getBoundingClientRect().top <= top + 5 ? now + 1 : by > 0 ? now : now - 1;
  items[Math.max(0, Math.min(next, items.length - 1))]?.scrollIntoView();
};
const numberOf = (id) => Number(/^m(\d+)$/.exec(id ?? "")?.[1] ?? -1);
const current = () => {  // the message at the top of the window
  const { left, width } = main.getBoundingClientRect();
  for (const y of [90, 130, 200]) {
    const found = document.elementFromPoint(left + width / 2, y)?.closest("article[id], .events > [id], details.result[id]");
    if (found) return numberOf(found.id);
  }
  return -1;
};
const jump = (links, by) => {
  const now = numberOf(document.querySelector(".target")?.id), from = now < 0 ? current() : now;
  const ids = links.map((link) => numberOf(link.hash.slice(1))), to = by > 0 ? ids.find((id) => id > from) : ids.findLast((id) => id < from);
  if (to !== undefined) location.hash = `m${to}`;
};
const linksOf = (selector) => [...document.querySelectorAll(`${selector} a`)];
const KEYS = { j: () => step(1), k: () => step(-1), n: () => visit(1), p: () => visit(-1), o: spread, t: theme, "?": help,
  u: () => jump(linksOf("#map li"), 1), U: () => jump(linksOf("#map li"), -1),
  e: () => jump(linksOf("#side .failed"), 1), E: () => jump(linksOf("#side .failed"), -1) };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === box) {
    if (event.key === "Escape") box.value = "", box.blur(), filter(), write();
    if (event.key === "Enter" && wanted === flat(box.value).trim()) visit(event.shiftKey ? -1 : 1);
    return;
  }
  if (event.target.matches("input, select, textarea") || (keys?.open && event.key !== "?")) return;
  if (event.key === "/") event.preventDefault(), box.focus(), box.select();
  if (Object.hasOwn(KEYS, event.key)) KEYS[event.key]();
});
let waiting = false;
window.addEventListener("scroll", () => {  // the map shows where one is
  if (waiting) return;
  waiting = true, requestAnimationFrame(() => {
    waiting = false;
    const now = current(), before = document.querySelector("#map [aria-current]");
    const link = now < 0 ? before : linksOf("#map li").findLast(({ hash }) => numberOf(hash.slice(1)) <= now);
    if (link !== before) before?.removeAttribute("aria-current"), link?.setAttribute("aria-current", "true");
  });
}, { passive: true });
window.addEventListener("beforeprint", () => { for (const piece of pieces) piece.place(); });
window.addEventListener("afterprint", () => { for (const piece of pieces) if (!piece.seen) piece.rest(); });

// ---- a page of a server asks for what is new
const update = (text) => {
  const fresh = new DOMParser().parseFromString(text, "text/html"), now = chunks(fresh), old = chunks(document);
  const texts = now.map((chunk) => chunk.outerHTML), same = texts.findIndex((each, one) => each !== known[one]);
  const from = same < 0 ? texts.length : same, bottom = innerHeight + scrollY > document.body.scrollHeight - 200;
  const rail = document.querySelector(".rail"), scrolled = rail?.scrollTop;
  for (const part of ["#map", "#side", "header"]) document.querySelector(part)?.replaceWith(fresh.querySelector(part));
  if (rail) rail.scrollTop = scrolled;
  main.append(...now.slice(from)), known = texts;
  old.slice(from).forEach((before, one) => {
    const after = now[from + one];
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
const { chosen: asked } = parse(location.hash);
for (const [name, value] of new URLSearchParams(location.search)) if (!asked.has(name)) asked.set(name, value);
choose(asked), watch(), filter().then(() => follow()), idle(() => prepare());
if (version) setTimeout(ask, version === "0" ? 0 : 1000, version);
