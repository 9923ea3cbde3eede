import type { Notice } from "./notice.ts";
import type { Page } from "./page.ts";
import { paperOf, paperRules, printWidth } from "./paper.ts";
import { say } from "./words.ts";

/**
 * Prints the document: each page as a picture on a sheet of its own, since what is on the screen is
 * neither complete nor of that size. A page that cannot be shown is a sheet that says so.
 */
export async function print(pages: readonly Page[], paper: HTMLElement, notice: Notice): Promise<void> {
  if (paper.childElementCount > 0) return; // it is being printed
  let stopped = false;
  try {
    for (const page of pages) {
      notice.say(say("printing", { n: page.number, total: pages.length }), { words: say("cancel"), run: () => (stopped = true) });
      const sheet = await picture(page).catch(() => Object.assign(document.createElement("p"), { textContent: say("failed", { n: page.number }) }));
      if (stopped) return;
      const { width, height } = page.size;
      sheet.style.setProperty("page", paperOf(page.size));
      sheet.style.width = `${width}pt`;
      sheet.style.height = `calc(${height}pt - 1px)`; // what is a hair too high for its sheet takes two
      paper.append(sheet);
    }
    notice.say(null);
    const style = document.querySelector("style")!.sheet!;
    const first = style.cssRules.length;
    const rules = paperRules(pages.map((page) => page.size));
    for (const rule of rules) style.insertRule(rule, style.cssRules.length);
    window.print();
    for (const _ of rules) style.deleteRule(first);
  } finally {
    notice.say(null);
    paper.replaceChildren();
  }
}

async function picture(page: Page): Promise<HTMLElement> {
  await page.learn();
  const canvas = await page.picture(printWidth(page.size), "print");
  const image = document.createElement("img");
  image.src = canvas.toDataURL("image/jpeg", 0.92);
  image.alt = "";
  canvas.width = canvas.height = 0;
  await image.decode();
  return image;
}
