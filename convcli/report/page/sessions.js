{
  const pane = document.getElementById("sessions"), find = pane.querySelector(".find"), box = find.querySelector("input");
  const isIndex = document.body.classList.contains("index"), isLive = "live" in pane.dataset;
  const EVERY = isIndex ? 1000 : 10000;  // milliseconds between two questions for news
  const list = () => pane.querySelector(".list"), storage = (work) => { try { return work(sessionStorage); } catch { return null; } };
  const here = location.pathname.replace(/.*\//, "");
  let query = location.search, tag = "", asked = 0, pending;

  // ---- the list of a server: it searches, sorts and groups
  const mark = (top) => {  // the page that is open
    for (const link of top.querySelectorAll(".item a"))
      if (!isIndex && link.pathname.endsWith(`/${here}`)) link.setAttribute("aria-current", "page");
  };
  const show = (fresh) => {
    const before = list(), { scrollTop } = before;
    mark(fresh);
    const parts = [".list", ".views", ".find output", ...(isIndex ? [] : [".totals"])];
    for (const part of parts) pane.querySelector(part)?.replaceWith(fresh.querySelector(part) ?? pane.querySelector(part));
    list().scrollTop = scrollTop;
  };
  const load = async () => {
    const mine = ++asked, begin = performance.now(), wanted = query;
    try {
      const answer = await fetch(`./${wanted}`, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
      const text = answer.status === 200 ? await answer.text() : "";
      if (mine !== asked) return;
      document.body.classList.toggle("gone", answer.status !== 200 && answer.status !== 304);
      if (text) {
        const fresh = new DOMParser().parseFromString(text, "text/html");
        tag = answer.headers.get("ETag") ?? "", show(fresh.getElementById("sessions"));
        if (isIndex) document.querySelector("header").replaceWith(fresh.querySelector("header"));
      }
    } catch { document.body.classList.add("gone"); }
    if (mine === asked) clearTimeout(pending), pending = setTimeout(load, Math.max(EVERY, 5 * (performance.now() - begin)));
  };
  const choose = (search) => {
    query = search, tag = "", storage((store) => store.removeItem("convcli-list"));
    history.replaceState(null, "", `${here || "./"}${query}${location.hash}`);
    return load();
  };
  const change = () => {
    const chosen = new URLSearchParams(query), text = box.value.trim();
    if (text) chosen.set("find", text); else chosen.delete("find");
    const search = chosen.size ? `?${chosen}` : "";
    if (search !== query) choose(search);
  };

  // ---- the list of a folder of files: its titles are searched here
  const sift = () => {
    const wanted = box.value.trim().toLowerCase(), groups = [...pane.querySelectorAll("tbody")];
    let count = 0;
    for (const group of groups) {
      const rows = [...group.querySelectorAll(".item")];
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
      const left = rows.filter((row) => !row.hidden).length;
      group.hidden = !left, count += left;
    }
    find.querySelector("output").textContent = wanted ? `${count.toLocaleString("en")} of ${pane.querySelectorAll(".item").length.toLocaleString("en")}` : "";
  };

  let typing;
  box.addEventListener("input", () => { clearTimeout(typing), typing = setTimeout(isLive ? change : sift, 150); });
  find.addEventListener("submit", (event) => event.preventDefault());
  const lamp = pane.querySelector("[name=theme]");
  lamp?.addEventListener("click", theme), lamp?.removeAttribute("hidden");
  pane.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-view]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault(), choose(link.search);
  });
  const step = (by) => {
    const links = [...pane.querySelectorAll(".item:not([hidden]) a")], now = links.indexOf(document.activeElement);
    links[Math.max(0, Math.min(now + by, links.length - 1))]?.focus();
  };
  const open = (by) => {
    const links = [...pane.querySelectorAll(".item a")], now = links.findIndex((link) => link.matches("[aria-current]"));
    if (links[now + by]) location.assign(links[now + by].href);
  };
  const seek = () => { box.focus(), box.select(); };
  const KEYS = isIndex ? { "/": seek, j: () => step(1), k: () => step(-1), t: theme }
    : { s: seek, J: () => open(1), K: () => open(-1) };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === box) {
      if (event.key === "Escape") box.value = "", box.blur(), isLive ? change() : sift();
      if (event.key === "Enter" || event.key === "ArrowDown") event.preventDefault(), step(1);
      return;
    }
    if (event.target.matches("input, select, textarea") || document.querySelector("dialog[open]")) return;
    if (Object.hasOwn(KEYS, event.key)) event.preventDefault(), KEYS[event.key]();
  });

  find.hidden = false;
  if (!isIndex) {  // the list stays where it was when one goes to another session
    const kept = Number(storage((store) => store.getItem("convcli-list")) ?? NaN), current = pane.querySelector("[aria-current=page]");
    if (Number.isFinite(kept)) list().scrollTop = kept;
    const row = current?.getBoundingClientRect(), area = list().getBoundingClientRect();
    if (row && (row.top < area.top || row.bottom > area.bottom)) list().scrollTop += row.top - area.top - area.height / 3;
    addEventListener("pagehide", () => storage((store) => store.setItem("convcli-list", list().scrollTop)));
    const MAP = document.getElementById("show-map"), first = document.querySelector(".panes input");
    if (storage((store) => store.getItem("convcli-pane")) === "map") MAP.checked = true;
    for (const input of [MAP, first]) input.addEventListener("change", () => storage((store) => store.setItem("convcli-pane", MAP.checked ? "map" : "list")));
  }
  if (isLive) pending = setTimeout(load, isIndex ? 0 : EVERY);
}
