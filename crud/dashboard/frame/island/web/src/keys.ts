// Keys: places, rows, search, and a dialog that lists them, and switches them off for who speaks or slips. Inside fields they are letters.
import { Keys, places } from "./press.ts";
import { adopt } from "./style.ts";
import { say, word } from "./words.ts";

const rows = "#content tbody th[scope=row] a, #content .live .card p:first-child a";
const find = "#find"; // at the end of an address: focus the search there

const off = "lodestone-keys-off"; // in the browser, since it depends on the person's hands and not on the account

const css = `dialog.keys{width:360px;max-width:calc(100vw - 32px);color:var(--ink)}dialog.keys::backdrop{background:rgb(0 0 0 / .4)}
dialog dl{display:grid;grid-template-columns:auto 1fr;gap:var(--s8) var(--s16);margin:var(--s16) 0}dialog dd{margin:0}
kbd{padding:2px 6px;border:1px solid var(--edge);border-radius:4px;font:600 var(--text-12) var(--mono)}`;

let dialog: HTMLDialogElement | undefined;

/** startKeys listens to keys, and adds the button that lists them. */
export function startKeys(): void {
  const keys = new Keys();
  document.addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || e.repeat && e.key !== "j" && e.key !== "k") return;
    const field = (e.target as Element).closest?.("input, select, textarea, dialog, [contenteditable]");
    if (field?.checkVisibility()) return; // one in a dialog that was closed has the focus until the next frame
    if (e.key === "Shift" || isOff()) return; // Shift is on the way to ?
    const act = keys.press(e.key, e.timeStamp);
    if (act === undefined) return;
    if (act === "search") search();
    else if (act === "help") help();
    else if (act === "magnets") magnets();
    else if (act === "next" || act === "before") row(act === "next" ? 1 : -1);
    else nav()[act.place]?.click();
    e.preventDefault();
  });
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link keys";
  button.textContent = word("keys");
  button.addEventListener("click", help);
  document.querySelector(".who")?.append(button);
  if (location.hash === find) {
    history.replaceState(null, "", location.pathname + location.search);
    search();
  }
}

function nav(): HTMLAnchorElement[] {
  return [...document.querySelectorAll<HTMLAnchorElement>(".rail li a")];
}

function magnets(): void {
  const overview = nav()[0];
  if (overview) location.assign(`${overview.href.split("#")[0]}#magnets`);
}

// A browser may have no store for the site; then the keys are on.
function isOff(): boolean {
  try {
    return localStorage.getItem(off) !== null;
  } catch {
    return false;
  }
}

function setOff(wanted: boolean): void {
  try {
    if (wanted) localStorage.setItem(off, "yes");
    else localStorage.removeItem(off);
  } catch {
    // nothing is stored, so the keys stay on
  }
}

function search(): void {
  const field = document.querySelector<HTMLInputElement>("#content input[type=search]");
  if (field) {
    field.focus();
    field.select();
    return;
  }
  const readers = nav()[2];
  if (readers) location.assign(readers.href + find);
}

function row(step: number): void {
  const all = [...document.querySelectorAll<HTMLElement>(rows)].filter((a) => a.offsetParent);
  const at = all.indexOf(document.activeElement as HTMLElement);
  const to = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)];
  if (to) to.focus();
  else say(word("rows"));
}

function help(): void {
  dialog ??= build();
  dialog.showModal();
}

function build(): HTMLDialogElement {
  adopt(css);
  const d = document.createElement("dialog");
  d.className = "card keys";
  const title = document.createElement("h2");
  title.id = "keys-title";
  title.textContent = word("keys");
  d.setAttribute("aria-labelledby", title.id);
  const list = document.createElement("dl");
  const add = (key: string, what: string) => {
    const [dt, dd] = [document.createElement("dt"), document.createElement("dd")];
    for (const one of key.split(" ")) {
      const kbd = document.createElement("kbd");
      kbd.textContent = one;
      dt.append(kbd, " ");
    }
    dd.textContent = what;
    list.append(dt, dd);
  };
  add("/", word("search"));
  add("j k", word("go"));
  add("Enter", word("open"));
  nav().forEach((a, i) => add(`g ${places[i] ?? ""}`, a.textContent ?? ""));
  add("g m", word("magnets"));
  add("?", word("help"));
  const wanted = document.createElement("p");
  wanted.className = "field check";
  const box = document.createElement("input");
  box.type = "checkbox";
  box.id = "letters";
  box.checked = !isOff();
  box.addEventListener("change", () => setOff(!box.checked));
  const label = document.createElement("label");
  label.htmlFor = box.id;
  label.textContent = word("letters");
  wanted.append(box, label);
  const close = document.createElement("button");
  close.className = "button quiet";
  close.textContent = word("close");
  const form = document.createElement("form");
  form.method = "dialog";
  form.append(close);
  d.append(title, list, wanted, form);
  document.body.append(d);
  return d;
}
