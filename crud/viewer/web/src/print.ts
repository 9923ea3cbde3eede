import type { Notice } from "./notice.ts";
import type { Page } from "./page.ts";
import { say } from "./words.ts";

/** Dots of a page's width on paper: about 150 an inch. */
const WIDTH = 1240;

/**
 * Prints the document: each page as a picture on a sheet of its own, since what is on the screen is
 * neither complete nor of that size.
 */
export async function print(pages: readonly Page[], paper: HTMLElement, notice: Notice): Promise<void> {
  if (paper.childElementCount > 0) return; // it is being printed
  let stopped = false;
  try {
    for (const page of pages) {
      notice.say(say("printing", { n: page.number, total: pages.length }), { words: say("cancel"), run: () => (stopped = true) });
      const canvas = await page.picture(WIDTH);
      if (stopped) return;
      const image = document.createElement("img");
      image.src = canvas.toDataURL("image/jpeg", 0.92);
      image.alt = "";
      canvas.width = canvas.height = 0;
      paper.append(image);
      await image.decode();
    }
    notice.say(null);
    const style = document.querySelector("style")!.sheet!;
    const { width, height } = pages[0]!.size;
    const rule = style.insertRule(`@page { size: ${width}pt ${height}pt; margin: 0; }`, style.cssRules.length);
    window.print();
    style.deleteRule(rule);
  } finally {
    notice.say(null);
    paper.replaceChildren();
  }
}
