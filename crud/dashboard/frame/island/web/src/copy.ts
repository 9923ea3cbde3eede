// Buttons that copy a text. Without scripts they are not shown.
import { say, word } from "./words.ts";

const shownFor = 2000; // ms

/** showCopies shows the buttons of what is drawn. */
export function showCopies(): void {
  for (const b of document.querySelectorAll<HTMLElement>("[data-copy]")) b.hidden = false;
}

/** startCopy copies the text of the element that a button names, or the name itself if there is none. */
export function startCopy(): void {
  document.addEventListener("click", async (e) => {
    const button = (e.target as Element).closest<HTMLElement>("[data-copy]");
    if (!button || button.dataset.copied) return;
    const from = document.getElementById(button.dataset.copy ?? "");
    const words = button.textContent ?? "";
    let done: string;
    try {
      await navigator.clipboard.writeText((from ? from.textContent : button.dataset.copy) ?? "");
      done = word("copied");
    } catch {
      const what = from ?? button.previousElementSibling;
      if (what) getSelection()?.selectAllChildren(what);
      done = word("selected");
    }
    button.dataset.copied = "yes";
    button.textContent = done;
    say(done);
    setTimeout(() => {
      button.textContent = words;
      delete button.dataset.copied;
    }, shownFor);
  });
}
