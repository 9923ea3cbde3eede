// The page on which a recipient reads a document.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

import { api, newAccessLink, newMagnet, events, eventsOf } from './api.js';
import { idle, leave, newDesktop, newPhone, newVisitor } from './browser.js';
import { measure } from './measure.js';
import { pdf } from './pdf.js';
import { eventually, longTest, taken, test } from './suite.js';

const guide = await readFile(new URL('../demo/guide.pdf', import.meta.url));
const newGuide = (fields) => newAccessLink(fields); // of the shared document
const detail = (link) => api('GET', `/api/v1/access-links/${link.id}`);

const ready = (page) => page.locator('html[data-ready]').waitFor();
const drawn = (page, n) => page.locator(`.page[data-page="${n}"] > canvas`).waitFor({ state: 'attached' });

/** Stays with a page for so long; reading takes time, which is what is measured. */
const read = (page, ms) => page.waitForTimeout(ms);

const viewed = (all) => all.filter((e) => e.event_type === 'page_viewed').map((e) => e.event_data.page);

const looks = [
  ['phone', {}], ['phone', { dark: true }], ['tablet', {}], ['tablet', { dark: true }], ['desktop', {}], ['desktop', { dark: true }],
  ['phone', { scripts: false }],
];
for (const [device, o] of taken(looks)) {
  test(`viewer: the page, ${device} ${JSON.stringify(o)}`, async (t) => {
    const link = await newGuide();
    const v = await newVisitor(t, device, o);
    await v.page.goto(link.url, { waitUntil: 'networkidle' });
    if (o.scripts !== false) {
      await ready(v.page);
      await drawn(v.page, 1);
      await drawn(v.page, 2);
    }
    // A link within the document is as large as the document makes it; the page's own controls lead
    // to the same places.
    await v.accessible(v.page, (rule, html) => rule === 'target-size' && html.includes('link-spot'));
    await v.fits();
    await v.screenshot('viewer');
    const { layout_shift } = await measure(o.scripts === false ? 'viewer-plain' : 'viewer', v, { except: ['script'] });
    assert.ok(layout_shift < 0.02, `layout shift ${layout_shift}`);
    if (o.scripts === false) return;
    await v.page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight * 0.55));
    await v.page.waitForFunction(() => document.querySelectorAll('.page.waiting').length === 0);
    await v.screenshot('viewer-middle');
  });
}

test('viewer: the events are those of the reading', async (t) => {
  const link = await newGuide();
  const v = await newDesktop(t);
  await v.page.goto(link.url);
  await ready(v.page);
  await read(v.page, 1500);
  for (const n of [2, 3, 4]) {
    await v.page.keyboard.press('ArrowRight');
    await drawn(v.page, n);
    await read(v.page, 1500);
  }
  await v.page.keyboard.press('Home'); // back to the first, past the others
  await read(v.page, 1500);
  await leave(v.page);
  const all = await eventsOf({ access_link_id: link.id }, 5);
  assert.deepEqual(viewed(all).sort(), [1, 1, 2, 3, 4]);
  for (const { event_data: { duration_ms } } of all) assert.ok(duration_ms >= 800 && duration_ms < 60_000, `${duration_ms} ms`);
  assert.equal(new Set(all.map((e) => e.id)).size, 5);
  await eventually(async () => (await detail(link)).view_count === 1, 'one view');
});

/** Lets the page believe that the window shows another tab, or this one again. */
const hide = (page, hidden) => page.evaluate((state) => {
  Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}, hidden ? 'hidden' : 'visible');

test('viewer: a hidden page is not read, and what was read is reported at once', async (t) => {
  const link = await newGuide();
  const v = await newDesktop(t);
  let shown = -Date.now(); // for at most so many milliseconds
  await v.page.goto(link.url);
  await ready(v.page);
  await read(v.page, 1200);
  await hide(v.page, true);
  shown += Date.now();
  const [first] = await eventsOf({ access_link_id: link.id }, 1);
  await read(v.page, 6000); // no one reads
  shown -= Date.now();
  await hide(v.page, false);
  await read(v.page, 1200);
  await leave(v.page);
  shown += Date.now();
  const all = await eventsOf({ access_link_id: link.id }, 2);
  assert.deepEqual(viewed(all), [1, 1]);
  assert.ok(all.some((e) => e.id === first.id), 'the event that was sent twice is one');
  const sum = all.reduce((ms, e) => ms + e.event_data.duration_ms, 0);
  const times = all.map((e) => Date.parse(e.created_at));
  assert.ok(Math.abs(times[1] - times[0]) >= 3000, 'the hidden time lies between');
  assert.ok(sum >= 1200 && sum <= shown + 5, `${sum} of ${shown} ms`);
});

test('viewer: a tunnel costs no event', async (t) => {
  const link = await newGuide();
  const v = await newPhone(t, { expected: [/ERR_INTERNET_DISCONNECTED/] });
  await v.page.goto(link.url);
  await ready(v.page);
  await read(v.page, 1500);
  await v.offline();
  for (const n of [2, 3]) {
    await v.page.evaluate((page) => document.querySelector(`.page[data-page="${page}"]`).scrollIntoView(), n);
    await drawn(v.page, n);
    await v.page.waitForFunction((k) => document.querySelector('#number').value === k, String(n));
    await read(v.page, 2600); // long enough to try in vain
  }
  assert.deepEqual(viewed(await events({ access_link_id: link.id })), []);
  await v.offline(false);
  await eventually(async () => viewed(await events({ access_link_id: link.id })).length >= 2, 'events from the tunnel');
  await leave(v.page);
  assert.deepEqual(viewed(await eventsOf({ access_link_id: link.id }, 3)).sort(), [1, 2, 3]);
});

test('viewer: a tab closed in the middle of reading', async (t) => {
  const link = await newGuide();
  const v = await newDesktop(t);
  await v.page.goto(link.url);
  await ready(v.page);
  await read(v.page, 1500);
  await v.page.keyboard.press('ArrowRight');
  await v.page.waitForFunction(() => document.querySelector('#number').value === '2');
  await read(v.page, 1500);
  await v.context.newPage(); // so that the browser has a window left
  await idle(v.page);
  await Promise.all([v.page.waitForEvent('close'), v.page.close({ runBeforeUnload: true })]);
  assert.deepEqual(viewed(await eventsOf({ access_link_id: link.id }, 2)).sort(), [1, 2]);
});

for (const scripts of [true, false]) {
  test(`viewer: a download is a fact, ${scripts ? 'with' : 'without'} scripts`, async (t) => {
    const link = await newGuide();
    const v = await newDesktop(t, { scripts });
    await v.page.goto(link.url);
    if (scripts) await ready(v.page);
    const [file] = await Promise.all([
      v.page.waitForEvent('download'),
      (scripts ? v.page.locator('#download') : v.page.getByRole('button', { name: 'Download it' })).click(),
    ]);
    assert.equal(file.suggestedFilename(), 'The guide to good guides.pdf');
    assert.deepEqual(await readFile(await file.path()), guide);
    await eventually(async () => {
      const all = await events({ access_link_id: link.id });
      return ['download_started', 'download_completed'].every((type) => all.filter((e) => e.event_type === type).length === 1);
    }, 'both events');
    const [completed] = await events({ access_link_id: link.id, event_type: 'download_completed' });
    assert.match(completed.user_agent, /Chrome\/150/);
    assert.equal(completed.ip_hash, null);
  });
}

for (const o of [{ device: 'desktop' }, { device: 'phone', dark: true }, { device: 'phone', scripts: false }]) {
  longTest(`viewer: a document that is for reading only offers no download, ${JSON.stringify(o)}`, async (t) => {
    const magnet = await newMagnet({ pages: 3, title: 'For reading only' });
    const link = await newAccessLink({ lead_magnet_id: magnet.id });
    const v = await newVisitor(t, o.device, { ...o, expected: [/403/] });
    let address;
    if (o.scripts === false) {
      await v.page.goto(link.url);
      await v.page.getByRole('button', { name: 'Download it' }).waitFor();
    } else {
      const [opened] = await Promise.all([v.page.waitForResponse((r) => r.url().endsWith('/sessions') && r.ok()), v.page.goto(link.url)]);
      address = (await opened.json()).download;
      await v.page.locator('#download[href]').waitFor();
    }
    assert.equal((await api('PATCH', `/api/v1/lead-magnets/${magnet.id}`, { downloadable: false })).downloadable, false);
    if (o.scripts === false) { // a page that was open before the switch
      await v.page.getByRole('button', { name: 'Download it' }).click();
    } else await v.page.goto(new URL(`${address}&d=0192f0c1-2f6b-7cc0-8a3c-1d2e3f405162`, link.url).href);
    await v.page.getByRole('heading', { name: 'This document is read-only' }).waitFor();
    await v.accessible();
    await v.fits();
    await v.screenshot('viewer-no-download');
    await v.page.getByRole('link', { name: 'Read it' }).click();
    await v.page.waitForURL(link.url);
    if (o.scripts === false) await v.page.getByRole('button', { name: 'Open the document' }).waitFor();
    else {
      await ready(v.page);
      await drawn(v.page, 1);
    }
    assert.equal(await v.page.getByText(/download/i).count(), 0);
    assert.equal(await v.page.locator('#download, #end-download, #print').count(), 0);
    await v.screenshot('viewer-reading-only');
    await leave(v.page);
    assert.ok(!(await events({ access_link_id: link.id })).some((e) => e.event_type.startsWith('download')));
  });
}

test('viewer: without scripts the browser shows the document', async (t) => {
  const link = await newGuide();
  const v = await newPhone(t, { scripts: false });
  await v.page.goto(link.url);
  const form = v.page.locator('form[action$="/open"]');
  assert.equal(await form.getAttribute('method'), 'post');
  await v.page.getByRole('button', { name: 'Open the document' }).waitFor();
  // What comes then is the browser's own, so the form is sent here.
  const answer = await fetch(new URL(await form.getAttribute('action'), link.url), { method: 'POST', body: new URLSearchParams({ as: 'read' }) });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/pdf');
  assert.match(answer.headers.get('content-disposition'), /^inline/);
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), guide);
});

test('viewer: a link for one view', async (t) => {
  const link = await newGuide({ max_views: 1 });
  const v = await newPhone(t);
  await v.page.goto(link.url);
  await ready(v.page);
  await v.page.reload(); // no further view
  await ready(v.page);
  await drawn(v.page, 1);
  const other = await newDesktop(t, { expected: [/410/] });
  await other.page.goto(link.url);
  await other.page.getByRole('heading', { name: 'This link has been used up' }).waitFor();
  await other.accessible();
  await other.screenshot('viewer-used-up');
});

longTest('viewer: links that do not open', async (t) => {
  const v = await newPhone(t, { expected: [/404|410/] });
  const inactive = await newGuide(); // the document is there from now on
  let end;
  // A request that takes longer than that is refused, and made again.
  const expired = await eventually(() => newGuide({ expires_at: new Date(end = Date.now() + 15_000).toISOString() }), 'a link that expires');
  await api('PATCH', `/api/v1/access-links/${inactive.id}`, { is_active: false });
  await v.page.waitForTimeout(Math.max(0, end + 100 - Date.now()));
  for (const [url, status, words] of [
    [expired.url, 410, 'This link has expired'],
    [inactive.url, 410, /no longer|switched off|closed/],
    [expired.url.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')), 404, 'Page not found'],
  ]) {
    const answer = await v.page.goto(url);
    assert.equal(answer.status(), status, url);
    await v.page.getByRole('heading', { name: words }).waitFor();
    await v.accessible();
  }
});

longTest('viewer: a reload returns to the same place', async (t) => {
  const link = await newGuide();
  const v = await newPhone(t);
  await v.page.goto(link.url);
  await ready(v.page);
  await v.page.evaluate(() => document.querySelector('.page[data-page="7"]').scrollIntoView());
  await v.page.waitForFunction(() => history.state?.page === 7);
  const before = await v.page.evaluate(() => document.querySelector('.page[data-page="7"]').getBoundingClientRect().top);
  await read(v.page, 600); // else it was only passed
  await v.page.reload();
  await ready(v.page);
  await drawn(v.page, 7);
  const after = await v.page.evaluate(() => document.querySelector('.page[data-page="7"]').getBoundingClientRect().top);
  assert.ok(Math.abs(after - before) < 60, `${before} px, then ${after} px`);
  await leave(v.page);
  const all = await eventually(async () => {
    const found = await events({ access_link_id: link.id });
    return found.some((e) => e.event_data.page === 7) && found;
  }, 'the events');
  await eventually(async () => (await detail(link)).view_count === 1, 'one view');
  assert.ok(all.every((e) => [1, 7].includes(e.event_data.page)));
});

test('viewer: with the keyboard alone', async (t) => {
  const link = await newGuide();
  const v = await newDesktop(t);
  await v.page.goto(link.url);
  await ready(v.page);
  const where = () => v.page.locator('#number').inputValue();
  const press = async (key, page) => {
    await v.page.keyboard.press(key);
    await v.page.waitForFunction((n) => document.querySelector('#number').value === n, String(page));
  };
  await press('ArrowRight', 2);
  await press('ArrowRight', 3);
  await press('ArrowLeft', 2);
  await press('End', 12);
  await press('Home', 1);
  assert.equal(await where(), '1');
  const level = () => v.page.locator('#zoom-level').textContent();
  const before = await level();
  await v.page.keyboard.press('+');
  assert.notEqual(await level(), before);
  await v.page.keyboard.press('0'); // the width again
  await v.page.keyboard.press('0'); // the full page
  await drawn(v.page, 1);
  const { height } = await v.page.locator('.page[data-page="1"]').boundingBox();
  assert.ok(height <= 900 - 48, `${height} px high`);
  await v.screenshot('viewer-full-page');
  await v.page.keyboard.press('0');
  await v.page.keyboard.press('?');
  await v.page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  await v.accessible();
  await v.screenshot('viewer-help');
  await v.page.keyboard.press('Escape');
  await v.page.keyboard.press('t');
  await v.page.locator('#rail').waitFor({ state: 'hidden' });
  await v.page.keyboard.press('t');
  await v.page.locator('#rail').waitFor();
  await v.page.getByRole('button', { name: 'Page 5', exact: true }).focus();
  await press('Enter', 5);
  await v.page.locator('#number').focus();
  await v.page.keyboard.type('9');
  await press('Enter', 9);
});

longTest('viewer: what a screen reader finds', async (t) => {
  const link = await newGuide();
  const v = await newDesktop(t);
  await v.page.goto(link.url);
  await ready(v.page);
  await v.page.getByRole('heading', { level: 1, name: 'The guide to good guides' }).waitFor();
  await v.page.getByRole('main', { name: 'The guide to good guides' }).waitFor();
  await v.page.getByRole('group', { name: 'Page 3 of 12' }).getByText('An address is a price').first().waitFor();
  await v.page.getByRole('group', { name: 'Page 3 of 12' }).getByRole('heading', { name: 'An address is a price' }).waitFor();
  await v.page.keyboard.press('ArrowRight');
  await v.page.locator('#announce', { hasText: 'Page 2 of 12' }).waitFor({ state: 'attached' });
  const text = await v.page.evaluate(() => {
    getSelection().selectAllChildren(document.querySelector('.page[data-page="1"] .textLayer'));
    return getSelection().toString();
  });
  assert.match(text.replaceAll(/\s+/g, ' '), /How to make a document that people ask for, open, and read to the end/);
});

test('viewer: a hostile document runs nothing and leads nowhere', async (t) => {
  const file = pdf({ pages: 2, script: 'app.alert(1); this.submitForm("https://evil.example/");', link: 'javascript:alert(1)' });
  const link = await newAccessLink({ lead_magnet_id: (await newMagnet({ file, title: '<img src=x onerror=alert(1)>' })).id });
  const v = await newDesktop(t);
  await v.page.goto(link.url);
  await ready(v.page);
  await drawn(v.page, 1);
  await v.page.locator('.page[data-page="1"] .textLayer').waitFor({ state: 'attached' });
  await read(v.page, 300);
  assert.equal(await v.page.locator('.link-spot').count(), 0);
  assert.equal(await v.page.locator('img[src=x]').count(), 0);
});

test('viewer: links of a document open apart, and learn nothing', async (t) => {
  const link = await newAccessLink({ lead_magnet_id: (await newMagnet({ file: pdf({ link: 'https://example.com/more' }) })).id });
  const v = await newDesktop(t);
  await v.page.goto(link.url);
  const spot = v.page.locator('.link-spot');
  await spot.waitFor();
  assert.equal(await spot.getAttribute('href'), 'https://example.com/more');
  assert.equal(await spot.getAttribute('rel'), 'noopener noreferrer nofollow');
  assert.equal(await spot.getAttribute('target'), '_blank');
});

test('viewer: a large document comes in parts', async (t) => {
  const file = pdf({ pages: 120, padding: 100_000 }); // 12 MB
  const link = await newAccessLink({ lead_magnet_id: (await newMagnet({ file, title: 'A large one' })).id });
  const v = await newPhone(t);
  await v.page.goto(link.url);
  await ready(v.page);
  await drawn(v.page, 1);
  const taken = () => v.page.evaluate(() => performance.getEntriesByType('resource').filter((e) => e.name.includes('/file?s='))
    .reduce((sum, e) => sum + e.transferSize, 0));
  assert.ok(await taken() < 2_000_000, `${await taken()} bytes`);
  await v.page.evaluate(() => document.querySelector('.page[data-page="90"]').scrollIntoView());
  await drawn(v.page, 90);
  assert.ok(await taken() < 4_000_000, `${await taken()} bytes`);
});

longTest('viewer: a document of middle size goes on after a tunnel', async (t) => {
  const file = pdf({ pages: 40, padding: 50_000 }); // 2 MB
  const link = await newAccessLink({ lead_magnet_id: (await newMagnet({ file, title: 'A middle one' })).id });
  const v = await newPhone(t, { expected: [/ERR_INTERNET_DISCONNECTED|ERR_FAILED/] });
  let cut = true;
  await v.page.route('**/file?s=*', (route) => (cut ? route.abort() : route.continue()));
  await v.page.goto(link.url);
  await v.page.getByText('You’re offline.').waitFor();
  await v.screenshot('viewer-offline');
  cut = false;
  await ready(v.page);
  await v.page.locator('#notice').waitFor({ state: 'hidden' });
  await v.page.evaluate(() => document.querySelector('.page[data-page="40"]').scrollIntoView());
  await drawn(v.page, 40);
});

longTest('viewer: a connection far from the mast', async (t) => {
  const link = await newGuide();
  const v = await newPhone(t);
  await v.slow();
  await v.page.goto(link.url, { waitUntil: 'commit' });
  await v.page.locator('#first').waitFor();
  await v.page.waitForFunction(() => document.querySelector('#first img')?.complete);
  await v.screenshot('viewer-slow'); // the first page stands in for itself
  await ready(v.page);
  await drawn(v.page, 1);
  await measure('viewer-slow', v, { except: ['script'] });
});

test('viewer: print has all pages', async (t) => {
  const link = await newGuide();
  const v = await newDesktop(t);
  await v.page.addInitScript(() => {
    globalThis.print = () => {
      globalThis.printed = [...document.querySelectorAll('#paper img')].map((i) => [i.naturalWidth, i.naturalHeight]);
    };
  });
  await v.page.goto(link.url);
  await ready(v.page);
  await v.page.locator('#print').click();
  await v.page.waitForFunction(() => globalThis.printed);
  assert.equal((await v.page.evaluate(() => globalThis.printed)).length, 12);
});
