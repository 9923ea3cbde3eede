// The first page of `lodestone up`: a newcomer sees their own reading, live, one row a session.
import assert from 'node:assert/strict';

import { newAccessLink, newLink } from './api.js';
import { newDesktop, newVisitor } from './browser.js';
import { linkOf, mailTo } from './mail.js';
import { devPage, eventually, every, longTest, taken, test } from './suite.js';

const looks = [['phone', {}], ['phone', { dark: true }], ['desktop', {}], ['desktop', { dark: true }], ['phone', { scripts: false }]];
for (const [device, o] of taken(looks)) {
  test(`home: the page, ${device} ${JSON.stringify(o)}`, async (t) => {
    const v = await newVisitor(t, device, o);
    await v.page.goto(devPage('/'));
    await v.page.locator('a.button').waitFor();
    await v.accessible();
    await v.fits();
    await v.screenshot('home');
  });
}

test('home: a newcomer sees each page that they read', async (t) => {
  const address = 'newcomer@example.com';
  const v = await newDesktop(t);
  await v.page.goto(devPage('/'));
  const number = (metric) => v.page.locator(`#today [data-metric=${metric}]`).getAttribute('data-value').then(Number);
  const before = { submissions: await number('submissions'), readers: await number('people') };
  const [tab] = await Promise.all([v.context.waitForEvent('page'), v.page.getByRole('link', { name: 'Open your landing page' }).click()]);
  const row = v.page.locator('.visits li', { hasText: address });
  const shows = (text) => row.filter({ hasText: text }).waitFor({ state: 'attached' });
  await tab.getByLabel('Email address').fill(address);
  await tab.locator('form button').click();
  await tab.locator('html[data-ready]').waitFor();
  await shows('opened');
  await tab.waitForTimeout(1500); // reading
  await tab.keyboard.press('ArrowRight');
  await shows('1 of 12 pages');
  await tab.waitForTimeout(1500);
  await tab.keyboard.press('ArrowRight');
  await shows('2 of 12 pages');
  const texts = await row.evaluateAll((all) => all.map((li) => li.outerHTML));
  assert.equal(texts.length, 1, `a session is one row\n${texts.join('\n')}`);
  assert.equal(await row.locator('.cells i').count(), 12);
  await eventually(async () => (await row.locator('.cells .on').count()) === 2, 'two cells are full');
  assert.match(await row.locator('.facts').innerText(), /^2 of 12 pages · [\d.]+ (s|min( \d+ s)?)$/);

  // Others read as well, so the numbers grow by at least one.
  await eventually(async () => (await number('submissions')) > before.submissions && (await number('people')) > before.readers, 'the numbers of the day grow');
  const seen = await v.page.evaluate(() => [...document.querySelectorAll('#today [data-metric]')].map((e) => e.dataset.metric));
  assert.deepEqual(seen, ['visitors', 'submissions', 'people', 'people_finished']);

  // A download, and the focus stays where it is while the row changes.
  await row.getByRole('link', { name: address }).focus();
  const file = tab.waitForEvent('download');
  await tab.locator('#download, a[download]').first().click();
  await (await file).path();
  await shows('downloaded');
  await eventually(() => v.page.evaluate((a) => document.activeElement.textContent === a, address), 'the focus is kept');
  await v.page.bringToFront();
  await v.accessible();
  await v.screenshot('home-live');

  const reader = row.getByRole('link', { name: address });
  assert.match(await reader.getAttribute('href'), /^\/dashboard\/readers\/[0-9a-f-]{36}$/);
  assert.match(await row.locator('a.what').getAttribute('href'), /^\/dashboard\/magnets\/[0-9a-f-]{36}$/);
  assert.equal(await v.page.getByRole('link', { name: 'Dashboard' }).getAttribute('href'), '/dashboard');

  // Without scripts, a reload shows the same.
  for (const [device, o] of [['phone', { scripts: false }], ...every ? [['phone', { scripts: false, dark: true }], ['desktop', { scripts: false, dark: true }]] : []]) {
    const plain = await newVisitor(t, device, o);
    await plain.page.goto(devPage('/'));
    const same = plain.page.locator('.visits li', { hasText: address });
    assert.match(await same.locator('.facts').innerText(), /^[2-9] of 12 pages · .* · downloaded$/);
    assert.ok(await same.locator('.cells .on').count() >= 2);
    await plain.accessible();
    await plain.fits();
    await plain.screenshot('home-live');
  }
});

test('home: a form is a row until its document is opened', async (t) => {
  const address = 'waiting@example.com';
  const v = await newDesktop(t);
  await v.page.goto(devPage('/'));
  const link = await newLink({ require_verification: true });
  const visitor = await newVisitor(t, 'phone');
  await visitor.page.goto(link.url);
  await visitor.page.getByLabel('Email address').fill(address);
  await visitor.page.locator('form button[type=submit]').first().click();
  const row = v.page.locator('.visits li', { hasText: address });
  await row.filter({ hasText: 'asked for the document' }).waitFor({ state: 'attached' });
  await visitor.page.goto(linkOf(await mailTo(address), '/verify/'));
  await visitor.page.getByRole('button', { name: 'Confirm and read' }).click();
  await visitor.page.locator('html[data-ready]').waitFor();
  await row.filter({ hasText: 'opened' }).waitFor({ state: 'attached' });
  await eventually(async () => (await row.count()) === 1, 'the form becomes the visit');
});

longTest('home: the visit of a bot is whole, and marked', async (t) => {
  const address = 'scanned@example.com';
  const v = await newDesktop(t);
  await v.page.goto(devPage('/'));
  const link = await newAccessLink({ email: address });
  const bot = await newVisitor(t, 'desktop', { context: { userAgent: 'Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/150.0.0.0 Safari/537.36' } });
  await bot.page.goto(link.url);
  await bot.page.locator('html[data-ready]').waitFor();
  const row = v.page.locator('.visits li.bot', { hasText: address });
  await bot.page.waitForTimeout(1500); // reading
  await bot.page.keyboard.press('ArrowRight');
  await row.filter({ hasText: '1 of 12 pages' }).waitFor({ state: 'attached' });
  assert.equal(await row.locator('.mark').innerText(), 'bot');
  assert.equal(await row.locator('.cells .on').count(), 1);
  await v.accessible();
  await v.screenshot('home-bot');

  // A page that is opened later shows the same.
  const plain = await newVisitor(t, 'phone', { scripts: false });
  await plain.page.goto(devPage('/'));
  const marked = await plain.page.locator('.visits li.bot', { hasText: address }).allInnerTexts();
  assert.equal(marked.length, 1);
  assert.match(marked[0], /bot[\s\S]*1 of 12 pages/);
});
