import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_BYTES, Queue, type Answer } from "../src/queue.ts";

/** A queue whose network and time are moved by hand. */
function stage(token = "token") {
  let now = 1_700_000_000_000;
  let timers: { at: number; run: () => void }[] = [];
  const posts: string[] = [];
  const beacons: string[] = [];
  const net = { answer: { status: 202 } as Answer | null, beacon: true };
  const queue = new Queue(token, () => "session", {
    async post(body) {
      posts.push(body);
      if (net.answer === null) throw new TypeError("Failed to fetch");
      return net.answer;
    },
    beacon(body) {
      if (net.beacon) beacons.push(body);
      return net.beacon;
    },
    later: (run, ms) => timers.push({ at: now + ms, run }),
    now: () => now,
  });
  const settle = async () => {
    for (let i = 0; i < 8; i++) await Promise.resolve();
  };
  const pass = async (ms: number) => {
    const end = now + ms;
    for (;;) {
      const next = timers.filter((t) => t.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      timers = timers.filter((t) => t !== next);
      now = Math.max(now, next.at);
      next.run();
      await settle();
    }
    now = end;
  };
  const view = (page: number) => queue.add({ event_type: "page_viewed", event_data: { page, duration_ms: 900 } }, now);
  return { queue, posts, beacons, net, pass, settle, view };
}

const ids = (body: string) => (JSON.parse(body) as { event_id: string }[]).map((e) => e.event_id);
const pages = (body: string) => (JSON.parse(body) as { event_data: { page: number } }[]).map((e) => e.event_data.page);

test("events leave together, with all that the collector asks for", async () => {
  const s = stage();
  s.view(1);
  s.view(2);
  await s.pass(1_000);
  assert.deepEqual(s.posts, []);
  await s.pass(2_000);
  assert.equal(s.posts.length, 1);
  const [event] = JSON.parse(s.posts[0]!) as Record<string, unknown>[];
  assert.deepEqual(Object.keys(event!).sort(), ["created_at", "event_data", "event_id", "event_type", "sent_at", "session_id", "token"]);
  assert.match(event!["event_id"] as string, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(s.queue.length, 0);
  await s.pass(600_000);
  assert.equal(s.posts.length, 1);
});

test("what is not acknowledged is sent again under the same ids, with pauses", async () => {
  const s = stage();
  s.net.answer = null;
  s.view(1);
  await s.pass(300_000);
  const tries = s.posts.length;
  assert.ok(tries >= 5 && tries <= 15, `${tries} tries in five minutes`);
  s.view(2);
  s.net.answer = { status: 202 };
  s.queue.online();
  await s.settle();
  assert.deepEqual(pages(s.posts.at(-1)!), [1, 2]);
  assert.equal(new Set(s.posts.flatMap(ids)).size, 2);
  assert.equal(s.queue.length, 0);
});

for (const status of [503, 429]) {
  test(`${status} is given the time it asks for`, async () => {
    const s = stage();
    s.net.answer = { status, retryAfter: 30 };
    s.view(1);
    await s.pass(31_000);
    assert.equal(s.posts.length, 1);
    s.queue.flush();
    await s.settle();
    assert.equal(s.posts.length, 1, "nor does a flush hurry");
    s.net.answer = { status: 202 };
    await s.pass(5_000);
    assert.equal(s.posts.length, 2);
    assert.equal(s.queue.length, 0);
  });
}

test("what is refused for good is not sent again", async () => {
  const s = stage();
  s.net.answer = { status: 422 };
  s.view(1);
  await s.pass(600_000);
  assert.equal(s.posts.length, 1);
  assert.equal(s.queue.length, 0);
});

test("a hidden page hands everything over, and asks again if it lives on", async () => {
  const s = stage();
  s.view(1);
  s.queue.hide();
  assert.deepEqual(s.beacons.flatMap(pages), [1]);
  assert.equal(s.queue.length, 1, "handed over is not arrived");
  await s.pass(3_000);
  assert.deepEqual(ids(s.posts[0]!), ids(s.beacons[0]!));
  assert.equal(s.queue.length, 0);
  s.queue.hide();
  assert.equal(s.beacons.length, 1, "nothing is left to hand over");
});

test("a beacon that the browser refuses costs no event", async () => {
  const s = stage();
  s.net.beacon = false;
  s.view(1);
  s.queue.hide();
  await s.pass(3_000);
  assert.deepEqual(s.posts.flatMap(pages), [1]);
});

test("no body is larger than what may outlive a page", async () => {
  const s = stage("t".repeat(150));
  for (let page = 1; page <= 500; page++) s.view(page);
  s.queue.hide();
  await s.pass(60_000);
  for (const body of [...s.beacons, ...s.posts]) assert.ok(body.length <= MAX_BYTES, `${body.length} bytes`);
  assert.deepEqual(s.posts.flatMap(pages), Array.from({ length: 500 }, (_, i) => i + 1));
  assert.equal(new Set([...s.posts, ...s.beacons].flatMap(ids)).size, 500);
});

test("a preview records nothing", async () => {
  const s = stage("");
  s.view(1);
  s.queue.hide();
  await s.pass(60_000);
  assert.deepEqual([s.posts, s.beacons], [[], []]);
});
