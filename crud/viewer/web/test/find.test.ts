import assert from "node:assert/strict";
import { test } from "node:test";
import { hits, read, wanted } from "../src/find.ts";

const lines = (...all: string[]) => all.map((str) => ({ str, hasEOL: true }));

/** The words that were found, as they stand in the pieces. */
function found(pieces: { str: string; hasEOL: boolean }[], words: string, max = 100): string[] {
  return hits(read(pieces), wanted(words), max).map(({ from, start, to, end }) => pieces.slice(from, to + 1)
    .map(({ str }, i) => str.slice(i === 0 ? start : 0, from + i === to ? end : undefined)).join("|"));
}

test("capitals, accents and a typographer's quotes do not matter", () => {
  assert.deepEqual(found(lines("Café cafe\u0301 CAFE"), "cafe"), ["Café", "cafe", "CAFE"]);
  assert.deepEqual(found(lines("the reader’s own"), "reader's"), ["reader’s"]);
  assert.deepEqual(found(lines("Straße"), "strasse"), ["Straße"]);
  assert.deepEqual(found(lines("naïve"), "naïve"), ["naïve"]);
  assert.deepEqual(found(lines("Łódź, ĳs, ﬁn"), "fin"), ["ﬁn"]);
});

test("words go on in the next piece and the next line", () => {
  assert.deepEqual(found([{ str: "an ad", hasEOL: false }, { str: "dress is", hasEOL: true }, { str: "a price", hasEOL: true }], "address is a"), ["ad|dress is|a"]);
  assert.deepEqual(found(lines("one", "two"), "onetwo"), []);
  assert.deepEqual(found(lines("one  two"), "one two"), ["one  two"]);
});

test("a word that a line broke is one word", () => {
  assert.deepEqual(found(lines("the docu-", "ment"), "document"), ["docu-|ment"]);
  assert.deepEqual(found(lines("the year-", "2026"), "year- 2026"), ["year-|2026"]);
});

test("hits do not overlap, and are not endless", () => {
  assert.deepEqual(found(lines("aaaa"), "aa"), ["aa", "aa"]);
  assert.equal(found(lines("a".repeat(50)), "a", 10).length, 10);
});

test("nothing is looked for in vain", () => {
  assert.deepEqual(found(lines("anything"), "   "), []);
  assert.deepEqual(found([], "a"), []);
  assert.deepEqual(found(lines("a.b"), "a*b"), []);
});

test("characters outside the basic plane keep their places", () => {
  assert.deepEqual(found(lines("😀 happy"), "happy"), ["happy"]);
  assert.deepEqual(found(lines("happy 😀 end"), "😀 e"), ["😀 e"]);
});
