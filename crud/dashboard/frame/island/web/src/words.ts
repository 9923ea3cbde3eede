// What the scripts say to people. The server writes the words into the page, in the language of the person.

type Word = "updated" | "failed" | "again" | "copied" | "selected" | "keys" | "close" | "ended" | "sign_in" | "search" | "rows" | "open" | "help" | "go" | "explore" | "explore_keys" | "zoom_in" | "zoom_out" | "reset" | "these_days" | "partial" | "magnets" | "letters";

let all: Partial<Record<Word, string>> | undefined;

/** word returns a text of the page's language. */
export function word(name: Word): string {
  all ??= JSON.parse(document.getElementById("words")?.textContent ?? "{}") as Partial<Record<Word, string>>;
  return all[name] ?? "";
}

/** say announces a text to readers of screens. Islands have a copy of this file: the element is found by its id. */
export function say(text: string): void {
  let region = document.getElementById("announced");
  if (!region) {
    region = document.createElement("p");
    region.id = "announced";
    region.className = "unseen";
    region.setAttribute("role", "status");
    document.body.append(region);
  }
  region.textContent = text;
}
