// The search: a dialog over an index that is loaded when it is first opened. And buttons that copy commands. Without this script the site is
// complete but for both.
import MiniSearch from "minisearch";

// Entry is what stands below one heading, as the builder of the site writes it.
interface Entry {
  u: string; // address, from the root of the site
  p: string; // title of the page
  h?: string; // the heading
  s: string; // section of the navigation
  t: string; // text
}

declare global {
  interface Window {
    lodestoneIndex?: Entry[];
  }
}

// The index is beside this script, wherever the site is.
const index = new URL("search.js", (document.currentScript as HTMLScriptElement).src);
const dialog = document.querySelector<HTMLDialogElement>("dialog.search")!;
const field = dialog.querySelector("input")!;
const list = dialog.querySelector("ul")!;
const status = dialog.querySelector("[role=status]")!;
const button = document.querySelector<HTMLButtonElement>("button.find")!;

const most = 20; // hits shown
let chosen = -1;

// Words are runs of letters and digits. Names with separators, such as --kafka-sasl-user or slug_taken, are found by their parts and as a whole.
const split = (text: string): string[] => {
  const words = text.split(/[^\p{L}\p{N}_-]+/u);
  const parts = words.filter((w) => /[_-]/.test(w)).flatMap((w) => w.split(/[_-]+/));
  return [...words.map((w) => w.replace(/^[-_]+|[-_]+$/g, "")), ...parts].filter(Boolean);
};

let loading: Promise<MiniSearch<Entry>> | undefined;
const load = (): Promise<MiniSearch<Entry>> =>
  (loading ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = index.href;
    script.onload = () => {
      const search = new MiniSearch<Entry>({ idField: "u", fields: ["p", "h", "t"], storeFields: ["u", "p", "h", "s", "t"], tokenize: split });
      search.addAll(window.lodestoneIndex ?? []);
      done(search);
    };
    script.onerror = () => {
      loading = undefined;
      script.remove();
      failed(new Error("the index was not loaded"));
    };
    document.head.append(script);
  }));

// around is the part of a text where the words stand.
const around = (text: string, words: string[]): string => {
  const lower = text.toLowerCase();
  const found = words.map((w) => lower.indexOf(w)).filter((at) => at >= 0);
  const at = found.length ? Math.min(...found) : 0;
  const from = at < 60 ? 0 : text.indexOf(" ", at - 50) + 1;
  return (from > 0 ? "… " : "") + text.slice(from, from + 160) + (text.length > from + 160 ? " …" : "");
};

// marked puts the words of a text that were found into marks. Words have letters, digits, _ and - only, so they are patterns of themselves.
const marked = (text: string, words: string[]): (Node | string)[] => {
  if (!words.length) return [text];
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${[...words].sort((a, b) => b.length - a.length).join("|")})`, "giu");
  return text.split(pattern).map((part, i) => {
    if (i % 2 === 0) return part;
    const mark = document.createElement("mark");
    mark.textContent = part;
    return mark;
  });
};

const element = (name: string, kind: string, content: (Node | string)[]): HTMLElement => {
  const made = document.createElement(name);
  made.className = kind;
  made.append(...content);
  return made;
};

const choose = (to: number): void => {
  const options = [...list.children];
  options[chosen]?.setAttribute("aria-selected", "false");
  chosen = options.length ? (to + options.length) % options.length : -1;
  const option = options[chosen];
  if (!option) {
    field.removeAttribute("aria-activedescendant");
    return;
  }
  option.setAttribute("aria-selected", "true");
  option.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", option.id);
};

const show = async (): Promise<void> => {
  const query = field.value.trim();
  let hits: ReturnType<MiniSearch<Entry>["search"]> = [];
  try {
    const search = await load();
    if (query !== field.value.trim()) return; // a later letter asks again
    const how = { prefix: true, fuzzy: (w: string) => (w.length > 4 ? 0.2 : false), boost: { p: 4, h: 3 }, boostDocument: (url: string) => (/^(changelog|decisions)/.test(url) ? 0.4 : 1) };
    hits = search.search(query, { ...how, combineWith: "AND" });
    if (!hits.length) hits = search.search(query, how);
  } catch {
    status.textContent = "The index of the search could not be loaded. Try again.";
    return;
  }
  status.textContent = !query ? "" : hits.length ? `${hits.length} hit${hits.length === 1 ? "" : "s"}` : `Nothing has “${query}”. Try fewer or other words.`;
  const root = new URL(".", index);
  list.replaceChildren(
    ...hits.slice(0, most).map((hit, i) => {
      const option = document.createElement("li");
      option.id = `hit-${i}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.dataset.url = new URL(hit.u, root).href;
      option.append(
        element("span", "of", [hit.h ? `${hit.s} · ${hit.p}` : hit.s]),
        element("span", "title", marked(hit.h ?? hit.p, hit.terms)),
        element("span", "text", marked(around(hit.t, hit.terms), hit.terms)),
      );
      return option;
    }),
  );
  field.setAttribute("aria-expanded", String(hits.length > 0));
  chosen = -1;
  choose(0);
};

const go = (option?: Element | null): void => {
  const url = (option as HTMLElement | null)?.dataset.url;
  if (!url) return;
  dialog.close();
  location.href = url;
};

const open = (): void => {
  if (dialog.open) return;
  dialog.showModal();
  field.select();
  load().then(show, show);
};

button.hidden = false;
button.addEventListener("click", open);
field.addEventListener("input", () => void show());
field.addEventListener("keydown", (e) => {
  if (e.isComposing) return;
  if (e.key === "ArrowDown") choose(chosen + 1);
  else if (e.key === "ArrowUp") choose(chosen - 1);
  else if (e.key === "Escape") dialog.close(); // browsers would clear the field first
  else if (e.key === "Enter") go(list.children[chosen]);
  else return;
  e.preventDefault();
});
list.addEventListener("click", (e) => go((e.target as Element).closest("li")));
dialog.addEventListener("click", (e) => {
  if (e.target === dialog) dialog.close(); // beside it
});
document.addEventListener("keydown", (e) => {
  // A field of a dialog that was closed has the focus until the next frame.
  const typing = (e.target as Element).closest("input, textarea, select, [contenteditable]")?.checkVisibility();
  if ((e.key === "/" && !typing && !e.ctrlKey && !e.metaKey && !e.altKey) || (e.key === "k" && (e.ctrlKey || e.metaKey))) {
    e.preventDefault();
    open();
  }
});

// The contents are beside the page on a wide screen, at the page's own place, and closed above it on a narrow one.
const menu = document.querySelector<HTMLDetailsElement>("details.menu");
const wide = matchMedia("(min-width: 1000px)");
const settle = (): void => {
  if (!menu) return;
  menu.open = wide.matches;
  const here = menu.querySelector<HTMLElement>("[aria-current=page]");
  if (wide.matches && here) menu.scrollTop = here.offsetTop - menu.clientHeight / 2;
};
wide.addEventListener("change", settle);
settle();

for (const block of document.querySelectorAll<HTMLElement>("article pre")) {
  if (!block.querySelector("code[data-lang=sh], code[data-lang=bash], code[data-lang=sql]") || !navigator.clipboard) continue;
  const copy = element("button", "copy", ["Copy"]) as HTMLButtonElement;
  copy.type = "button";
  copy.addEventListener("click", () => {
    navigator.clipboard.writeText(block.textContent ?? "").then(
      () => (copy.textContent = "Copied"),
      () => (copy.textContent = "Not allowed"),
    );
    setTimeout(() => (copy.textContent = "Copy"), 2000);
  });
  block.parentElement!.append(copy);
}
