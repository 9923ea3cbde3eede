// The dashboard while ClickHouse does not answer: each screen says what happened and what to do. It runs by itself, since no other test works then.
import assert from 'node:assert/strict';

import { newDesktop, signIn } from './browser.js';
import { setting, site, test } from './suite.js';

test('outage: every screen', async (t) => {
  const v = await newDesktop(t, { expected: [/50\d/, /event-stream|EventSource/] });
  // Signing in and what Postgres knows go on.
  await signIn(v, setting('LODESTONE_PAST_API_KEY'), '/dashboard/settings');
  const [settings, links, publish, ...broken] = await Promise.all(['/settings', '/links', '/new', '', '/readers', '/live'].map(async (path) => {
    const page = await v.context.newPage();
    await page.goto(`${site}/dashboard${path}`, { waitUntil: 'domcontentloaded' });
    await page.locator('h1').first().waitFor();
    return page;
  }));
  await settings.getByLabel('Name', { exact: true }).waitFor();
  await publish.getByLabel('PDF', { exact: true }).waitFor();
  await links.getByText('The numbers are unavailable').waitFor();
  assert.ok(await links.locator('main table a').count() > 0, 'the links are there without their numbers');
  for (const page of broken) {
    await page.getByRole('heading', { name: 'The numbers are unavailable' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Try again' }).getAttribute('href'), new URL(page.url()).pathname);
    assert.ok(await page.getByRole('link', { name: 'Settings', exact: true }).first().isVisible(), 'the other screens are one press away');
  }
  await v.look('outage-links', { page: links });
  for (const [i, name] of ['overview', 'readers', 'live'].entries()) await v.look(`outage-${name}`, { page: broken[i] });
});
