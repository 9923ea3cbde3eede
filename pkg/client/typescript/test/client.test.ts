// Tests against an installation that the program running them has started: TestClients in cmd/lodestone.
import assert from "node:assert/strict";
import { openAsBlob } from "node:fs";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createClient, LodestoneError, type Schema } from "../src/index.js";

const env = (name: string): string => {
  const value = process.env[name];
  assert.ok(value, name);
  return value;
};
const key = env("LODESTONE_API_KEY");
const client = createClient({ url: env("LODESTONE_URL"), key });
const guide = () => openAsBlob(env("GUIDE"), { type: "application/pdf" });

/** A client of the proxy, and how long it waited before it repeated a request. */
function through(path: string, maxWait = 60_000) {
  const waits: number[] = [];
  const sleep = async (ms: number) => void waits.push(ms);
  return { client: createClient({ url: env("PROXY_URL") + path, key, sleep, maxWait }), waits };
}

async function titled(title: string): Promise<number> {
  let found = 0;
  for await (const magnet of client.each("/api/v1/lead-magnets", { params: { query: { per_page: 2 } } })) {
    if (magnet.title === title) found++;
  }
  return found;
}

async function problem(failing: Promise<unknown>): Promise<LodestoneError> {
  const error = await failing.then(() => undefined, (e: unknown) => e);
  assert.ok(error instanceof LodestoneError, String(error));
  return error;
}

test("publishes a document and reads its events", async () => {
  const magnet = await client.post("/api/v1/lead-magnets", { body: { title: "TypeScript guide" } });
  const params = { path: { id: magnet.id } };
  const uploaded = await client.put("/api/v1/lead-magnets/{id}/file", {
    params: { ...params, query: { file_name: "guide.pdf" } },
    body: await guide(),
  });
  assert.deepEqual([uploaded.file_name, uploaded.page_count], ["guide.pdf", 12]);

  const link = await client.post("/api/v1/generic-links", { body: { lead_magnet_id: magnet.id } });
  const picture = await client.get("/api/v1/generic-links/{id}/qr", {
    params: { path: { id: link.id }, query: { format: "png" } },
    parseAs: "arrayBuffer",
  });
  assert.equal(Buffer.from(picture).subarray(1, 4).toString(), "PNG");

  const access = await client.post("/api/v1/access-links", { body: { lead_magnet_id: magnet.id, email: "grace@example.com" } });
  for (let page = 1; page <= 5; page++) {
    const sent = await fetch(env("LODESTONE_COLLECTOR_URL") + "/v1/events", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token: access.tracking_token, event_type: "page_viewed", event_data: { page, duration_ms: 1000 } }),
    });
    assert.ok(sent.ok);
  }
  const pages: number[] = [];
  while (pages.length < 5) { // the test of Go ends what takes too long
    pages.length = 0;
    await setTimeout(100);
    const query = { access_link_id: access.id, per_page: 2 };
    for await (const event of client.each("/api/v1/analytics", { params: { query } })) {
      pages.push((event.event_data as { page: number }).page);
    }
  }
  assert.deepEqual(pages.sort(), [1, 2, 3, 4, 5]);

  const funnel = await client.get("/api/v1/analytics/funnel", { params: { query: { lead_magnet_id: magnet.id } } });
  assert.equal(funnel.data[0]?.step, "link_view");
  const answers: Schema<"Answers"> = await client.post("/api/v1/analytics/query", { body: { metrics: ["page_views"] } });
  assert.ok(Number(answers.data[0]?.totals?.page_views) >= 5);
});

test("changes and deletes", async () => {
  const created = await client.post("/api/v1/lead-magnets", { body: { title: "TypeScript change", author: "Ada" } });
  const path = { id: created.id };
  const { data: read, response } = await client.api.GET("/api/v1/lead-magnets/{id}", { params: { path } });
  assert.equal(read?.author, "Ada");
  const header = { "If-Match": response.headers.get("ETag") ?? "" };
  const changed = await client.patch("/api/v1/lead-magnets/{id}", { params: { path, header }, body: { author: null } });
  assert.deepEqual([changed.title, changed.author], ["TypeScript change", null]);
  const stale = await problem(client.patch("/api/v1/lead-magnets/{id}", { params: { path, header }, body: { title: "x" } }));
  assert.deepEqual([stale.status, stale.code], [412, "conflict"]);
  assert.equal(await client.delete("/api/v1/lead-magnets/{id}", { params: { path } }), undefined);
});

test("a problem names its field", async () => {
  const p = await problem(client.post("/api/v1/lead-magnets", { body: { title: "" } }));
  assert.deepEqual([p.status, p.code, p.field], [422, "validation_error", "title"]);
  assert.match(p.detail, /title/);
  assert.ok(p.requestId);
});

test("the answer of another server is a problem", async () => {
  const p = await problem(through("/foreign").client.get("/api/v1/lead-magnets"));
  assert.deepEqual([p.status, p.code], [502, undefined]);
});

test("a creation whose answer is lost happens once", async () => {
  const { client: unlucky, waits } = through("/lost");
  const created = await unlucky.post("/api/v1/lead-magnets", { body: { title: "TypeScript lost" } });
  assert.equal(waits.length, 1);
  assert.equal((await client.get("/api/v1/lead-magnets/{id}", { params: { path: { id: created.id } } })).title, "TypeScript lost");
  assert.equal(await titled("TypeScript lost"), 1);
});

test("Retry-After is obeyed", async () => {
  const { client: busy, waits } = through("/busy");
  await busy.post("/api/v1/lead-magnets", { body: { title: "TypeScript busy" } });
  assert.deepEqual(waits, [7000]);
  assert.equal(await titled("TypeScript busy"), 1);
});

test("an upload that is refused with 429 is sent again", async () => {
  const magnet = await client.post("/api/v1/lead-magnets", { body: { title: "TypeScript upload" } });
  const { client: busy, waits } = through("/busy");
  const uploaded = await busy.put("/api/v1/lead-magnets/{id}/file", { params: { path: { id: magnet.id } }, body: await guide() });
  assert.equal(uploaded.page_count, 12);
  assert.deepEqual(waits, [7000]);
});

test("a change whose answer is lost is not repeated", async () => {
  const magnet = await client.post("/api/v1/lead-magnets", { body: { title: "TypeScript once" } });
  const { client: unlucky, waits } = through("/lost");
  await assert.rejects(unlucky.patch("/api/v1/lead-magnets/{id}", { params: { path: { id: magnet.id } }, body: { title: "TypeScript twice" } }));
  assert.deepEqual(waits, []);
});

test("a wait that is too long is a problem", async () => {
  const { client: busy, waits } = through("/busy", 5000);
  const p = await problem(busy.post("/api/v1/lead-magnets", { body: { title: "TypeScript late" } }));
  assert.equal(p.code, "rate_limited");
  assert.deepEqual(waits, []);
});

// Checked by the compiler alone.
export function typed(): void {
  // @ts-expect-error a field of another type
  void client.post("/api/v1/lead-magnets", { body: { title: 5 } });
  // @ts-expect-error a parameter of another type
  void client.get("/api/v1/analytics", { params: { query: { event_type: "page_seen" } } });
  // @ts-expect-error a path that there is not
  void client.get("/api/v1/lead-magnet");
  // @ts-expect-error a required parameter
  void client.get("/api/v1/lead-magnets/{id}");
}
