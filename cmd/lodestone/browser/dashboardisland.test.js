// Parts of the dashboard that go on by themselves: who reads now, and charts to explore.
import assert from 'node:assert/strict';

import { newAccessLink } from './api.js';
import { newDesktop, newPhone, signIn } from './browser.js';
import { collector, eventually, longTest, setting, site, test } from './suite.js';

const person = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36';
const bot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

/** Views a page of a link's document, as its reader or as a bot. */
async function read(link, page, agent = person) {
  const answer = await fetch(`${collector}/v1/events`, {
    method: 'POST', headers: { 'content-type': 'application/json', 'user-agent': agent },
    body: JSON.stringify({ token: link.tracking_token, event_type: 'page_viewed', event_data: { page, duration_ms: 1500 } }),
  });
  assert.equal(answer.status, 202);
}

let number = 0;
const newReader = () => newAccessLink({ email: `live-${process.pid}-${number++}@example.com` });

/** Opens the live screen, and waits until its stream is there and it has asked for what happened before. */
async function openLive(v) {
  const renewed = v.page.waitForResponse((r) => r.url() === `${site}/dashboard/live` && r.request().resourceType() === 'fetch');
  await signIn(v, setting('LODESTONE_API_KEY'), '/dashboard/live');
  await v.page.locator('#state', { hasText: /^connected$/ }).waitFor();
  await renewed;
}

test('live: a cell fills by the event alone, and a new reader appears', async (t) => {
  const v = await newDesktop(t);
  const ada = await newReader();
  await read(ada, 1);
  await openLive(v);
  const card = v.page.locator('.live .card', { hasText: ada.email });
  await card.locator('.cells .on:nth-child(1)').waitFor();
  assert.equal(await card.locator('.cells .on').count(), 1);
  // From here on, the server's list cannot be what changes the screen.
  await v.page.route(`${site}/dashboard/live`, (route) => route.abort());
  v.options.expected = [/ERR_FAILED/];
  await read(ada, 3);
  await card.locator('.cells .on:nth-child(3)').waitFor();
  await card.getByText('Page 3 of 12').waitFor();
  await v.page.unroute(`${site}/dashboard/live`);
  const bob = await newReader();
  // Whoever comes next is announced in place of bob.
  const announced = v.page.waitForFunction((words) => document.getElementById('announced')?.textContent.includes(words), `${bob.email} reads The guide to good guides`);
  await read(bob, 2);
  await v.page.locator('.live .card', { hasText: bob.email }).locator('.cells .on:nth-child(2)').waitFor();
  await announced;
  await v.accessible();
  await v.fits();
});

longTest('live: a visit of a bot is whole and grey, and no reader', async (t) => {
  const v = await newPhone(t);
  const link = await newReader();
  for (const page of [1, 2, 3]) await read(link, page, bot);
  await openLive(v);
  const card = v.page.locator(`.live .card.bot:has(a[href*="${link.id}"])`);
  await card.locator('.cells .on:nth-child(3)').waitFor();
  await read(link, 4, bot);
  await card.locator('.cells .on:nth-child(4)').waitFor();
  assert.equal(await card.locator('.cells .on').count(), 4);
  const colour = (e) => getComputedStyle(e).backgroundColor;
  const edge = await v.page.evaluate(() => getComputedStyle(document.body).getPropertyValue('--edge'));
  const grey = await v.page.evaluate((c) => Object.assign(document.createElement('i').style, { color: c }).color, edge);
  assert.equal(await card.locator('.on').first().evaluate(colour), grey);
  assert.equal(await v.page.locator('.live .card', { hasText: link.email }).count(), 0, 'a bot is not called by the name of the reader');
  await v.accessible();
  await v.fits();
  await v.screenshot('dashboard-live-bot', { full: true });
  const plain = await newPhone(t, { scripts: false });
  await signIn(plain, setting('LODESTONE_API_KEY'));
  await plain.page.goto(`${site}/dashboard/live`);
  assert.equal(await plain.page.locator(`.live .card.bot:has(a[href*="${link.id}"]) .cells .on`).count(), 4);
});

test('live: a lost connection is shown, and nothing is missed', async (t) => {
  const v = await newDesktop(t, { reducedMotion: true, expected: [/ERR_INTERNET_DISCONNECTED/] });
  const ada = await newReader();
  await read(ada, 1);
  await openLive(v);
  const card = v.page.locator('.live .card', { hasText: ada.email });
  await card.waitFor();
  assert.equal(await card.locator('i').first().evaluate((e) => getComputedStyle(e).transitionDuration), '0s', 'nothing moves for those who want that');
  await v.offline();
  await v.page.locator('#state', { hasText: 'connection lost' }).waitFor();
  await v.accessible();
  await v.screenshot('dashboard-live-lost');
  await read(ada, 2);
  await v.offline(false);
  await v.page.locator('#state', { hasText: /^connected$/ }).waitFor();
  await card.locator('.cells .on:nth-child(2)').waitFor();
});

longTest('live: those who left turn grey, and go', async (t) => {
  const v = await newDesktop(t, { expected: [/ERR_FAILED/] });
  await v.page.clock.install();
  const ada = await newReader();
  await read(ada, 1);
  await openLive(v);
  const card = v.page.locator('.live .card', { hasText: ada.email });
  await card.waitFor();
  await v.page.route(`${site}/dashboard/live`, (route) => route.abort());
  // From here on, time passes by the test alone: no one goes before it looks.
  await v.page.clock.pauseAt(Date.now() + 60_000);
  const gone = v.page.locator('.live .card.gone', { hasText: ada.email });
  await eventually(async () => {
    await v.page.clock.fastForward('00:10');
    return await gone.count() > 0;
  }, 'a reader who left');
  assert.match(await gone.innerText(), /left, last seen 5 min/);
  await v.page.clock.resume();
  await v.accessible();
  await v.screenshot('dashboard-live-left');
  await v.page.clock.fastForward('00:30');
  await card.waitFor({ state: 'detached' });
});

longTest('live: the overview follows who reads now, and a hidden or left screen follows nothing', async (t) => {
  const v = await newDesktop(t);
  const ada = await newReader();
  await signIn(v, setting('LODESTONE_API_KEY'));
  const ended = new Set();
  v.page.on('requestfinished', (r) => ended.add(r));
  v.page.on('requestfailed', (r) => ended.add(r));
  const streams = () => v.requests.filter((r) => r.url().includes('/analytics/live') && !ended.has(r)).length;
  await v.page.goto(`${site}/dashboard`);
  await read(ada, 2);
  await v.page.locator('[data-island] .person', { hasText: ada.email }).locator('.on:nth-child(2)').waitFor();
  await eventually(async () => streams() === 1, 'the end of the stream of the page before');
  // Another period is drawn in place: the part begins again, and its stream with it.
  const again = v.page.waitForRequest(/analytics\/live/);
  await v.page.locator('.seg a').first().click();
  await again;
  await v.page.locator('[data-island] .person', { hasText: ada.email }).waitFor();
  await eventually(async () => streams() === 1, 'the end of the first stream');
  await v.page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  await eventually(async () => streams() === 0, 'the end of the stream');
});
