// Weights and timings of pages, stored among the artefacts as pages.json.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

const measured = {};
const bytes = new WeakMap(); // of pages

/** Counts what travels to each page that a tab shows from now on, headers included. */
export async function watchBytes(page) {
  const cdp = await page.context().newCDPSession(page);
  const types = new Map();
  let count;
  const reset = () => {
    count = { total: 0, requests: 0, byType: {} };
    bytes.set(page, count);
  };
  reset();
  const { frameTree } = await cdp.send('Page.getFrameTree');
  cdp.on('Network.requestWillBeSent', (e) => {
    if (e.requestId === e.loaderId && e.frameId === frameTree.frame.id) reset();
  });
  cdp.on('Network.responseReceived', (e) => types.set(e.requestId, e.type.toLowerCase()));
  cdp.on('Network.loadingFinished', (e) => {
    const type = types.get(e.requestId) ?? 'other';
    count.total += e.encodedDataLength;
    count.requests++;
    count.byType[type] = (count.byType[type] ?? 0) + e.encodedDataLength;
  });
  await cdp.send('Network.enable');
}

/** Notes under a name what a page, which has finished loading, weighed and how long it took to show. */
export async function measure(name, visitor, page = visitor.page) {
  const timing = await page.evaluate((scripts) => {
    const [navigation] = performance.getEntriesByType('navigation');
    const found = {
      response_ms: navigation.responseEnd, loaded_ms: navigation.loadEventEnd,
      fcp_ms: performance.getEntriesByName('first-contentful-paint')[0]?.startTime, lcp_ms: undefined, layout_shift: 0,
    };
    if (!scripts) return found; // nothing would call back
    new PerformanceObserver((list) => { found.lcp_ms = list.getEntries().at(-1).startTime; })
      .observe({ type: 'largest-contentful-paint', buffered: true });
    new PerformanceObserver((list) => {
      for (const e of list.getEntries()) if (!e.hadRecentInput) found.layout_shift += e.value;
    }).observe({ type: 'layout-shift', buffered: true });
    return new Promise((resolve) => { setTimeout(() => resolve(found), 100); }); // what is buffered comes in a task of its own
  }, visitor.options.scripts !== false);
  const count = bytes.get(page);
  const result = {
    transferred_bytes: count.total, requests: count.requests, bytes_by_type: { ...count.byType },
    ...Object.fromEntries(Object.entries(timing).map(([k, v]) => [k, v === undefined ? null : Math.round(v * 1000) / 1000])),
  };
  measured[`${name}-${visitor.device}`] = result;
  return result;
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
  await writeFile(file, `${JSON.stringify(Object.fromEntries(Object.entries(measured).sort()), null, 2)}\n`);
}
