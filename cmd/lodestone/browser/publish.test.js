// A person with a PDF, from the address that a fresh `lodestone up` printed to the first reader: one step a picture, publish-01 and on. It runs by
// itself, on an installation that no one has used.
import assert from 'node:assert/strict';

import { guide } from './api.js';
import { newDesktop, newPhone } from './browser.js';
import { note } from './measure.js';
import { devPage, setting, site, test } from './suite.js';

const address = 'ada@example.com';

test('publish: from `up` to the first reader, without a terminal', async (t) => {
  const started = Number(process.env.BROWSER_UP_MS ?? 0); // how long the start of `up` took
  const begin = Date.now();
  let steps = 0, checks = 0;
  // What a person sees after each step. Only what looks at the page for the test's own sake is not part of the time.
  const seen = async (v, what, { full = false, page = v.page } = {}) => {
    const now = Date.now();
    await v.accessible(page, (rule, html) => rule === 'target-size' && html.includes('link-spot'));
    await v.fits(page);
    await v.screenshot(`publish-${String(++steps).padStart(2, '0')}-${what}`, { full, page });
    checks += Date.now() - now;
  };
  const passed = () => Date.now() - begin - checks;

  const owner = await newDesktop(t);
  const { page } = owner;
  await page.goto(setting('LODESTONE_DASHBOARD_URL'));
  await page.waitForURL(`${site}/dashboard`);
  await page.getByRole('heading', { name: 'Publish a PDF' }).waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
  assert.ok(await page.locator('main .two').evaluate((e) => e.offsetWidth > 0.9 * e.parentElement.clientWidth - 80), 'the first steps have the width of the screen, not that beside the period');
  await page.setViewportSize({ width: 1440, height: 900 });
  await seen(owner, 'signed-in');
  await page.getByRole('link', { name: 'Upload a PDF' }).click();
  await page.getByRole('heading', { name: 'Publish a PDF' }).waitFor();
  await page.getByLabel('PDF', { exact: true }).setInputFiles({
    name: 'worth-reading.pdf', mimeType: 'application/pdf', buffer: Buffer.from(guide),
  });
  await page.getByLabel('What readers get').fill('Twelve pages on guides that people ask for, open and finish.');
  await page.getByLabel('Require readers to confirm their email address').check();
  await seen(owner, 'chosen');
  await page.getByRole('button', { name: 'Publish' }).click();
  const landing = await page.locator('[role=status] a.address').innerText();
  assert.match(landing, /\/l\/worth-the-email/);
  note('publish-page-is-public_ms', started + passed());
  await seen(owner, 'published', { full: true });

  // The owner watches, and a visitor with a phone comes.
  await page.getByRole('link', { name: 'Live', exact: true }).click();
  await page.locator('#state', { hasText: 'connected' }).waitFor();
  await seen(owner, 'live-empty');
  const visitor = await newPhone(t);
  await visitor.page.goto(landing, { waitUntil: 'networkidle' });
  await seen(visitor, 'landing');
  await visitor.page.getByLabel('Email address').fill(address);
  await visitor.page.getByRole('button', { name: 'Send me the document' }).click();
  await visitor.page.getByRole('heading', { name: 'Check your email' }).waitFor();
  await seen(visitor, 'form-sent');

  // Their mail is in the mailbox of `up`, since there is no server for mails.
  const mailbox = await visitor.context.newPage();
  await mailbox.goto(devPage('/dev/mailbox'));
  await mailbox.locator('.mails a', { hasText: address }).first().click();
  const mail = mailbox.frameLocator('iframe');
  await mail.locator('a[href*="/verify/"]').first().waitFor();
  await seen(visitor, 'mail', { page: mailbox });
  const [confirm] = await Promise.all([visitor.context.waitForEvent('page'), mail.locator('a[href*="/verify/"]').first().click()]);
  await confirm.getByRole('button', { name: 'Confirm and read' }).waitFor();
  await seen(visitor, 'confirm', { page: confirm });
  await confirm.getByRole('button', { name: 'Confirm and read' }).click();
  await confirm.locator('html[data-ready]').waitFor();
  await seen(visitor, 'reading', { page: confirm });

  // Each page that was read fills a cell.
  const card = page.locator('.live .card', { hasText: address });
  for (const n of [1, 2, 3]) {
    await confirm.evaluate((k) => document.querySelector(`.page[data-page="${k}"]`).scrollIntoView(), n);
    await confirm.waitForFunction((k) => document.querySelector('#number').value === String(k), n);
    await confirm.waitForTimeout(1500); // reading
    if (n > 1) await card.locator(`.cells .on:nth-child(${n - 1})`).waitFor();
    if (n === 2) {
      note('publish-first-cell_ms', started + passed());
      console.log(`from the start of \`up\` to the first cell of the first reader: ${((started + passed()) / 1000).toFixed(1)} s, of which \`up\` took ${(started / 1000).toFixed(1)} s`);
    }
  }
  await seen(owner, 'live-reading');
  await confirm.goto(landing); // the last page is reported as it is left
  await card.getByRole('link').click();
  await page.locator('.moment svg[role=img]').first().waitFor();
  await seen(owner, 'reader', { full: true });
  await page.getByRole('link', { name: 'Overview', exact: true }).first().click();
  await page.locator('table.magnets tbody a', { hasText: /field guide to documents/i }).click();
  await page.waitForURL(/\/magnets\//);
  assert.equal(await page.locator('.tiles [data-metric=people]').getAttribute('data-value'), '1');
  await seen(owner, 'magnet', { full: true });
  note('publish-whole-story_ms', started + passed());
});
