// Every screen of the dashboard without data, for a person who may only read, and with the demo's weeks, on each size of screen. Other tests act; this
// one looks.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { api, newAccessLink, newLink, newMagnet } from './api.js';
import { newDesktop, signIn } from './browser.js';
import { linkOf, mailTo } from './mail.js';
import { every, longTest, setting, site, test } from './suite.js';

/** Signs a visitor in as a person of the account, who was invited with a role. */
async function signInAs(v, role) {
  const email = `${role}-${randomUUID().slice(0, 8)}@example.com`;
  await api('POST', '/api/v1/invitations', { email, role });
  await v.page.goto(linkOf(await mailTo(email), '/dashboard/sign-in/invitation/'));
  await v.page.getByRole('button', { name: 'Join' }).click();
  await v.page.waitForURL(`${site}/dashboard`);
}

const looker = (v) => async (name, path) => {
  if (path) await v.page.goto(site + path);
  await v.page.locator('h1').first().waitFor();
  await v.look(`dashboard-${name}`);
};

longTest('dashboard: an account without anything', async (t) => {
  const v = await newDesktop(t);
  await signIn(v, setting('LODESTONE_EMPTY_API_KEY'));
  const look = looker(v);
  await v.page.getByRole('link', { name: 'Upload a PDF' }).waitFor();
  await look('empty-overview');
  for (const screen of ['readers', 'live', 'new', 'links', 'links/new', 'settings', 'settings/notices', 'settings/webhooks', 'settings/sessions', 'settings/usage']) {
    await look(`empty-${screen.replace('/', '-')}`, `/dashboard/${screen}`);
  }
  // An empty screen says what to do: there is a way on beside the navigation.
  for (const screen of ['readers', 'live', 'links', 'links/new']) {
    await v.page.goto(`${site}/dashboard/${screen}`);
    assert.ok(await v.page.locator('main a.button').first().isVisible(), screen);
  }
});

longTest('dashboard: a person who only reads', async (t) => {
  const link = await newLink();
  const v = await newDesktop(t, { expected: [/403/] });
  await signInAs(v, 'analyst');
  const look = looker(v);
  for (const [name, path] of [
    ['overview', ''], ['magnet', `/magnets/${link.lead_magnet_id}`], ['readers', '/readers'], ['live', '/live'], ['links', '/links'], ['link', `/links/${link.id}`],
    ['settings', '/settings'], ['settings-notices', '/settings/notices'], ['settings-alerts', '/settings/alerts'], ['settings-sessions', '/settings/sessions'], ['settings-usage', '/settings/usage'],
  ]) {
    await look(`analyst-${name}`, `/dashboard${path}`);
    // No form that the API would refuse: what remains signs out, ends sessions, filters or chooses, or is about the own weekly report.
    const forms = await v.page.locator('main form[method=post]').evaluateAll((all) => all.map((f) => f.getAttribute('action')).filter((a) => !/\/sessions\/|\/notices\/weekly$|\/sign-out$/.test(a)));
    assert.deepEqual(forms, [], `${name} has forms that a person who only reads may not send`);
    assert.equal(await v.page.getByRole('link', { name: 'New lead magnet' }).count(), 0);
  }
  for (const [name, path] of [['people', '/settings/people'], ['keys', '/settings/keys'], ['webhooks', '/settings/webhooks'], ['audit', '/settings/audit']]) {
    const answer = await v.page.goto(`${site}/dashboard${path}`);
    assert.equal(answer.status(), 403, name);
    await v.page.getByRole('heading', { name: 'You don’t have access to this' }).waitFor();
    if (name === 'people') await look('forbidden');
    await v.page.locator('main a').first().click(); // the way on
    await v.page.waitForURL(/\/dashboard/);
  }
});

test("dashboard: the demo's weeks", async (t) => {
  const v = await newDesktop(t);
  await signIn(v, setting('LODESTONE_PAST_API_KEY'));
  const look = looker(v);
  await look('weeks-overview');
  await v.page.locator('table.magnets tbody a').first().click();
  await v.page.waitForURL(/\/magnets\//);
  await look('weeks-magnet');
  await v.page.goto(`${site}/dashboard/readers`);
  await v.page.locator('table.people a').first().click();
  await v.page.waitForURL(/\/readers\/[0-9a-f-]+$/);
  await look('weeks-reader');
  // dashboardsetting.test.js looks at the others in `make test`, too.
  for (const screen of ['readers', 'live', 'new', ...every ? ['links', 'links/new', 'settings', 'settings/usage'] : []]) await look(`weeks-${screen.replace('/', '-')}`, `/dashboard/${screen}`);
  await v.page.goto(`${site}/dashboard/links`);
  await v.page.locator('main a[href*="/dashboard/links/"]:not([href*="/new"])').first().click();
  await v.page.waitForURL(/\/links\/[0-9a-f-]+/);
  await look('weeks-link');
});

longTest('dashboard: words that are wider than a phone', async (t) => {
  const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'.repeat(2);
  const magnet = await newMagnet({ title: long, description: long });
  const link = await newLink({ lead_magnet_id: magnet.id, title: long });
  const reader = await newAccessLink({ lead_magnet_id: magnet.id, email: `${'a'.repeat(60)}@${'b'.repeat(60)}.example.com` });
  const v = await newDesktop(t);
  await signIn(v, setting('LODESTONE_API_KEY'));
  for (const [name, url] of [
    ['overview', '/dashboard'], ['links', '/dashboard/links'], ['link', `/dashboard/links/${link.id}`], ['magnet', `/dashboard/magnets/${magnet.id}`], ['edit', `/dashboard/magnets/${magnet.id}/edit`],
    ['shares', `/dashboard/magnets/${magnet.id}/shares`], ['reader', `/dashboard/readers/${reader.id}`], ['landing', new URL(link.url).pathname], ['viewer', new URL(reader.url).pathname],
  ]) {
    await v.page.goto(site + url);
    await v.page.locator('h1').first().waitFor({ state: 'attached' });
    for (const width of [1440, 720, 360]) { // 720 is 1440 at a zoom of 200 %
      await v.page.setViewportSize({ width, height: 640 });
      await v.fits();
    }
    await v.screenshot(`dashboard-long-${name}`, { full: name !== 'viewer' });
  }
});

test('dashboard: screens of things that are not there, and of addresses that are wrong', async (t) => {
  const v = await newDesktop(t, { expected: [/4\d\d/] });
  await signIn(v, setting('LODESTONE_EMPTY_API_KEY'), '/dashboard/settings');
  for (const [name, path] of [
    ['magnet', `/magnets/${randomUUID()}`], ['id', '/magnets/x'], ['link', `/links/${randomUUID()}`], ['reader', `/readers/${randomUUID()}`], ['nothing', '/nothing/here'],
    ['query', '?days=x&metric=nothing'], ['days', '?from=2026-13-40&to=x'],
  ]) {
    await v.page.goto(`${site}/dashboard${path}`);
    await v.page.locator('h1').first().waitFor();
    assert.notEqual(await v.page.locator('h1').first().innerText(), '', path);
    if (every || ['magnet', 'query'].includes(name)) await v.accessible(); // the others show the same page
    await v.screenshot(`dashboard-missing-${name}`);
  }
});
