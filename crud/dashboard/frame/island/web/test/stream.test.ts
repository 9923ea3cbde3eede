import assert from "node:assert/strict";
import { test } from "node:test";

import { Stream, type Source } from "../src/stream.ts";

/** Fake is a connection that the test opens, breaks and speaks through. */
class Fake implements Source {
  readyState = 0;
  onopen: ((e: Event) => void) | null = null;
  onerror: ((e: Event) => void) | null = null;
  closed = false;
  private listeners = new Map<string, (e: MessageEvent<string>) => void>();

  constructor(readonly url: string) {}
  addEventListener(type: string, listener: (e: MessageEvent<string>) => void): void {
    this.listeners.set(type, listener);
  }
  close(): void {
    this.closed = true;
  }
  send(type: string, data: string, lastEventId: string): void {
    this.listeners.get(type)?.({ data, lastEventId } as MessageEvent<string>);
  }
  fail(readyState: number): void {
    this.readyState = readyState;
    this.onerror?.(new Event("error"));
  }
}

function follow() {
  const made: Fake[] = [];
  const seen: string[] = [];
  const stream = new Stream("/live?event_type=page_viewed", {
    type: "page_viewed", got: (data) => seen.push(data), connected: (yes) => seen.push(yes ? "connected" : "lost"),
  }, (url) => {
    const source = new Fake(url);
    made.push(source);
    return source;
  });
  return { made, seen, stream, last: () => made.at(-1) as Fake };
}

test("the stream goes on behind the last event", () => {
  const { made, seen, stream, last } = follow();
  stream.open();
  stream.open();
  assert.equal(made.length, 1);
  last().onopen?.(new Event("open"));
  last().send("page_viewed", "one", "id+1");
  last().fail(0); // the browser connects again by itself
  last().onopen?.(new Event("open"));
  assert.equal(made.length, 1);
  stream.close();
  assert.equal(last().closed, true);
  stream.open();
  assert.equal(last().url, "/live?event_type=page_viewed&last_event_id=id%2B1");
  assert.deepEqual(seen, ["connected", "one", "lost", "connected"]);
  stream.close();
});

test("a refused connection is tried again, later each time, and not after the end", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { made, stream, last } = follow();
  stream.open();
  last().send("page_viewed", "one", "1");
  last().fail(2);
  assert.equal(last().closed, true);
  t.mock.timers.tick(4999);
  assert.equal(made.length, 1);
  t.mock.timers.tick(1);
  assert.equal(made.length, 2);
  assert.equal(last().url, "/live?event_type=page_viewed", "without the id, which may be what was refused");
  last().fail(2);
  t.mock.timers.tick(9999);
  assert.equal(made.length, 2);
  t.mock.timers.tick(1);
  assert.equal(made.length, 3);
  last().fail(2);
  stream.close();
  t.mock.timers.tick(100_000);
  assert.equal(made.length, 3);
});
