import assert from "node:assert/strict";
import { test } from "node:test";

import { fill } from "../src/fill.ts";
import { keyOf, leaves, Roster, spell, type Person, type Snapshot } from "../src/roster.ts";

const begin = Date.parse("2026-11-25T10:00:00Z");
const at = (ms: number) => new Date(begin + ms).toISOString();
const person = (id: string, fields: Partial<Person> = {}): Person => ({
  id, bot: false, name: id, title: "Guide", url: `/readers/${id}`, page: 1, pages: 4, cells: [true, false, false, false], since: at(0), seen: at(0), ...fields,
});
const state = (people: Person[], readers = people.length): Snapshot => ({ readers, people, as_of: at(0), window: 300_000 });

test("a view fills the cell of its page at once, and later ones too", () => {
  const r = new Roster(300_000);
  r.merge(state([person("a")]));
  assert.equal(r.view(keyOf("a", false), 3, begin + 5000), true);
  assert.deepEqual(r.readers[0]?.cells, [true, false, true, false]);
  assert.equal(r.readers[0]?.page, 3);
  assert.equal(r.view("unknown", 1, begin), false);
  assert.equal(r.view(keyOf("a", false), 9, begin), true, "a page beyond the end fills nothing");
  assert.deepEqual(r.readers[0]?.cells, [true, false, true, false]);
});

test("a state of the server that is older than the stream empties no cell", () => {
  const r = new Roster(300_000);
  r.merge(state([person("a")]));
  r.view("a", 2, begin + 9000);
  assert.deepEqual(r.merge(state([person("a", { cells: [true, false, false, true], seen: at(3000) })])), []);
  assert.deepEqual(r.readers[0]?.cells, [true, true, false, true]);
  assert.equal(r.readers[0]?.page, 2);
  r.merge(state([person("a", { since: at(60_000), seen: at(61_000) })]));
  assert.deepEqual(r.readers[0]?.cells, [true, false, false, false], "another session begins empty");
});

test("who is new stands first, who reads stays in place, and bots stand behind people", () => {
  const r = new Roster(300_000);
  r.merge(state([person("a"), person("b"), person("a", { bot: true })]));
  r.view("b", 2, begin + 1000);
  assert.deepEqual(r.merge(state([person("b"), person("c"), person("a")])).map((p) => p.key), ["c"]);
  assert.deepEqual(r.readers.map((p) => p.key), ["c", "a", "b", "bot a"]);
  assert.equal(r.count(begin), 3, "a bot is no one");
  r.merge(state([person("a")], 70));
  assert.equal(r.hidden, 69);
});

test("who was not seen for the window has left, and goes", () => {
  const r = new Roster(300_000);
  r.merge(state([person("a"), person("b", { seen: at(1000) })]));
  assert.equal(r.count(begin + 300_000), 1);
  r.tidy(begin + 300_000);
  assert.equal(r.readers.length, 2);
  assert.equal(r.readers.filter((p) => r.left(p, begin + 300_000)).length, 1);
  r.tidy(begin + 300_000 + leaves);
  assert.deepEqual(r.readers.map((p) => p.key), ["b"]);
  r.view("b", 2, begin + 305_000);
  assert.equal(r.count(begin + 310_000), 1);
});

test("words", () => {
  assert.deepEqual([0, 59_999, 60_000, 65_400].map(spell), ["0 s", "59 s", "1 min", "1 min 5 s"]);
  assert.equal(fill("Page {page} of {pages}, {other}", { page: 2, pages: 4 }), "Page 2 of 4, {other}");
});
