// The dashboard: an owner publishes, watches and acts, with and without scripts.
import assert from 'node:assert/strict';

import { guide } from './api.js';
import { newDesktop, newVisitor, signIn, signInAnew } from './browser.js';
import { measure, note } from './measure.js';
import { eventually, longTest, setting, site, test } from './suite.js';

/** Every number and picture of a page is what programs and readers of screens can use. */
async function complete(v) {
  const wrong = await v.page.evaluate(() => {
    const bad = [];
    for (const e of document.querySelectorAll('[data-metric]')) {
      if (e.dataset.value !== '' && !Number.isFinite(Number(e.dataset.value))) bad.push(e.outerHTML);
    }
    for (const svg of document.querySelectorAll('svg[role=img]')) {
      const behind = svg.closest('figure, tr')?.querySelector('table, td') ?? document.getElementById(svg.getAttribute('aria-details'))?.querySelector('table');
      if (!svg.querySelector('title')?.textContent || !behind) bad.push(svg.outerHTML);
    }
    return bad;
  });
  assert.deepEqual(wrong, []);
}

const looks = [['phone', {}], ['phone', { dark: true }], ['desktop', {}], ['desktop', { dark: true }], ['phone', { scripts: false }], ['desktop', { scripts: false }]];
for (const [device, o] of looks) {
  longTest(`dashboard: every screen, ${device} ${JSON.stringify(o)}`, async (t) => {
    const v = await newVisitor(t, device, o);
    await signIn(v, setting('LODESTONE_PAST_API_KEY'));
    const looked = async (name) => {
      await v.page.locator('h1').first().waitFor();
      if (o.scripts !== false) await complete(v);
      await v.accessible();
      await v.fits();
      await v.screenshot(`dashboard-${name}`, { full: true });
      await measure(`dashboard-${name}${o.dark ? '-dark' : ''}${o.scripts === false ? '-plain' : ''}`, v);
    };
    await looked('overview');
    await v.page.goto(`${site}/dashboard?days=90&compare=no&metric=people_finish_rate&second=visitors`);
    await looked('overview-90');
    await v.page.goto(`${site}/dashboard`);
    await v.page.locator('table.magnets tbody a').first().click();
    await v.page.waitForURL(/\/magnets\//);
    await looked('magnet');
    const magnet = v.page.url().replace(/\?.*/, '');
    for (const [screen, name] of [['edit', 'magnet-edit'], ['shares', 'magnet-shares']]) {
      await v.page.goto(`${magnet}/${screen}`);
      await looked(name);
    }
    await v.page.goto(magnet);
    await v.page.getByRole('link', { name: 'opened it and did not finish' }).click();
    await v.page.waitForURL(/finished=false/);
    await looked('readers');
    await v.page.locator('table.people a').first().click();
    await v.page.waitForURL(/\/readers\/[0-9a-f-]+(\?|$)/);
    await looked('reader');
    await v.page.goto(`${site}/dashboard/live`);
    await looked('live');
    await v.page.goto(`${site}/dashboard/new`);
    await looked('new');
  });
}

longTest('dashboard: definitions are shown on focus, and the keyboard reaches everything', async (t) => {
  const v = await newDesktop(t);
  await signIn(v, setting('LODESTONE_PAST_API_KEY'));
  await v.page.keyboard.press('Tab');
  assert.equal(await v.page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
  const term = v.page.locator('.tile .term').first();
  assert.equal(await term.locator('.def').isVisible(), false);
  await term.focus();
  assert.equal(await term.locator('.def').isVisible(), true);
  await v.page.locator('summary', { hasText: 'Table of these numbers' }).focus();
  await v.page.keyboard.press('Enter');
  assert.equal(await v.page.locator('#numbers table').isVisible(), true);
});

for (const o of [{}, { scripts: false }]) {
  longTest(`dashboard: the curve shows the picture of a page, ${JSON.stringify(o)}`, async (t) => {
    const v = await newDesktop(t, o);
    await signIn(v, setting('LODESTONE_PAST_API_KEY'));
    await v.page.locator('table.magnets tbody a').first().click();
    await v.page.waitForURL(/\/magnets\//);
    const requests = [];
    v.page.on('request', (r) => { if (/\/pages\/\d+\?/.test(r.url())) requests.push(r.url()); });
    const pages = v.page.locator('.pics label');
    assert.ok(await pages.count() > 2);
    assert.equal(await v.page.locator('.pic:visible').count(), 0);
    await v.page.locator('.curve').scrollIntoViewIfNeeded();
    assert.deepEqual(requests, [], 'nothing is loaded before it is wanted');
    const picture = pages.nth(1).locator('img');
    // Without scripts, browsers take no picture for a lazy one: all were loaded with the page.
    const loads = async (page) => (o.scripts === false || (await v.page.waitForResponse(page)).status() === 200);
    const loaded = loads(/\/pages\/2\?version=/);
    await pages.nth(1).hover();
    assert.ok(await loaded);
    assert.ok(await eventually(() => picture.evaluate((img) => img.complete && img.naturalWidth > 0), 'the picture of page 2'));
    assert.equal(await picture.isVisible(), true);
    await v.screenshot(`dashboard-magnet-page`);
    await v.page.mouse.move(0, 0);
    assert.equal(await picture.isVisible(), false);
    // By keys: the pages are one stop, and arrows lead from page to page.
    const third = loads(/\/pages\/3\?version=/);
    await pages.nth(1).locator('input').focus();
    await v.page.keyboard.press('ArrowRight');
    assert.ok(await third);
    assert.equal(await pages.nth(2).locator('img').isVisible(), true);
    await v.accessible();
  });
}

/** same marks the document, and returns a check that it was not loaded again. */
async function same(v) {
  await v.page.locator('button.keys').waitFor(); // the script has run
  await v.page.evaluate(() => { window.mark = true; });
  return async () => assert.equal(await v.page.evaluate(() => window.mark), true, 'the page was loaded again');
}

test('dashboard: the period, filters and search are drawn in place', async (t) => {
  const v = await newDesktop(t);
  await signIn(v, setting('LODESTONE_PAST_API_KEY'));
  const kept = await same(v);
  await v.page.locator('.seg a').first().focus();
  await v.page.keyboard.press('Enter');
  await v.page.waitForURL(/days=/);
  await v.page.locator('#content:not([aria-busy])').waitFor();
  assert.match(await v.page.locator('p.unseen[role=status]').innerText(), /^Updated: /);
  assert.equal(await v.page.evaluate(() => document.activeElement.closest('.seg') !== null), true, 'focus stays in the period');
  await kept();
  await complete(v);
  await v.page.goBack();
  await v.page.waitForURL(`${site}/dashboard`);
  await kept();
  await v.page.goto(`${site}/dashboard/readers`);
  const searched = await same(v);
  const field = v.page.locator('#content input[type=search]');
  await v.page.keyboard.press('/');
  await v.page.keyboard.type('no-one-has-this');
  await v.page.waitForURL(/q=no-one-has-this/);
  await v.page.locator('table.people').waitFor({ state: 'detached' });
  assert.equal(await field.inputValue(), 'no-one-has-this');
  assert.equal(await field.evaluate((e) => e === document.activeElement), true, 'typing goes on');
  await searched();
  await v.accessible();
});

longTest('dashboard: the picker of a period closes by Escape, and by a press beside it', async (t) => {
  const v = await newDesktop(t);
  await signIn(v, setting('LODESTONE_PAST_API_KEY'));
  await v.page.locator('button.keys').waitFor();
  const picker = v.page.locator('.period details'), summary = picker.locator('summary');
  const open = () => picker.evaluate((e) => e.open);
  await summary.click();
  await picker.locator('input').first().focus();
  assert.equal(await open(), true, 'a press within');
  await v.page.keyboard.press('Escape');
  assert.equal(await open(), false);
  assert.equal(await summary.evaluate((e) => e === document.activeElement), true, 'focus goes back');
  await summary.click();
  await v.page.mouse.click(400, 700);
  assert.equal(await open(), false);
});

longTest('dashboard: what is typed while an answer comes is searched for', async (t) => {
  const v = await newDesktop(t);
  await signIn(v, setting('LODESTONE_PAST_API_KEY'));
  await v.page.clock.install();
  let ask, go;
  const asked = new Promise((resolve) => { ask = resolve; }), typed = new Promise((resolve) => { go = resolve; });
  await v.page.route(/[?&]q=no-one(&|$)/, async (route) => {
    ask();
    await typed;
    await route.continue();
  });
  await v.page.goto(`${site}/dashboard/readers`);
  await v.page.locator('button.keys').waitFor();
  await v.page.clock.pauseAt(Date.now() + 60_000);
  const field = v.page.locator('#content input[type=search]');
  await field.focus();
  await v.page.keyboard.type('no-one');
  await v.page.clock.runFor(300);
  await asked;
  await v.page.keyboard.type('-has-this');
  go(); // the answer comes before the pause in typing is over
  await v.page.waitForURL(/[?&]q=no-one(&|$)/);
  assert.equal(await field.inputValue(), 'no-one-has-this');
  await v.page.clock.runFor(300);
  await v.page.waitForURL(/q=no-one-has-this/);
  assert.equal(await field.inputValue(), 'no-one-has-this');
  assert.equal(await field.evaluate((e) => e === document.activeElement), true, 'typing goes on');
});

longTest('dashboard: back and forward at once leave the screen of the address', async (t) => {
  const v = await newDesktop(t);
  await signIn(v, setting('LODESTONE_PAST_API_KEY'));
  await v.page.locator('button.keys').waitFor();
  const period = v.page.locator('.seg a').first();
  await period.click();
  await v.page.waitForURL(/days=/);
  let go;
  const forward = new Promise((resolve) => { go = resolve; });
  await v.page.route(`${site}/dashboard`, async (route) => {
    const answer = await route.fetch();
    await forward;
    await route.fulfill({ response: answer }).catch(() => {}); // no one waits for it any more
  });
  const asked = v.page.waitForRequest(`${site}/dashboard`);
  await v.page.goBack();
  const request = await asked;
  const ended = ['requestfinished', 'requestfailed'].map((event) => v.page.waitForEvent(event, (r) => r === request));
  await v.page.goForward();
  go();
  await Promise.any(ended);
  await v.page.locator('#content:not([aria-busy])').waitFor();
  assert.equal(await period.getAttribute('aria-current'), 'true');
  assert.match(v.page.url(), /days=/);
  await v.page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('dashboard: a time is marked in line charts, with the values of the table', async (t) => {
  const v = await newDesktop(t);
  await signIn(v, setting('LODESTONE_PAST_API_KEY'));
  await v.page.locator('button.keys').waitFor();
  const chart = v.page.locator('figure.chart:has(> svg.timed)').first();
  const row = async (i) => (await chart.locator('tbody tr').nth(i).locator('th, td').allTextContents()).map((s) => s.trim());
  const last = await chart.locator('tbody tr').count() - 1;
  await chart.locator('> svg').focus();
  await v.page.keyboard.press('End');
  for (const part of await row(last)) assert.ok((await chart.locator('.at p').innerText()).includes(part), part);
  await v.page.keyboard.press('ArrowLeft');
  for (const part of await row(last - 1)) assert.ok((await chart.locator('.at p').innerText()).includes(part), part);
  await v.accessible();
  await v.screenshot('dashboard-time');
  await v.page.keyboard.press('Escape');
  assert.equal(await v.page.locator('.at').count(), 0);
  const box = await chart.locator('> svg').boundingBox();
  await v.page.mouse.move(box.x + 1, box.y + 60);
  for (const part of await row(0)) assert.ok((await chart.locator('.at p').innerText()).includes(part), part);
  await v.page.mouse.move(0, 0);
  assert.equal(await v.page.locator('.at').count(), 0);
});

longTest('dashboard: a chosen file outlives the session', async (t) => {
  const v = await newDesktop(t, { expected: [/401/] });
  await signIn(v, setting('LODESTONE_API_KEY'));
  await v.page.goto(`${site}/dashboard/new`);
  await v.page.locator('button.keys').waitFor();
  await v.page.locator('#file').setInputFiles({ name: 'kept.pdf', mimeType: 'application/pdf', buffer: Buffer.from(guide) });
  await v.context.clearCookies();
  await v.page.getByRole('button', { name: 'Publish' }).click();
  await v.page.getByText('Your session has ended.').waitFor();
  await v.accessible();
  await v.screenshot('dashboard-session-ended');
  const tab = await v.context.newPage();
  await signInAnew({ page: tab }, setting('LODESTONE_API_KEY'));
  await tab.close();
  await v.page.getByRole('button', { name: 'Publish' }).click();
  await v.page.locator('[role=status] a.address').waitFor();
});

longTest('dashboard: keys lead through the screens', async (t) => {
  const v = await newDesktop(t);
  await signIn(v, setting('LODESTONE_PAST_API_KEY'));
  await v.page.locator('button.keys').waitFor();
  await v.page.keyboard.press('?');
  const list = v.page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await list.waitFor();
  await v.accessible();
  await v.screenshot('dashboard-keys');
  await list.evaluate((dialog) => {
    dialog.close(); // its box has the focus until the next frame
    for (const key of 'gr') document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  });
  await v.page.waitForURL(/\/dashboard\/readers/);
  await v.page.locator('button.keys').waitFor();
  await v.page.keyboard.press('j');
  await v.page.keyboard.press('j');
  const second = v.page.locator('table.people th[scope=row] a').nth(1);
  assert.equal(await second.evaluate((e) => e === document.activeElement), true);
  await v.page.keyboard.press('Enter');
  await v.page.waitForURL(/\/readers\/[0-9a-f-]+/);
});

test('dashboard: without an answer what was shown stays, and can be tried again', async (t) => {
  const v = await newDesktop(t, { expected: [/502/] });
  await signIn(v, setting('LODESTONE_PAST_API_KEY'));
  await v.page.goto(`${site}/dashboard/readers`);
  await v.page.locator('button.keys').waitFor();
  let answers = 0;
  await v.page.route(/sort=/, (route) => (answers++ ? route.continue() : route.fulfill({ status: 502, contentType: 'text/html', body: '<p>No answer' })));
  await v.page.locator('select[name=sort]').selectOption({ index: 1 });
  await v.page.getByText('No answer from the server.').waitFor();
  assert.equal(await v.page.locator('table.people').isVisible(), true);
  await v.page.getByRole('button', { name: 'Try again' }).click();
  await v.page.waitForURL(/sort=/);
});

longTest('dashboard: a link shares the statistics, and is revoked', async (t) => {
  const v = await newDesktop(t);
  await signIn(v, setting('LODESTONE_PAST_API_KEY'));
  await v.page.locator('table.magnets tbody a').first().click();
  await v.page.getByRole('link', { name: 'Shared statistics' }).click();
  await v.page.getByLabel('Name').fill('The team');
  await v.page.getByRole('button', { name: 'Create link' }).click();
  const address = await v.page.locator('#made').innerText();
  await v.accessible();
  await v.screenshot('dashboard-magnet-shared', { full: true });
  const other = await newDesktop(t);
  await other.page.goto(address);
  await other.page.locator('.tiles').first().waitFor();
  await v.page.goto(v.page.url());
  await v.page.getByRole('row', { name: /The team/ }).getByRole('button', { name: 'Revoke' }).click();
  await v.page.getByText('The team').waitFor({ state: 'detached' });
});

longTest('dashboard: from a PDF to a published page, and the first reader is seen', async (t) => {
  const v = await newDesktop(t);
  await signIn(v, setting('LODESTONE_API_KEY'));
  const begin = Date.now(), address = `first-${begin}@example.com`;
  await v.page.goto(`${site}/dashboard/new`);
  await v.page.locator('#file').setInputFiles({ name: 'how-to-begin.pdf', mimeType: 'application/pdf', buffer: Buffer.from(guide) });
  await v.page.getByRole('button', { name: 'Publish' }).click();
  const landing = await v.page.locator('[role=status] a.address').innerText();
  note('dashboard-publish_ms', Date.now() - begin);
  const magnet = v.page.url().replace(/\?.*/, '');
  await v.accessible();
  await v.screenshot('dashboard-published', { full: true });

  const reader = await newDesktop(t);
  await reader.page.goto(landing);
  await reader.page.getByLabel('Email address').fill(address);
  await reader.page.locator('form button').click();
  await reader.page.locator('html[data-ready]').waitFor();
  await v.page.goto(`${site}/dashboard/live`);
  await v.page.locator('#state', { hasText: 'connected' }).waitFor();
  await reader.page.waitForTimeout(1500); // reading
  await reader.page.keyboard.press('ArrowRight');
  const card = v.page.locator('.live .card', { hasText: address });
  await card.waitFor();
  assert.equal(await card.locator('.cells .on').count(), 1);
  await reader.page.waitForTimeout(1500);
  await reader.page.keyboard.press('ArrowRight');
  await card.locator('.cells .on:nth-child(2)').waitFor();
  await v.accessible();
  await v.screenshot('dashboard-live-reading');
  await card.getByRole('link').click();
  await v.page.locator('figure.chart svg[role=img]').first().waitFor();
  await v.screenshot('dashboard-first-reader', { full: true });
  await v.page.goto(magnet);
  assert.equal(await v.page.locator('.tiles [data-metric=people]').getAttribute('data-value'), '1');
});

longTest('dashboard: the head of a long table stays in view', async (t) => {
  const v = await newDesktop(t);
  await signIn(v, setting('LODESTONE_PAST_API_KEY'), '/dashboard/readers');
  await v.page.locator('table.people tbody tr').nth(40).scrollIntoViewIfNeeded();
  const { y } = await v.page.locator('table.people thead th').first().boundingBox();
  assert.ok(y >= 0 && y < 60, `the head is at ${y} px`);
  await v.page.locator('table.people thead .term').first().hover();
  await v.page.locator('table.people thead .def').first().waitFor();
  await v.fits();
  await v.accessible();
  await v.screenshot('dashboard-head');
});

longTest('dashboard: the lead magnets are in the order that the address names', async (t) => {
  const v = await newDesktop(t);
  await signIn(v, setting('LODESTONE_PAST_API_KEY'), '/dashboard?days=60');
  const head = v.page.locator('table.magnets').getByRole('link', { name: /^Downloaded/ });
  await head.click();
  await v.page.waitForURL((u) => u.searchParams.get('sort') === 'people_downloaded' && u.searchParams.get('days') === '60');
  assert.match(await v.page.locator('table.magnets th[aria-sort]').innerText(), /Downloaded/);
  await v.fits();
  await v.accessible();
  await v.screenshot('dashboard-sorted', { full: true });
});
