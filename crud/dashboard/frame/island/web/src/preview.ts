// The drawing of a page and a mail follows what is typed and chosen. Colours come from the server, which makes them readable.
import { computed, effect, signal } from "@preact/signals-core";

import { place, shorten, type Logo } from "./drawing.ts";
import { ask } from "./screen.ts";

const pause = 200; // ms after the last change of a colour

/** start follows the form beside the drawing, and returns what ends that. */
export function start(root: HTMLElement): () => void {
  const field = <T extends HTMLElement>(id: string) => root.querySelector<T>(`#${id}`);
  const name = field<HTMLInputElement>("name");
  const colour = field<HTMLInputElement>("brand_color");
  const font = field<HTMLSelectElement>("brand_font");
  const file = field<HTMLInputElement>("logo-file");
  const figures = [...root.querySelectorAll<HTMLElement>(".previews figure")];
  if (!name || !colour || !font) return () => {}; // the role only reads

  const kept = root.querySelector<HTMLImageElement>("img.logo");
  const uploaded = (): Logo | undefined => kept ? { url: kept.src, width: kept.naturalWidth, height: kept.naturalHeight } : undefined;
  const before = name.defaultValue;
  const typed = signal(name.value);
  const face = signal(font.value);
  const hue = signal(colour.value);
  const chosen = signal<Logo | undefined>(undefined);
  const accents = signal(figures.map((f) => ({ accent: f.dataset.accent ?? "", on: f.dataset.words ?? "" })));
  const shown = computed(() => shorten(typed.value.trim() === "" ? before : typed.value));

  const end = new AbortController();
  const on = (e: HTMLElement, type: string, fn: () => void) => e.addEventListener(type, fn, { signal: end.signal });
  const wheel = document.createElement("input");
  wheel.type = "color";
  wheel.setAttribute("aria-label", root.dataset.choose ?? "");
  colour.after(wheel);
  on(wheel, "input", () => {
    colour.value = hue.value = wheel.value;
    colour.dispatchEvent(new Event("input", { bubbles: true })); // the form has input
  });
  on(name, "input", () => (typed.value = name.value));
  on(colour, "input", () => (hue.value = colour.value));
  on(font, "change", () => (face.value = font.value));
  if (file) on(file, "change", () => void picture(file.files?.[0]).then((logo) => (chosen.value = logo)));

  let asking: AbortController | undefined;
  let due: ReturnType<typeof setTimeout> | undefined;
  const colours = async (value: string) => {
    asking?.abort();
    asking = new AbortController();
    const to = new URL(location.pathname, location.href);
    to.search = new URLSearchParams({ preview: "1", brand_color: value }).toString();
    const { page } = await ask(to.href, asking.signal).catch(() => ({ page: undefined }));
    const found = [...(page?.querySelectorAll<HTMLElement>(".previews figure") ?? [])];
    if (found.length === figures.length) accents.value = found.map((f) => ({ accent: f.dataset.accent ?? "", on: f.dataset.words ?? "" }));
  };

  const set = (selector: string, attributes: Record<string, string>, within: ParentNode = root) => {
    for (const e of within.querySelectorAll(`.previews ${selector}`)) for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  };
  const seen = (yes: boolean) => (yes ? "visible" : "hidden");
  let asked = colour.defaultValue; // the server drew it; the person may have typed since
  const ends = [
    effect(() => {
      for (const e of root.querySelectorAll(".previews .named")) e.textContent = shown.value;
    }),
    effect(() => {
      if (/^#[0-9a-f]{6}$/i.test(hue.value)) wheel.value = hue.value;
      else if (hue.value === "") wheel.value = accents.peek()[0]?.accent ?? "";
      clearTimeout(due);
      if (hue.value !== asked) due = setTimeout(() => void colours((asked = hue.peek())), pause);
    }),
    effect(() => figures.forEach((figure, i) => {
      const { accent, on } = accents.value[i] ?? { accent: "", on: "" };
      for (const e of figure.querySelectorAll(".accent")) e.setAttribute("fill", accent);
      for (const e of figure.querySelectorAll(".on")) e.setAttribute("fill", on);
    })),
    effect(() => set("svg", { "font-family": face.value === "system" ? root.dataset.font ?? "" : "" })),
    effect(() => {
      const logo = chosen.value;
      if (!logo && kept && !kept.complete) return; // the server drew it
      const now = logo ?? uploaded();
      const { width, nameAt, worded } = place(now);
      if (now) set(".logos image", { href: now.url, width: String(width) });
      set(".logos", { visibility: seen(now !== undefined) });
      set(".named", { x: String(nameAt), visibility: seen(!worded) });
      set(".mailed", { x: "202", visibility: seen(now === undefined) });
    }),
  ];
  return () => {
    end.abort();
    asking?.abort();
    clearTimeout(due);
    for (const stop of ends) stop();
  };
}

/** picture reads a chosen file. What is no picture of a browser's is none: the server says what is wrong with it. */
async function picture(file: File | undefined): Promise<Logo | undefined> {
  if (!file) return undefined;
  const url = await new Promise<string>((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => resolve("");
    reader.readAsDataURL(file);
  });
  const image = new Image();
  image.src = url;
  try {
    await image.decode();
  } catch {
    return undefined;
  }
  return { url, width: image.naturalWidth, height: image.naturalHeight };
}
