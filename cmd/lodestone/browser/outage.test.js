// The dashboard while ClickHouse does not answer: each screen says what happened and what to do. It runs by itself, since no other test works then.
import assert from 'node:assert/strict';

import { newVisitor } from './browser.js';
import { setting, site, test } from './suite.js';

const zoom = { context: { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 } };
for (const [device, o, mark = ''] of [['phone', {}], ['phone', { dark: true }], ['tablet', {}], ['desktop', {}], ['desktop', { dark: true }], ['desktop', zoom, '-zoom']]) {
  test(`outage: every screen, ${device}${mark} ${JSON.stringify({ dark: o.dark })}`, async (t) => {
    const v = await newVisitor(t, device, { ...o, expected: [/50\d/, /event-stream|EventSource/] });
    // Signing in and what Postgres knows go on.
    await v.page.goto(`${site}/dashboard/sign-in?next=/dashboard/settings`);
    await v.page.getByText('Use an API key instead').click();
    await v.page.locator('#key').fill(setting('LODESTONE_PAST_API_KEY'));
    await v.page.getByRole('button', { name: 'Sign in with the key' }).click();
    await v.page.waitForURL(`${site}/dashboard/settings`);
    for (const [name, path, works] of [
      ['settings', '/settings', true], ['links', '/links', true], ['new', '/new', true], ['overview', '', false], ['readers', '/readers', false], ['live', '/live', false],
    ]) {
      await v.page.goto(`${site}/dashboard${path}`, { waitUntil: 'domcontentloaded' });
      await v.page.locator('h1').first().waitFor();
      if (!works) {
        await v.page.getByRole('heading', { name: 'The numbers are not available' }).waitFor();
        assert.equal(await v.page.getByRole('link', { name: 'Try again' }).getAttribute('href'), `/dashboard${path}`);
        assert.ok(await v.page.getByRole('link', { name: 'Settings', exact: true }).first().isVisible(), 'the other screens are one press away');
      }
      await v.accessible();
      await v.fits();
      await v.screenshot(`outage-${name}${mark}`, { full: true });
    }
  });
}
