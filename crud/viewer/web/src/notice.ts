import type { Trouble } from "./source.ts";

const WORDS: Record<Exclude<Trouble, null>, string> = {
  offline: "You are offline. The pages that are here stay; the others come when the connection does.",
  busy: "We are busy just now. The document comes in a moment.",
  slow: "The connection is slow. The page comes as soon as it can.",
};

/** A notice to the reader, at the bottom of the window, read out once. */
export class Notice {
  private reason: string | null = null;

  constructor(private readonly element: HTMLElement) {}

  trouble(why: Trouble): void {
    // Browsers are sure when they say offline, and guess when they say online.
    this.say(why === null ? null : WORDS[why === "busy" && !navigator.onLine ? "offline" : why]);
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
