// What the pages of visitors owe their readers: the faults that pages once had, each with the size of screen that showed it.
import assert from 'node:assert/strict';

import { api, newAccessLink, newLink, newMagnet, guideMagnet } from './api.js';
import { newDesktop, newPhone, newVisitor } from './browser.js';
import { measure } from './measure.js';
import { pdf } from './pdf.js';
import { devPage, site, test } from './suite.js';

const ready = (page) => page.locator('html[data-ready]').waitFor();
const box = (page, selector) => page.locator(selector).first().boundingBox();

test('public: an unknown path is a page for browsers and JSON for programs', async (t) => {
  for (const dark of [false, true]) {
    const v = await newDesktop(t, { dark, expected: [/40[145]/] });
    const answer = await v.page.goto(`${site}/nothing/here`);
    assert.equal(answer.status(), 404);
    await v.page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await v.accessible();
    await v.screenshot('status-unknown');
    await v.page.goto(`${site}/api/v1/lead-magnets`);
    await v.page.getByRole('heading', { name: 'A valid API key is needed' }).waitFor();
    await v.accessible();
    await v.screenshot('status-api');
  }
  for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5']) {
    const answer = await fetch(`${site}/nothing/here`, { headers: { accept } });
    assert.equal(answer.headers.get('content-type'), 'application/problem+json');
    assert.equal((await answer.json()).code, 'not_found');
  }
});

test('public: tabs have an icon, and crawlers an answer', async (t) => {
  assert.match(await (await fetch(`${site}/robots.txt`)).text(), /^User-agent: \*$/m);
  const ico = await fetch(`${site}/favicon.ico`);
  assert.deepEqual([ico.status, ico.headers.get('content-type')], [200, 'image/x-icon']);
  const v = await newDesktop(t);
  await v.page.goto(devPage('/dev/mailbox'));
  const href = await v.page.locator('link[rel=icon]').getAttribute('href');
  const icon = await fetch(new URL(href, site));
  assert.equal(icon.headers.get('content-type'), 'image/svg+xml');
  assert.match(await icon.text(), /prefers-color-scheme:dark/);
});

test('public: owners and readers get the shipped typeface, and landing pages the system\u2019s', async (t) => {
  const link = await newAccessLink();
  const v = await newDesktop(t);
  const loaded = async () => v.page.evaluate(async () => {
    await document.fonts.load('16px Inter').catch(() => undefined);
    return [...document.fonts].filter((f) => f.status === 'loaded').map((f) => f.family);
  });
  for (const url of [devPage('/dev/mailbox'), link.url]) {
    await v.page.goto(url);
    assert.deepEqual(await loaded(), ['Inter'], url);
    assert.match(await v.page.evaluate(() => getComputedStyle(document.body).fontFamily), /^Inter/);
  }
  await v.page.goto(`${site}/api/v1/docs`);
  assert.deepEqual(await loaded(), ['Inter']);
  await v.page.goto((await newLink()).url);
  assert.deepEqual(await loaded(), []);
});

for (const [device, o] of [['desktop', {}], ['desktop', { dark: true }], ['tablet', {}], ['phone', {}]]) {
  test(`public: a landscape document, ${device} ${JSON.stringify(o)}`, async (t) => {
    const magnet = await newMagnet({ file: pdf({ pages: 5, size: [960, 540] }), title: 'Twelve slides that sell' });
    const link = await newLink({ lead_magnet_id: magnet.id, title: 'Twelve slides that sell', description: 'A deck to take to your next meeting.' });
    const v = await newVisitor(t, device, o);
    await v.page.goto(link.url, { waitUntil: 'networkidle' });
    await v.accessible();
    await v.fits();
    await v.screenshot('landing-landscape', { full: true });
    const [cover, title, form] = [await box(v.page, '.cover'), await box(v.page, 'h1'), await box(v.page, 'form')];
    assert.ok(title.y <= cover.y + cover.height, 'the headline is not below the cover');
    if (device === 'desktop') {
      assert.ok(title.y < cover.y, 'the headline is above the cover');
      assert.ok(form.x - (cover.x + cover.width) < 64, `a gap of ${form.x - cover.x - cover.width} px`);
    }
  });
}

for (const [device, o] of [['phone', {}], ['phone', { dark: true }], ['tablet', {}], ['desktop', {}], ['desktop', { dark: true }]]) {
  test(`public: the landing page goes on below the form, ${device} ${JSON.stringify(o)}`, async (t) => {
    const magnet = await guideMagnet();
    await api('PATCH', `/api/v1/lead-magnets/${magnet.id}`, { author: 'Ada Lovelace', author_about: 'Wrote the first program that was printed, and notes longer than the paper.' });
    const link = await newLink({ description: 'Twelve short chapters on writing guides that people finish.' });
    const v = await newVisitor(t, device, o);
    await v.page.goto(link.url, { waitUntil: 'networkidle' });
    assert.ok(await v.page.locator('.contents li').count() > 5);
    await v.page.getByText('An address is a price').waitFor();
    await v.page.getByText('Ada Lovelace').scrollIntoViewIfNeeded();
    await v.page.waitForFunction(() => [...document.querySelectorAll('.pages img')].every((i) => i.complete && i.naturalWidth === 360));
    await v.accessible();
    await v.fits();
    await v.screenshot('landing-whole', { full: true });
    const { height } = v.page.viewportSize();
    assert.ok(await v.page.evaluate(() => document.documentElement.scrollHeight) > height, 'the page ends above the fold');
    const { layout_shift } = await measure('landing-whole', v);
    assert.ok(layout_shift < 0.01, `layout shift ${layout_shift}`);
  });
}

test('public: the first page opens as a whole, and the others at a width that reads well', async (t) => {
  const v = await newDesktop(t);
  await v.page.goto((await newAccessLink()).url);
  await ready(v.page);
  const first = await box(v.page, '.page[data-page="1"]');
  assert.ok(first.y + first.height <= 900, `ends at ${first.y + first.height} px`);
  assert.ok(first.height > 780, `${first.height} px high`);
  const second = await box(v.page, '.page[data-page="2"]');
  assert.ok(second.width > first.width && second.width <= 1.25 * 560 + 2, `${second.width} px wide`);
});

test('public: a dark page of half a point less than its box has no white line', async (t) => {
  const file = pdf({ pages: 2, size: [420, 595], fill: '0.06 0.1 0.17 rg 0 0.5 419.53 594.5 re f 1 g' });
  const link = await newAccessLink({ lead_magnet_id: (await newMagnet({ file, title: 'Dark' })).id });
  for (const device of ['desktop', 'phone']) {
    const v = await newVisitor(t, device, { dark: true });
    await v.page.goto(link.url);
    await ready(v.page);
    await v.page.locator('.page[data-page="1"].drawn').waitFor();
    const colours = await v.page.evaluate(() => {
      const canvas = document.querySelector('.page[data-page="1"] canvas');
      const context = canvas.getContext('2d');
      const at = (x, y) => [...context.getImageData(x, y, 1, 1).data].slice(0, 3).join();
      const { width: w, height: h } = canvas;
      return [at(w >> 1, h >> 1), at(w - 1, h >> 1), at(w >> 1, h - 1), at(w - 1, h - 1)];
    });
    assert.equal(new Set(colours).size, 1, colours.join(' '));
  }
});

test('public: contents, progress and an end, on a desktop', async (t) => {
  const file = (await import('./api.js')).guide;
  const magnet = await newMagnet({ file, title: 'Worth the email' });
  await api('PATCH', `/api/v1/lead-magnets/${magnet.id}`, { end_text: 'Shall we look at yours?', end_button: 'Book half an hour', end_url: 'https://example.com/call' });
  const v = await newDesktop(t);
  await v.page.goto((await newAccessLink({ lead_magnet_id: magnet.id })).url);
  await ready(v.page);
  await v.page.getByRole('button', { name: 'Contents', exact: true }).click();
  await v.accessible(v.page, (rule, html) => rule === 'target-size' && html.includes('link-spot'));
  await v.screenshot('viewer-contents');
  await v.page.getByRole('button', { name: 'Answer one question' }).click();
  await v.page.waitForFunction(() => document.querySelector('#number').value === '4');
  await v.page.keyboard.press('End');
  await v.page.waitForFunction(() => document.querySelector('#number').value === '12');
  await v.page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  const call = v.page.getByRole('link', { name: /Book half an hour/ });
  assert.equal(await call.getAttribute('href'), 'https://example.com/call');
  await v.page.waitForFunction(() => document.querySelector('#progress').style.transform === 'scaleX(1)');
  assert.equal(await v.page.locator('#number').inputValue(), '12', 'the last page is being read');
  await v.accessible(v.page, (rule, html) => rule === 'target-size' && html.includes('link-spot'));
  await v.screenshot('viewer-end');
  await v.page.getByRole('button', { name: 'Back to the first page' }).click();
  await v.page.waitForFunction(() => document.querySelector('#number').value === '1');
});

for (const dark of [false, true]) {
  test(`public: a phone has the whole title, thumbnails and contents, ${dark ? 'dark' : 'light'}`, async (t) => {
    const link = await newAccessLink();
    const v = await newPhone(t, { dark });
    await v.page.goto(link.url);
    await ready(v.page);
    const cut = await v.page.locator('.bar .name').evaluate((e) => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1);
    assert.equal(cut, false, 'the title is cut');
    await v.page.getByRole('button', { name: 'More' }).click();
    await v.screenshot('viewer-menu');
    await v.page.getByRole('button', { name: 'Pages', exact: true }).click();
    await v.page.locator('#thumbnails canvas').nth(3).waitFor();
    await v.accessible(v.page, (rule, html) => rule === 'target-size' && html.includes('link-spot'));
    await v.fits();
    await v.screenshot('viewer-thumbnails');
    await v.page.getByRole('button', { name: 'Page 5', exact: true }).click();
    await v.page.waitForFunction(() => document.querySelector('#number').value === '5');
    await v.page.locator('#rail').waitFor({ state: 'hidden' });
    await v.page.locator('#bar.away').waitFor({ state: 'attached' });
    await v.page.touchscreen.tap(180, 320); // brings the bar back
    await v.page.getByRole('button', { name: 'More' }).click();
    await v.page.getByRole('button', { name: 'Contents', exact: true }).click();
    await v.screenshot('viewer-contents');
    await v.page.getByRole('button', { name: 'The checklist' }).click();
    await v.page.waitForFunction(() => document.querySelector('#number').value === '12');
  });
}
