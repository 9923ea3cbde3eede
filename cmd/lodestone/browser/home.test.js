// The first page of `lodestone up`: a newcomer sees their own reading, live.
import assert from 'node:assert/strict';

import { newAccessLink } from './api.js';
import { newDesktop, newVisitor } from './browser.js';
import { devPage, test } from './suite.js';

const looks = [['phone', {}], ['phone', { dark: true }], ['desktop', {}], ['desktop', { dark: true }], ['phone', { scripts: false }]];
for (const [device, o] of looks) {
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
  const [tab] = await Promise.all([v.context.waitForEvent('page'), v.page.getByRole('link', { name: 'Open your landing page' }).click()]);
  await tab.getByLabel('Email address').fill(address);
  await tab.locator('form button').click();
  await tab.locator('html[data-ready]').waitFor();
  const shows = (text) => v.page.locator('.activities li', { hasText: address }).filter({ hasText: text }).waitFor({ state: 'attached' });
  await shows('asked for the document');
  await shows('opened the document');
  await tab.waitForTimeout(1500); // reading
  await tab.keyboard.press('ArrowRight');
  await shows('read page 1 for');
  await tab.waitForTimeout(1500);
  await tab.keyboard.press('ArrowRight');
  await shows('read page 2 for');
  await v.page.bringToFront();
  await v.accessible();
  await v.screenshot('home-live');
  const reader = v.page.locator('.activities li', { hasText: 'read page 2 for' }).getByRole('link', { name: address });
  assert.match(await reader.first().getAttribute('href'), /^\/dashboard\/readers\/[0-9a-f-]{36}$/);
  assert.equal(await v.page.getByRole('link', { name: 'Dashboard' }).getAttribute('href'), '/dashboard');

  // Without scripts, a reload shows the same.
  const plain = await newVisitor(t, 'phone', { scripts: false });
  await plain.page.goto(devPage('/'));
  const texts = await plain.page.locator('.activities li', { hasText: address }).allInnerTexts();
  assert.ok(texts.some((text) => text.includes('read page 2 for')), texts.join('\n'));
});

test('home: the visit of a bot is whole, and marked', async (t) => {
  const address = 'scanned@example.com';
  const v = await newDesktop(t);
  await v.page.goto(devPage('/'));
  const link = await newAccessLink({ email: address });
  const bot = await newVisitor(t, 'desktop', { context: { userAgent: 'Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/150.0.0.0 Safari/537.36' } });
  await bot.page.goto(link.url);
  await bot.page.locator('html[data-ready]').waitFor();
  const shows = (text) => v.page.locator('.activities li.bot', { hasText: address }).filter({ hasText: text }).waitFor({ state: 'attached' });
  await bot.page.waitForTimeout(1500); // reading
  await bot.page.keyboard.press('ArrowRight');
  await shows('read page 1 for');
  await shows('opened the document');
  await v.accessible();
  await v.screenshot('home-bot');

  // A page that is opened later shows the same.
  const plain = await newVisitor(t, 'phone', { scripts: false });
  await plain.page.goto(devPage('/'));
  const marked = await plain.page.locator('.activities li.bot', { hasText: address }).allInnerTexts();
  assert.ok(marked.some((text) => text.includes('opened the document')), marked.join('\n'));
});
