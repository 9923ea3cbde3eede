// What the scripts say to people. The server writes the words into the page, in the language of the person.

type Word = "updated" | "failed" | "again" | "copied" | "selected" | "keys" | "close" | "ended" | "sign_in" | "search" | "rows" | "open" | "help" | "go";

let all: Partial<Record<Word, string>> = {};

/** readWords takes the words from the page. */
export function readWords(): void {
  all = JSON.parse(document.getElementById("words")?.textContent ?? "{}");
}

/** word returns a text of the page's language. */
export function word(name: Word): string {
  return all[name] ?? "";
}

let region: HTMLElement | undefined;

/** say announces a text to readers of screens. */
export function say(text: string): void {
  if (!region) {
    region = document.createElement("p");
    region.className = "unseen";
    region.setAttribute("role", "status");
    document.body.append(region);
  }
  region.textContent = text;
}
