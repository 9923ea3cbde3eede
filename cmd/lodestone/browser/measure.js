// Weights and timings of pages, stored among the artefacts as pages.json, and as a table in pages.md.
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import path from 'node:path';

const measured = {};
const rows = {}; // of the table, by page

/** What a page may weigh at most, compressed and without headers: HTML with its CSS, scripts, and the typeface. */
const budget = { document: 15_000, script: 30_000, font: 35_000 };
const bytes = new WeakMap(); // of pages

/** Counts what travels to each page that a tab shows from now on, headers included. */
export async function watchBytes(page) {
  const cdp = await page.context().newCDPSession(page);
  const started = new Map(); // URLs by request
  let count;
  const reset = () => {
    count = { total: 0, requests: 0, types: new Map() };
    bytes.set(page, count);
  };
  reset();
  const { frameTree } = await cdp.send('Page.getFrameTree');
  cdp.on('Network.requestWillBeSent', (e) => {
    if (e.requestId === e.loaderId && e.frameId === frameTree.frame.id) reset();
    started.set(e.requestId, e.request.url);
  });
  cdp.on('Network.responseReceived', (e) => count.types.set(started.get(e.requestId), e.type.toLowerCase()));
  cdp.on('Network.loadingFinished', (e) => {
    count.total += e.encodedDataLength;
    count.requests++;
  });
  await cdp.send('Network.enable');
}

/**
 * Notes under a name what a page, which has finished loading, weighed and how long it took to show, and asserts that it keeps to the budget.
 * `except` names the kinds of content that do not count: the reading page draws PDFs by a library.
 */
export async function measure(name, visitor, { page = visitor.page, except = [] } = {}) {
  const { sizes, ...timing } = await page.evaluate((scripts) => {
    const [navigation] = performance.getEntriesByType('navigation');
    const found = {
      response_ms: navigation.responseEnd, loaded_ms: navigation.loadEventEnd,
      fcp_ms: performance.getEntriesByName('first-contentful-paint')[0]?.startTime, lcp_ms: undefined, layout_shift: 0,
      // Bodies as they were sent, compressed; of what a cache had as well.
      sizes: [['document', navigation.encodedBodySize], ...performance.getEntriesByType('resource').map((e) => [e.name, e.encodedBodySize])],
    };
    if (!scripts) return found; // nothing would call back
    new PerformanceObserver((list) => { found.lcp_ms = list.getEntries().at(-1).startTime; })
      .observe({ type: 'largest-contentful-paint', buffered: true });
    new PerformanceObserver((list) => {
      for (const e of list.getEntries()) if (!e.hadRecentInput) found.layout_shift += e.value;
    }).observe({ type: 'layout-shift', buffered: true });
    const buffered = new Promise((resolve) => { setTimeout(resolve, 100); }); // what is buffered comes in a task of its own
    const painted = new Promise((resolve) => {
      new PerformanceObserver((list) => {
        found.fcp_ms = list.getEntriesByName('first-contentful-paint')[0]?.startTime ?? found.fcp_ms;
        if (found.fcp_ms !== undefined) resolve();
      }).observe({ type: 'paint', buffered: true });
    });
    return Promise.all([buffered, painted]).then(() => found);
  }, visitor.options.scripts !== false);
  const count = bytes.get(page);
  const byType = {};
  for (const [url, size] of sizes) {
    const type = url === 'document' ? url : count.types.get(url) ?? 'other';
    byType[type] = (byType[type] ?? 0) + size;
  }
  const result = {
    transferred_bytes: count.total, requests: count.requests, bytes_by_type: byType,
    ...Object.fromEntries(Object.entries(timing).map(([k, v]) => [k, v === undefined ? null : Math.round(v * 1000) / 1000])),
  };
  measured[`${name}-${visitor.device}`] = result;
  for (const [kind, most] of Object.entries(budget)) {
    const weighs = byType[kind] ?? 0;
    if (!except.includes(kind)) assert.ok(weighs <= most, `${name} has ${weighs} bytes of the kind ${kind}, and may have ${most}`);
  }
  return result;
}

/**
 * Measures a page as one that visitors see for the first time, for the table: alone in a window without a cache, the better of two looks at it.
 * `path` is the page's address, and the visitor is one who may see it.
 */
export async function weigh(name, visitor, path, o) {
  const cdp = await visitor.context.newCDPSession(visitor.page);
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: true });
  let best;
  for (let i = 0; i < 2; i++) {
    await visitor.page.goto(path, { waitUntil: 'load' });
    const found = await measure(name, visitor, o);
    assert.ok(found.layout_shift < 0.02, `${name} moves while it loads: ${found.layout_shift}`);
    if (!best || found.fcp_ms < best.fcp_ms) best = found;
  }
  rows[name] = best;
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: false });
  await cdp.detach();
}

/** Notes a number that is no page's. */
export function note(name, value) {
  measured[name] = value;
}

/** Writes what was noted. */
export async function writeMeasurements() {
  const { artefacts } = await import('./browser.js');
  await mkdir(artefacts, { recursive: true });
  const file = path.join(artefacts, 'pages.json');
  const earlier = JSON.parse(await readFile(file, 'utf8').catch(() => '{}')); // of a run before this one of the same suite
  await writeFile(file, `${JSON.stringify(Object.fromEntries(Object.entries({ ...earlier, ...measured }).sort()), null, 2)}\n`);
  if (Object.keys(rows).length === 0) return;
  const kB = (n) => (n ? (n / 1000).toFixed(1) : '–');
  const lines = Object.entries(rows).map(([name, r]) => {
    const b = r.bytes_by_type;
    const all = Object.values(b).reduce((sum, n) => sum + n, 0);
    return `| ${name} | ${Math.round(r.fcp_ms)} ms | ${kB(b.document)} | ${kB(b.script)} | ${kB(b.font)} | ${kB(b.image)} | ${r.requests} | ${kB(all)} |`;
  });
  const table = ['| Page | First paint | HTML and CSS, kB | Scripts, kB | Typeface, kB | Pictures, kB | Requests | All, kB |', '|---|--:|--:|--:|--:|--:|--:|--:|', ...lines].join('\n');
  await writeFile(path.join(artefacts, 'pages.md'), `${table}\n`);
  console.log(`Load of the machine: ${loadavg().map((n) => n.toFixed(1)).join(', ')}\n${table}`);
}
