// Draws another state of the screen in place: the period, filters, search, order, pages of a list. The page comes from the server as it
// would without scripts. If anything is unusual, the browser loads the address instead.
import { formAddress, sameScreen } from "./address.ts";
import { unsavedInput } from "./form.ts";
import { ask, warning } from "./screen.ts";
import { say, word } from "./words.ts";

type Entry = "push" | "replace" | "none"; // what becomes of the browser's history

const search = "#content form.pick input[type=search]";
const pause = 250; // ms after the last key of a search

let running: AbortController | undefined;
let returning = false; // it is for a step in the browser's history
let shown = location.href;
let typing: ReturnType<typeof setTimeout> | undefined;

/** startSwap follows links, forms and the browser's history. */
export function startSwap(): void {
  document.addEventListener("click", (e) => {
    const link = (e.target as Element).closest?.("a");
    if (!link || e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    if (!link.closest("#content") || link.target || link.hasAttribute("download") || unsavedInput()) return;
    const to = sameScreen(link.href, location.href);
    if (!to) return;
    e.preventDefault();
    void swap(to.href, "push");
  });
  document.addEventListener("submit", (e) => {
    const form = e.target as HTMLFormElement;
    if (e.defaultPrevented || form.method !== "get" || !form.closest("#content") || unsavedInput()) return;
    const to = formAddress(form.action, new FormData(form, e.submitter));
    if (!sameScreen(to, location.href)) return;
    e.preventDefault();
    clearTimeout(typing);
    void swap(to, "push");
  });
  document.addEventListener("change", (e) => {
    const field = e.target as Element;
    if (field.matches("#content form.pick select")) (field as HTMLSelectElement).form?.requestSubmit();
  });
  document.addEventListener("input", (e) => {
    if (!(e.target as Element).matches(search)) return;
    clearTimeout(typing);
    typing = setTimeout(() => {
      // An answer to what was typed before may have put another field in place of this one.
      const form = document.querySelector<HTMLInputElement>(search)?.form;
      if (!form || unsavedInput()) return;
      const to = formAddress(form.action, new FormData(form));
      if (sameScreen(to, location.href)) void swap(to, "replace");
    }, pause);
  });
  addEventListener("popstate", () => {
    const before = new URL(shown);
    if (location.pathname !== before.pathname || location.search !== before.search) void swap(location.href, "none");
    else if (returning) {
      running?.abort(); // back and forward: the screen of this address is still there
      document.getElementById("content")?.removeAttribute("aria-busy");
    }
  });
}

/** swap shows another state of the screen. A later one cancels it. */
async function swap(to: string, entry: Entry): Promise<void> {
  running?.abort();
  const run = new AbortController();
  running = run;
  returning = entry === "none";
  const main = document.getElementById("content") as HTMLElement;
  const note = main.querySelector(".lost");
  if (note?.contains(document.activeElement)) main.focus({ preventScroll: true });
  note?.remove();
  main.setAttribute("aria-busy", "true");
  try {
    const { status, ended, page } = await ask(to, run.signal);
    if (ended || !page) {
      // Loading the screen leads to the page for signing in, and that back to the screen.
      location.assign(to);
      return;
    }
    const next = page.getElementById("content");
    if (!next) throw new Error(`no screen in an answer of status ${status}`);
    if (script(page) !== script(document)) {
      location.assign(to); // the server has another release
      return;
    }
    if (run !== running) return;
    if (entry === "push" && to !== location.href) history.pushState(null, "", to);
    else if (entry !== "none") history.replaceState(null, "", to);
    shown = to;
    draw(main, next, page);
  } catch {
    if (run.signal.aborted) return;
    main.removeAttribute("aria-busy");
    lost(main, to, entry);
  }
}

function script(page: Document): string {
  return page.getElementById("islands")?.getAttribute("src") ?? "";
}

function draw(main: HTMLElement, next: HTMLElement, page: Document): void {
  const active = main.contains(document.activeElement) ? (document.activeElement as HTMLElement) : undefined;
  const find = active && trace(active);
  const [x, y] = [scrollX, scrollY];
  for (const open of main.querySelectorAll<HTMLDetailsElement>("details[id][open]")) {
    next.querySelector<HTMLDetailsElement>(`#${CSS.escape(open.id)}`)?.setAttribute("open", "");
  }
  const fresh = document.adoptNode(next);
  const to = fresh.querySelector<HTMLElement>(".add-filter [autofocus]") ?? find?.(fresh);
  if (active instanceof HTMLInputElement && to instanceof HTMLInputElement && to.type === "search") to.value = active.value;
  main.replaceWith(fresh);
  const links = page.querySelectorAll<HTMLAnchorElement>(".rail a");
  document.querySelectorAll<HTMLAnchorElement>(".rail a").forEach((link, i) => {
    const href = links[i]?.getAttribute("href");
    if (href) link.setAttribute("href", href);
  });
  document.title = page.title;
  if (active) {
    to?.focus({ preventScroll: true });
    if (document.activeElement !== to) fresh.focus({ preventScroll: true }); // it is gone, or folded away now
  }
  if (active instanceof HTMLInputElement && to instanceof HTMLInputElement && to.type === "search") {
    to.setSelectionRange(active.selectionStart, active.selectionEnd);
  }
  scrollTo({ left: x, top: y, behavior: "instant" });
  say(`${word("updated")} ${fresh.querySelector("h1")?.textContent ?? ""}`);
  document.dispatchEvent(new Event("drawn"));
}

/** trace returns how to find, in the next state of the screen, what an element is in this one. */
function trace(e: HTMLElement): (next: HTMLElement) => HTMLElement | undefined {
  const selectors: string[] = [];
  const name = e.getAttribute("name");
  if (e.id) selectors.push(`#${CSS.escape(e.id)}`);
  else if (name) selectors.push(`${e.localName}[name="${CSS.escape(name)}"]:not([type=hidden])`);
  // A link leads elsewhere once it was followed, and a button has no name: it is the one at the same place among its like.
  const kind = e.parentElement?.closest("[class]")?.classList[0];
  const like = kind ? `.${CSS.escape(kind)} ${e.localName}` : e.localName;
  const place = [...(e.closest("#content")?.querySelectorAll(like) ?? [])].indexOf(e);
  return (next) => {
    for (const s of selectors) {
      const found = next.querySelector<HTMLElement>(s);
      if (found) return found;
    }
    return next.querySelectorAll<HTMLElement>(like)[place];
  };
}

/** lost says that there was no answer, and offers to try again. What was shown stays. */
function lost(main: HTMLElement, to: string, entry: Entry): void {
  const again = document.createElement("button");
  again.type = "button";
  again.className = "link";
  again.textContent = word("again");
  again.addEventListener("click", () => void swap(to, entry));
  main.prepend(warning("lost", word("failed"), again));
}
