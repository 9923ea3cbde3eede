// Every screen of the dashboard without data, for a person who may only read, and on the sizes of screens that the other tests leave out.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { api, newLink } from './api.js';
import { newDesktop, newVisitor, signIn } from './browser.js';
import { linkOf, mailTo } from './mail.js';
import { setting, site, test } from './suite.js';

const zoom = { context: { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 } };
const looks = [
  ['phone', {}], ['phone', { dark: true }], ['tablet', {}], ['tablet', { dark: true }], ['desktop', {}], ['desktop', { dark: true }], ['desktop', zoom, '-zoom'],
];

/** Signs a visitor in as a person of the account, who was invited with a role. */
async function signInAs(v, role) {
  const email = `${role}-${randomUUID().slice(0, 8)}@example.com`;
  await api('POST', '/api/v1/invitations', { email, role });
  await v.page.goto(linkOf(await mailTo(email), '/dashboard/sign-in/invitation/'));
  await v.page.getByRole('button', { name: 'Join' }).click();
  await v.page.waitForURL(`${site}/dashboard`);
}

const looker = (v, mark) => async (name, path) => {
  if (path) await v.page.goto(site + path);
  await v.page.locator('h1').first().waitFor();
  await v.accessible();
  await v.fits();
  await v.screenshot(`dashboard-${name}${mark}`, { full: true });
};

for (const [device, o, mark = ''] of looks) {
  test(`dashboard: an account without anything, ${device}${mark} ${JSON.stringify({ dark: o.dark })}`, async (t) => {
    const v = await newVisitor(t, device, o);
    await signIn(v, setting('LODESTONE_EMPTY_API_KEY'));
    const look = looker(v, mark);
    await v.page.getByRole('link', { name: 'Upload a PDF' }).waitFor();
    await look('empty-overview');
    for (const screen of ['readers', 'live', 'new', 'links', 'links/new', 'settings', 'settings/notices', 'settings/webhooks', 'settings/sessions', 'settings/usage']) {
      await look(`empty-${screen.replace('/', '-')}`, `/dashboard/${screen}`);
      // An empty screen says what to do: there is always a way on beside the navigation.
      assert.ok(await v.page.locator('main').getByRole('link').or(v.page.locator('main').getByRole('button')).or(v.page.locator('main p')).count() > 0, screen);
    }
  });

  test(`dashboard: a person who only reads, ${device}${mark} ${JSON.stringify({ dark: o.dark })}`, async (t) => {
    const link = await newLink();
    const v = await newVisitor(t, device, { ...o, expected: [/403/] });
    await signInAs(v, 'analyst');
    const look = looker(v, mark);
    for (const [name, path] of [
      ['overview', ''], ['magnet', `/magnets/${link.lead_magnet_id}`], ['readers', '/readers'], ['live', '/live'], ['links', '/links'], ['link', `/links/${link.id}`],
      ['settings', '/settings'], ['settings-notices', '/settings/notices'], ['settings-sessions', '/settings/sessions'], ['settings-usage', '/settings/usage'],
    ]) {
      await look(`analyst-${name}`, `/dashboard${path}`);
      // No form that the API would refuse: what remains signs out, ends sessions, filters or chooses.
      const forms = await v.page.locator('main form[method=post]').evaluateAll((all) => all.map((f) => f.getAttribute('action')).filter((a) => !/\/sessions\//.test(a)));
      assert.deepEqual(forms, [], `${name} has forms that a person who only reads may not send`);
      assert.equal(await v.page.getByRole('link', { name: 'New lead magnet' }).count(), 0);
    }
    for (const [name, path] of [['people', '/settings/people'], ['keys', '/settings/keys'], ['webhooks', '/settings/webhooks'], ['audit', '/settings/audit']]) {
      const answer = await v.page.goto(`${site}/dashboard${path}`);
      assert.equal(answer.status(), 403, name);
      await v.page.getByRole('heading', { name: 'You may not see this' }).waitFor();
      await look(`forbidden-${name}`);
      await v.page.locator('main a').first().click(); // the way on
      await v.page.waitForURL(/\/dashboard/);
    }
  });
}

for (const [device, o, mark] of looks.filter(([device, , mark]) => device === 'tablet' || mark)) {
  test(`dashboard: the demo's weeks, ${device}${mark ?? ''} ${JSON.stringify({ dark: o.dark })}`, async (t) => {
    const v = await newVisitor(t, device, o);
    await signIn(v, setting('LODESTONE_PAST_API_KEY'));
    const look = looker(v, mark ?? '');
    await look('overview');
    await v.page.locator('table.magnets a').first().click();
    await v.page.waitForURL(/\/magnets\//);
    await look('magnet');
    await look('readers', '/dashboard/readers');
    await v.page.locator('table.people a').first().click();
    await v.page.waitForURL(/\/readers\/[0-9a-f-]+$/);
    await look('reader');
    for (const screen of ['live', 'new', 'links', 'links/new', 'settings', 'settings/usage']) await look(screen.replace('/', '-'), `/dashboard/${screen}`);
    await v.page.goto(`${site}/dashboard/links`);
    await v.page.locator('main a[href*="/dashboard/links/"]:not([href*="/new"])').first().click();
    await v.page.waitForURL(/\/links\/[0-9a-f-]+/);
    await look('link');
  });
}

test('dashboard: screens of things that are not there, and of addresses that are wrong', async (t) => {
  const v = await newDesktop(t, { expected: [/4\d\d/] });
  await signIn(v, setting('LODESTONE_EMPTY_API_KEY'));
  for (const path of [`/magnets/${randomUUID()}`, '/magnets/x', `/links/${randomUUID()}`, `/readers/${randomUUID()}`, '/nothing/here', '?days=x&metric=nothing', '?from=2026-13-40&to=x']) {
    await v.page.goto(`${site}/dashboard${path}`);
    await v.page.locator('h1').first().waitFor();
    assert.notEqual(await v.page.locator('h1').first().innerText(), '', path);
    await v.accessible();
    await v.screenshot(`dashboard-missing${path.replace(/[^a-z]+/g, '-').slice(0, 24)}`);
  }
});
