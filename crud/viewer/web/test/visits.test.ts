import assert from "node:assert/strict";
import { test } from "node:test";
import { IDLE_AFTER_MS, MIN_MS, Visits, type Visit } from "../src/visits.ts";

/** A reader whose time is moved by hand. */
function reader() {
  let now = 1_000;
  const reported: Visit[] = [];
  const visits = new Visits({ now: () => now, wall: () => 1_700_000_000_000 + now }, (visit) => reported.push(visit));
  const wait = (ms: number) => (now += ms);
  /** Time in which someone moves the mouse now and then. */
  const read = (ms: number) => {
    for (let left = ms; left > 0; left -= 10_000) {
      visits.input();
      wait(Math.min(left, 10_000));
    }
    visits.input();
  };
  return { visits, reported, wait, read };
}

const short = (reported: Visit[]) => reported.map((v) => [v.page, v.durationMs]);

test("each page is reported once, with its time, when it is left", () => {
  const { visits, reported, read } = reader();
  visits.show(true);
  visits.see(1);
  read(8_200);
  visits.see(1); // still
  assert.equal(reported.length, 0);
  visits.see(2);
  read(3_000);
  visits.see(1);
  read(2_000);
  visits.show(false);
  assert.deepEqual(short(reported), [[1, 8_200], [2, 3_000], [1, 2_000]]);
  assert.deepEqual(reported.map((v) => v.startedAt - 1_700_000_000_000), [1_000, 9_200, 12_200]);
});

test("a hidden page is not read", () => {
  const { visits, reported, wait, read } = reader();
  visits.show(true);
  visits.see(3);
  read(4_000);
  visits.show(false);
  wait(3_600_000);
  visits.see(3);
  visits.input(); // such as a scroll that comes late
  visits.show(false);
  visits.show(true);
  read(1_000);
  visits.show(false);
  assert.deepEqual(short(reported), [[3, 4_000], [3, 1_000]]);
});

test("time away between two visits of a page belongs to neither", () => {
  const { visits, reported, wait, read } = reader();
  visits.show(true);
  visits.see(3);
  read(10_000);
  visits.see(5);
  read(60_000);
  visits.show(false); // the lid is closed
  wait(2 * 3_600_000);
  visits.see(3);
  visits.show(true);
  read(10_000);
  visits.show(false);
  assert.deepEqual(short(reported), [[3, 10_000], [5, 60_000], [3, 10_000]]);
});

test("no reader counts for long without any movement", () => {
  const { visits, reported, wait } = reader();
  visits.show(true);
  visits.see(1);
  wait(IDLE_AFTER_MS + 600_000);
  visits.input(); // back from lunch
  wait(5_000);
  visits.see(2);
  wait(IDLE_AFTER_MS * 3);
  visits.show(false);
  assert.deepEqual(short(reported), [[1, IDLE_AFTER_MS + 5_000], [2, IDLE_AFTER_MS - 5_000]]);
});

test("pages that were scrolled past were not viewed", () => {
  const { visits, reported, wait } = reader();
  visits.show(true);
  for (let page = 1; page <= 9; page++) {
    visits.see(page);
    wait(MIN_MS - 1);
  }
  visits.see(10);
  wait(MIN_MS);
  visits.see(null);
  wait(5_000);
  visits.show(false);
  assert.deepEqual(short(reported), [[10, MIN_MS]]);
});

test("nothing is reported before it is shown", () => {
  const { visits, reported, wait } = reader();
  visits.see(1);
  wait(9_000);
  visits.show(true);
  wait(1_000);
  visits.show(false);
  assert.deepEqual(short(reported), [[1, 1_000]]);
});
