// What a key means. It knows nothing of the page.

/** Act is what a key asks for: a place of the navigation by its index, the next or the last row, the search, the list of keys, or the lead magnets. */
export type Act = { place: number } | "next" | "before" | "search" | "help" | "magnets";

/** places are the letters of the navigation's places, in its order. A letter follows g. */
export const places = ["o", "l", "r", "v", "s"];

const wait = 1500; // ms in which a letter follows g

/** Keys remembers whether g was pressed. */
export class Keys {
  private until = 0;

  /** press takes a key, and returns what it asks for. now is in ms. */
  press(key: string, now: number): Act | undefined {
    const after = now < this.until;
    this.until = 0;
    if (after) {
      if (key === "m") return "magnets";
      const place = places.indexOf(key);
      if (place >= 0) return { place };
    }
    switch (key) {
      case "g":
        this.until = now + wait;
        return undefined;
      case "j":
        return "next";
      case "k":
        return "before";
      case "/":
        return "search";
      case "?":
        return "help";
    }
    return undefined;
  }
}
