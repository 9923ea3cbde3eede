// The complete story of a new user: a link, a visitor who confirms an address, reads and downloads, and
// what the owner sees of it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { api, events, guide, newLink, newMagnet } from './api.js';
import { leave, newPhone } from './browser.js';
import { linkOf, mailTo } from './mail.js';
import { note } from './measure.js';
import { eventually, test } from './suite.js';

test('the complete story', async (t) => {
  const magnet = await newMagnet({ title: 'Worth the email', file: guide });
  const link = await newLink({ lead_magnet_id: magnet.id, require_verification: true, collect_name: true });
  const address = `ada-${randomUUID().slice(0, 8)}@example.com`;
  const submission = async () => (await api('GET', `/api/v1/generic-links/${link.id}/submissions`)).data[0];
  const v = await newPhone(t);
  const { page } = v;

  await page.goto(`${link.url}?utm_source=newsletter`);
  await page.getByLabel('Email address').fill(address);
  await page.getByLabel('Name').fill('Ada Lovelace');
  await page.getByRole('button', { name: 'Send me the document' }).click();
  await page.getByRole('heading', { name: 'Check your email' }).waitFor();
  await v.accessible();
  await v.screenshot('story-1-check-your-mail');
  const first = await submission();
  assert.deepEqual([first.email, first.name, first.verified, first.viewed], [address, 'Ada Lovelace', false, false]);

  const confirm = linkOf(await mailTo(address), '/verify/');
  await (await fetch(confirm)).text(); // as a scanner does
  assert.equal((await submission()).verified, false);
  await page.goto(confirm);
  await v.accessible();
  await v.screenshot('story-2-confirm');
  await page.getByRole('button', { name: 'Confirm and read' }).click();

  await page.locator('html[data-ready]').waitFor();
  await v.screenshot('story-3-reading');
  for (const n of [1, 2, 3, 4]) {
    await page.evaluate((k) => document.querySelector(`.page[data-page="${k}"]`).scrollIntoView(), n);
    await page.locator(`.page[data-page="${n}"] > canvas`).waitFor({ state: 'attached' });
    await page.waitForFunction((k) => document.querySelector('#number').value === k, String(n));
    await page.waitForTimeout(1500); // reading
  }
  await page.touchscreen.tap(180, 320); // brings the tools back, which hid while reading
  const [file] = await Promise.all([page.waitForEvent('download'), page.locator('#download').click()]);
  assert.deepEqual(new Uint8Array(await readFile(await file.path())), guide);
  await leave(page);
  const done = Date.now();

  await eventually(async () => {
    const all = await events({ lead_magnet_id: magnet.id });
    const pages = all.filter((e) => e.event_type === 'page_viewed').map((e) => e.event_data.page).sort();
    assert.deepEqual(pages, [1, 2, 3, 4]);
    assert.deepEqual(all.map((e) => e.event_type).filter((k) => k !== 'page_viewed').sort(), ['download_completed', 'download_started']);
    const summary = await api('GET', `/api/v1/analytics/email?${new URLSearchParams({ email: address.toUpperCase() })}`);
    assert.deepEqual([summary.total_links, summary.total_views, summary.unique_lead_magnets], [1, 1, 1]);
    assert.ok(summary.first_access);
    const s = await submission();
    assert.deepEqual([s.verified, s.viewed, s.view_count], [true, true, 1]);
    const seen = await api('GET', `/api/v1/generic-links/${link.id}`);
    assert.deepEqual([seen.view_count, seen.submission_count], [1, 1]);
    return true;
  }, 'what the owner sees');
  const seconds = (Date.now() - done) / 1000;
  note('story-seconds-until-the-owner-sees-all', seconds);
  console.log(`the owner saw all of it ${seconds.toFixed(1)} s after the visitor had left`);

  // The document comes by mail as well.
  const own = linkOf(await mailTo(address, 2), '/a/');
  const [access] = (await api('GET', `/api/v1/access-links?${new URLSearchParams({ email: address })}`)).data;
  assert.equal(own, access.url);
  assert.equal(access.view_count, 1);
});
