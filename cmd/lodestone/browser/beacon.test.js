// The beacon on other people's pages: the example site, served from an origin and a site of its own.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';

import { api, newLink, sql } from './api.js';
import { newDesktop, newPhone } from './browser.js';
import { measure } from './measure.js';
import { collector, eventually, longTest, test } from './suite.js';

const folder = new URL('../../../ingest/collector/example/', import.meta.url);

// Strict, as a careful site has it.
const policy = `default-src 'self'; img-src data: ${collector}; script-src 'self' ${collector}; connect-src ${collector}; base-uri 'none'`;

/** Serves the example site for a new link. `change` may alter a page's HTML. */
async function newSite(t, { change = (html) => html, host = '127.0.0.1' } = {}) {
  const link = await newLink();
  const tracking = await api('GET', `/api/v1/generic-links/${link.id}/tracking`);
  assert.equal(tracking.script, `<script async src="${collector}/v1/beacon.js" data-token="${tracking.tracking_token}"></script>`);
  const types = { '.html': 'text/html; charset=utf-8', '.css': 'text/css', '.js': 'text/javascript' };
  const server = createServer(async (req, res) => {
    const { pathname } = new URL(req.url, 'http://x');
    const file = pathname.startsWith('/app') && !path.extname(pathname) ? 'app.html' : pathname.slice(1) || 'index.html';
    const type = types[path.extname(file)];
    try {
      let body = await readFile(new URL(file, folder), 'utf8');
      if (file.endsWith('.html')) {
        body = change(body).replaceAll('COLLECTOR', collector).replaceAll('TOKEN', tracking.tracking_token)
          .replaceAll('LINK', link.url).replaceAll('PIXEL', tracking.pixel);
      }
      res.writeHead(200, { 'content-type': type, 'content-security-policy': policy }).end(body);
    } catch {
      res.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const url = `http://${host}:${server.address().port}`;
  return { link, url, tracking };
}

/**
 * Waits until a link has exactly so many stored views, and until its counter shows them, in which one visitor counts once a
 * minute. Returns them as they are stored, the oldest first.
 */
async function viewsOf(link, count) {
  let rows;
  await eventually(async () => {
    rows = await sql(`SELECT url, referrer, bot, user_agent, toString(toStartOfMinute(created_at)) AS minute FROM lodestone.link_views
      WHERE generic_link_id = '${link.id}' ORDER BY created_at, kafka_offset`);
    return rows.length === count;
  }, `${count} stored views`);
  const counted = new Set(rows.map((r) => `${r.minute} ${r.user_agent}`)).size;
  await eventually(async () => (await api('GET', `/api/v1/generic-links/${link.id}`)).view_count === counted, `view_count ${counted}`);
  return rows;
}

const sent = (v) => v.requests.filter((r) => r.url() === `${collector}/v1/link-views`);

for (const [name, visit] of [['phone', newPhone], ['desktop', newDesktop]]) {
  test(`beacon: a view of another site is counted, ${name}`, async (t) => {
    const { link, url, tracking } = await newSite(t, { host: 'example.test' });
    const v = await visit(t, { origins: [url] });
    await v.page.goto(`${url}/?utm_source=news&key=secret&utm_id=7#private`, { referer: 'https://search.example/?q=private' });
    const [row] = await viewsOf(link, 1);
    assert.equal(row.url, `${url}/?utm_source=news`);
    assert.equal(row.referrer, 'https://search.example/');
    assert.equal(row.bot, '');
    const [request] = sent(v);
    assert.deepEqual(Object.keys(JSON.parse(request.postData())).sort(), ['event_id', 'referrer', 'token', 'url']);
    assert.equal(JSON.parse(request.postData()).token, tracking.tracking_token);
    const headers = await request.allHeaders();
    assert.equal(headers.cookie, undefined);
    assert.equal(headers.referer, undefined);
    await measure('example-site', v);
    await v.screenshot('example-site');
  });
}

test('beacon: an application of one page', async (t) => {
  const { link, url } = await newSite(t);
  const v = await newDesktop(t, { origins: [url] });
  await v.page.goto(`${url}/app`);
  await viewsOf(link, 1);
  await v.page.getByRole('link', { name: 'Prices' }).click();
  await viewsOf(link, 2);
  await v.page.getByRole('link', { name: 'Yearly' }).click();
  await v.page.getByRole('link', { name: 'A query' }).click();
  await v.page.evaluate(() => history.replaceState(null, '', '/app/replaced'));
  await viewsOf(link, 3);
  await v.page.evaluate(() => history.go(-3)); // to the start
  await viewsOf(link, 4);
  await v.page.evaluate(() => {
    navigation.addEventListener('navigate', (e) => e.intercept(), { once: true });
    return navigation.navigate('/app/intercepted').finished.then(() => {});
  });
  const rows = await viewsOf(link, 5);
  assert.deepEqual(rows.map((r) => [r.referrer, r.url].map((u) => u.replace(url, ''))), [
    ['', '/app'], ['/app', '/app/prices'], ['/app/prices', '/app/replaced'], ['/app/replaced', '/app'], ['/app', '/app/intercepted'],
  ]);
});

longTest('beacon: an application, in a browser without the Navigation API', async (t) => {
  const { link, url } = await newSite(t);
  const v = await newDesktop(t, { origins: [url] });
  await v.context.addInitScript(() => Object.defineProperty(globalThis, 'navigation', { value: undefined }));
  await v.page.goto(`${url}/app`);
  await viewsOf(link, 1); // two requests at once may arrive in either order
  await v.page.getByRole('link', { name: 'Prices' }).click();
  await viewsOf(link, 2);
  await v.page.getByRole('link', { name: 'Yearly' }).click();
  await v.page.evaluate(() => history.replaceState(null, '', '/app/replaced'));
  await viewsOf(link, 3);
  await v.page.evaluate(() => history.back());
  const rows = await viewsOf(link, 4);
  assert.deepEqual(rows.map((r) => r.url.replace(url, '')), ['/app', '/app/prices', '/app/replaced', '/app/prices']);
});

test('beacon: nothing is sent for who asks for privacy', async (t) => {
  const { link, url } = await newSite(t);
  const v = await newDesktop(t, { origins: [url] });
  await v.context.addInitScript(() => Object.defineProperty(navigator, 'globalPrivacyControl', { value: true }));
  await v.page.goto(`${url}/app`, { waitUntil: 'networkidle' });
  await v.page.getByRole('link', { name: 'Prices' }).click();
  // What comes later shows that what came before is counted already.
  const other = await newDesktop(t, { origins: [url] });
  await other.page.goto(`${url}/`);
  await viewsOf(link, 1);
  assert.deepEqual(sent(v), []);
});

longTest('beacon: seen, not only loaded', async (t) => {
  const { link, url } = await newSite(t);
  const v = await newDesktop(t, { origins: [url] });
  await v.context.addInitScript(() => {
    let state = 'hidden'; // as in a background tab or a page rendered in advance
    Object.defineProperty(document, 'visibilityState', { get: () => state });
    globalThis.show = () => {
      state = 'visible';
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    };
  });
  await v.page.goto(`${url}/app`, { waitUntil: 'networkidle' });
  await v.page.getByRole('link', { name: 'Prices' }).click();
  assert.deepEqual(sent(v), []);
  await v.page.evaluate('show(); show()');
  const [row] = await viewsOf(link, 1);
  assert.equal(row.url, `${url}/app/prices`);
});

longTest('beacon: back to a page that the browser cached', async (t) => {
  const { link, url } = await newSite(t);
  const v = await newDesktop(t, { origins: [url] });
  await v.page.goto(`${url}/`, { referer: 'https://search.example/' });
  await viewsOf(link, 1);
  // Playwright's Chromium keeps no pages, so the event is what can be tested.
  await v.page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
  const rows = await viewsOf(link, 2);
  assert.deepEqual(rows.map((r) => [r.url, r.referrer]), [[`${url}/`, 'https://search.example/'], [`${url}/`, '']]);
});

longTest('beacon: a view waits while the collector is away, and counts once', async (t) => {
  const { link, url } = await newSite(t);
  const v = await newDesktop(t, { origins: [url], expected: [/link-views/] });
  let refused = 0;
  const endpoint = `${collector}/v1/link-views`;
  await v.page.clock.install();
  await v.page.route(endpoint, async (r) => {
    if (refused++ === 0) return r.abort();
    if (refused === 2) { // it is counted, but the answer gets lost
      await r.fetch();
      return r.fulfill({ status: 503, headers: { 'access-control-allow-origin': '*' } });
    }
    return r.continue();
  });
  await v.page.goto(`${url}/`);
  await eventually(async () => refused >= 1);
  await v.page.clock.runFor(5_000);
  await eventually(async () => refused >= 2);
  await viewsOf(link, 1);
  await v.page.clock.runFor(30_000);
  await eventually(async () => refused >= 3);
  await v.page.clock.runFor(300_000);
  const other = await newDesktop(t, { origins: [url] });
  await other.page.goto(`${url}/`);
  await viewsOf(link, 2);
  assert.equal(refused, 3);
});

longTest('beacon: two tags count once, and a page without it is left alone', async (t) => {
  const { link, url } = await newSite(t, { change: (html) => html.replace(/<script async.*<\/script>/, '$&$&') });
  const v = await newDesktop(t, { origins: [url] });
  await v.page.goto(`${url}/app`, { waitUntil: 'networkidle' });
  await v.page.evaluate(() => document.querySelectorAll('script[data-token]').forEach((s) => s.remove()));
  await v.page.getByRole('link', { name: 'Prices' }).click();
  const other = await newDesktop(t, { origins: [url] });
  await other.page.goto(`${url}/`);
  await viewsOf(link, 2);
  assert.equal(sent(v).length, 1);
});

test('beacon: the pixel, without scripts', async (t) => {
  const { link, url, tracking } = await newSite(t, {
    change: (html) => html.replace('</main>', '<noscript>PIXEL</noscript></main>'),
  });
  assert.equal(tracking.pixel, `<img src="${collector}/v1/pixel.gif?t=${tracking.tracking_token}" width="1" height="1" alt="">`);
  const v = await newPhone(t, { origins: [url], scripts: false });
  await v.page.goto(`${url}/`);
  const [row] = await viewsOf(link, 1);
  assert.equal(row.url, `${url}/`);
  const reader = await newPhone(t, { origins: [url] });
  await reader.page.goto(`${url}/app`);
  await viewsOf(link, 2); // by the script alone
});
