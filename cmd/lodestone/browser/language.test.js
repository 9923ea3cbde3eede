// Pages for visitors in each language: no word breaks a layout of 360 px, and every page says which language it is in.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { api, newAccessLink, newLink } from './api.js';
import { newVisitor } from './browser.js';
import { mailTo } from './mail.js';
import { devPage, site, test } from './suite.js';

const languages = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl'];

/** Asserts that nothing is wider than the window or than what it stands in, and that the page is in a language. */
async function laidOut(v, language) {
  assert.equal(await v.page.evaluate(() => document.documentElement.lang), language);
  await v.fits();
  const broken = await v.page.evaluate(() => [...document.querySelectorAll('button, .button, label, h1, h2, p, dd, a')]
    .filter((e) => e.checkVisibility() && !e.closest('.unseen, .bar .name, .trap, .textLayer'))
    .filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline' && e.clientWidth > 1)
    .map((e) => `${e.tagName} ${e.className}: ${e.textContent.trim().slice(0, 60)}`));
  assert.deepEqual(broken, [], `too wide, in ${language}`);
}

for (const [i, language] of languages.entries()) {
  test(`language: every page, ${language}`, async (t) => {
    // Both schemes and kinds of screens take turns.
    const dark = i % 2 === 1;
    const v = await newVisitor(t, 'phone', { dark, expected: [/4\d\d/], context: { locale: language } });
    const shot = (name) => v.screenshot(`language-${language}-${name}`, { full: name !== 'viewer' });
    const link = await newLink({ require_verification: true, collect_name: true, consent_text: 'Yes', description: 'Twelve short chapters.' });
    await v.page.goto(link.url, { waitUntil: 'networkidle' });
    await laidOut(v, language);
    await shot('landing');
    await v.page.locator('form button[type=submit]').click();
    await v.page.locator('#email-wrong').waitFor();
    await laidOut(v, language);
    await v.accessible();
    await shot('mistakes');
    const address = `eve-${randomUUID().slice(0, 8)}@example.com`;
    await v.page.locator('#email').fill(address);
    await v.page.locator('#name').fill('Eve');
    await v.page.locator('#consent').check();
    await v.page.locator('form button[type=submit]').click();
    await v.page.locator('#code').waitFor();
    await laidOut(v, language);
    await v.accessible();
    await shot('sent');
    const mail = await mailTo(address);
    assert.match(mail.html, new RegExp(`<html lang="${language}">`));
    await v.page.locator('#code').fill(mail.text.match(/\b\d{6}\b/)[0]);
    await v.page.waitForURL(/\/a\//);
    await v.page.locator('html[data-ready]').waitFor();
    await laidOut(v, language);
    await shot('viewer');
    await v.page.locator('#more').click();
    await laidOut(v, language);
    await v.screenshot(`language-${language}-menu`);
    await v.page.keyboard.press('Escape');
    await v.page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await v.page.locator('#again').waitFor();
    await laidOut(v, language);
    await v.screenshot(`language-${language}-end`);
    const second = await mailTo(address, 2);
    await v.page.goto(devPage(`/dev/mailbox/${second.id}/html`));
    await v.fits();
    await v.screenshot(`language-${language}-mail`);
    // Statuses, and a desktop with the list of keys.
    await v.page.goto(`${site}/l/nothing-here-${randomUUID().slice(0, 8)}`);
    await laidOut(v, language);
    const closed = await newAccessLink({ max_views: 1 });
    await api('PATCH', `/api/v1/access-links/${closed.id}`, { is_active: false });
    await v.page.goto(closed.url);
    await laidOut(v, language);
    await shot('closed');
    const d = await newVisitor(t, 'desktop', { dark, context: { locale: language } });
    await d.page.goto((await newAccessLink()).url);
    await d.page.locator('html[data-ready]').waitFor();
    await d.page.keyboard.press('?');
    await laidOut(d, language);
    await d.accessible(d.page, (rule, html) => rule === 'target-size' && html.includes('link-spot'));
    await d.screenshot(`language-${language}-keys`);
    await d.page.keyboard.press('Escape');
    await d.page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await d.screenshot(`language-${language}-end`);
  });
}

test('language: the one of the link counts for more than the browser’s', async (t) => {
  const link = await newLink({ language: 'pl' });
  const v = await newVisitor(t, 'phone', { context: { locale: 'de' } });
  await v.page.goto(link.url);
  await laidOut(v, 'pl');
  const address = `eve-${randomUUID().slice(0, 8)}@example.com`;
  await v.page.locator('#email').fill(address);
  await v.page.locator('form button[type=submit]').click();
  await v.page.locator('html[data-ready]').waitFor();
  await laidOut(v, 'pl');
  assert.match((await mailTo(address)).subject, /^Zamówiony dokument/);
});
