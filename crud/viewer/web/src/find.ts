/** Finding words in the text of a page. Strings only, so that tests need no browser. */

/** A piece of a page's text, as pdf.js has it. */
export interface Piece {
  str: string;
  hasEOL: boolean;
}

/** Where a hit stands: from a character of one piece up to, and without, a character of the same or a later one. */
export interface Hit {
  from: number;
  start: number;
  to: number;
  end: number;
}

/** The text of a page as it is compared: small letters without accents, single spaces, words whole that a line broke. */
export interface Text {
  folded: string;
  /** For each character of folded, where it was: its piece, and its place there. */
  pieces: Int32Array;
  places: Int32Array;
}

const MARKS = /\p{M}/gu;
const REPLACED: Record<string, string> = { "ß": "ss", "‘": "'", "’": "'", "“": '"', "”": '"', "„": '"', "‐": "-", "‑": "-", "–": "-", "\u00ad": "" };

/** Returns how a character is compared: people type neither capitals nor accents nor a typographer's quotes. */
function fold(character: string): string {
  const small = character.toLowerCase();
  return REPLACED[small] ?? (small < "\u0080" ? small : small.normalize("NFKD").replace(MARKS, ""));
}

/** Returns what is looked for when someone types words. */
export function wanted(words: string): string {
  return [...words].map(fold).join("").replace(/\s+/gu, " ").trim();
}

/** Prepares the text of a page. */
export function read(pieces: readonly Piece[]): Text {
  let folded = "";
  const of: number[] = [];
  const at: number[] = [];
  const add = (text: string, piece: number, place: number) => {
    for (let i = 0; i < text.length; i++) {
      if (/\s/u.test(text[i]!)) {
        if (folded === "" || folded.endsWith(" ")) continue;
        folded += " ";
      } else folded += text[i]!;
      of.push(piece);
      at.push(place);
    }
  };
  pieces.forEach(({ str, hasEOL }, piece) => {
    let place = 0;
    for (const character of str) {
      add(fold(character), piece, place);
      place += character.length;
    }
    if (!hasEOL) return;
    const next = pieces.slice(piece + 1, piece + 4).find((p) => p.str.trim())?.str ?? "";
    if (/\p{L}-$/u.test(folded.slice(-3)) && /^\p{Ll}/u.test(next)) {
      folded = folded.slice(0, -1); // a word that goes on in the next line
      of.pop();
      at.pop();
    } else add(" ", piece, str.length);
  });
  return { folded, pieces: Int32Array.from(of), places: Int32Array.from(at) };
}

/** Returns where wanted, which wanted() prepared, stands in a text: at most so many hits, none over another. */
export function hits(text: Text, looked: string, max: number): Hit[] {
  const found: Hit[] = [];
  if (looked === "") return found;
  for (let i = text.folded.indexOf(looked); i >= 0 && found.length < max; i = text.folded.indexOf(looked, i + looked.length)) {
    const last = i + looked.length - 1;
    found.push({ from: text.pieces[i]!, start: text.places[i]!, to: text.pieces[last]!, end: text.places[last]! + 1 });
  }
  return found;
}
