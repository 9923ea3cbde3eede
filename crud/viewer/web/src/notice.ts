import type { Trouble } from "./source.ts";
import { say } from "./words.ts";

/** A notice to the reader, at the bottom of the window, read out once. */
export class Notice {
  private reason: string | null = null;

  constructor(private readonly element: HTMLElement) {}

  trouble(why: Trouble): void {
    // Browsers are sure when they say offline, and guess when they say online.
    this.say(why === null ? null : say(why === "busy" && !navigator.onLine ? "offline" : why));
  }

  say(words: string | null, action?: { words: string; run: () => void }): void {
    if (words === this.reason) return;
    this.reason = words;
    this.element.hidden = words === null;
    this.element.textContent = words ?? "";
    if (words !== null && action) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = action.words;
      button.addEventListener("click", action.run);
      this.element.append(button);
    }
  }
}
