// Signing in with OpenID Connect, at a real provider on another site (cmd/lodestone-lab/openidcheck/provider).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { api } from './api.js';
import { newVisitor, signedOut } from './browser.js';
import { setting, site, test } from './suite.js';

const screen = `${site}/dashboard`;
const asks = `${site}/dashboard/sign-in`;
const issuer = process.env.BROWSER_OPENID_ISSUER;
let addresses = 0;

const visitor = (t, device, o = {}) => newVisitor(t, device, {
  ...o, origins: [setting('BROWSER_OPENID_ISSUER')], expected: [/40[03]/, /favicon\.ico/, signedOut], context: { extraHTTPHeaders: { 'X-Forwarded-For': `203.0.113.${addresses++ % 256}` } },
});

const newPerson = () => ({ subject: randomUUID(), email: `openid-${randomUUID().slice(0, 8)}@example.com` });

/** Presses the button, and signs in at the provider. @param {{subject: string, email: string}} who */
async function pass(v, { subject, email }) {
  await v.page.getByRole('link', { name: 'Sign in with Example ID' }).click();
  await v.page.waitForURL(`${issuer}/login/username?*`);
  await v.page.getByLabel('Username:').fill(`${subject} ${email}`);
  await v.page.getByLabel('Password:').fill('secret');
  await v.page.getByRole('button', { name: 'Login' }).click();
}

async function signOut(v) {
  await v.page.goto(screen);
  await v.page.getByRole('button', { name: 'Sign out' }).click();
  await v.page.getByText('You are signed out.').waitFor();
}

for (const [device, o] of [['phone', {}], ['phone', { dark: true, scripts: false }], ['desktop', { dark: true }], ['desktop', { scripts: false }]]) {
  test(`openid: there and back, ${device} ${JSON.stringify(o)}`, async (t) => {
    const v = await visitor(t, device, o);
    const look = async (name) => {
      await v.accessible();
      await v.fits();
      await v.screenshot(`openid-${name}`, { full: true });
    };
    const ada = newPerson();
    const next = `${screen}/readers?days=7`;
    await v.page.goto(next);
    await look('button');

    // Someone whom the provider knows, and no account.
    await pass(v, ada);
    await v.page.getByText('Ask an owner to invite you').waitFor();
    await look('stranger');

    // An invitation makes her one of them: the same press leads to the screen that was asked for.
    await api('POST', '/api/v1/invitations', { email: ada.email, role: 'owner' });
    await pass(v, ada);
    await v.page.waitForURL(next);
    await v.page.goto(`${screen}/settings/people`);
    await v.page.locator('tr, li', { hasText: ada.email }).first().waitFor();
    await look('people');
    await v.page.goto(`${screen}/settings/sessions`);
    const own = v.page.locator('tr, li', { hasText: ada.email }).first();
    assert.match(await own.innerText(), /with OpenID Connect/);
    await look('sessions');
    await signOut(v);

    // Another identity with her address, which the provider has not verified, is someone else. The identity stays hers under another address.
    await v.page.goto(asks);
    await pass(v, { subject: randomUUID(), email: `${ada.email}?` });
    await v.page.getByText('its answer has no email_verified claim').waitFor();
    assert.equal(new URL(v.page.url()).pathname, '/dashboard/sign-in/openid/callback');
    await v.page.goto(next);
    assert.equal(new URL(v.page.url()).pathname, '/dashboard/sign-in', 'no one is signed in');
    await pass(v, { subject: ada.subject, email: `renamed-${ada.email}?` });
    await v.page.waitForURL(next);
    await v.page.goto(`${screen}/settings/sessions`);
    await v.page.locator('tr, li', { hasText: ada.email }).first().waitFor();
    await signOut(v);
  });
}

test('openid: an answer of the provider works once, in the browser that asked', async (t) => {
  const ada = newPerson();
  await api('POST', '/api/v1/invitations', { email: ada.email, role: 'editor' });
  const v = await visitor(t, 'desktop');
  let back;
  v.page.on('request', (r) => { if (r.url().startsWith(`${asks}/openid/callback`)) back = r.url(); });
  await v.page.goto(asks);
  await pass(v, ada);
  await v.page.waitForURL(screen);
  await signOut(v);
  const refused = async (who, address) => {
    await who.page.goto(address);
    await who.page.getByText('Signing in with Example ID didn’t work. Try again.').waitFor();
    await who.page.goto(screen);
    assert.equal(new URL(who.page.url()).pathname, '/dashboard/sign-in');
  };
  await refused(v, back);
  await v.screenshot('openid-again');

  // An attacker's answer in the browser of a victim, who would work in the attacker's account from then on.
  const attacker = await visitor(t, 'desktop');
  await attacker.page.goto(asks);
  await attacker.page.getByRole('link', { name: 'Sign in with Example ID' }).click();
  await attacker.page.waitForURL(`${issuer}/login/username?*`);
  const { request } = attacker.context;
  const led = (answer) => answer.headers().location;
  const form = { id: await attacker.page.locator('[name=id]').inputValue(), username: `${ada.subject} ${ada.email}`, password: 'secret' };
  const passed = led(await request.post(`${issuer}/login/username`, { form, maxRedirects: 0 }));
  await refused(v, led(await request.get(new URL(passed, issuer).href, { maxRedirects: 0 })));
});

test('openid: who turns back at the provider starts again, and gets to the screen asked for', async (t) => {
  const ada = newPerson();
  await api('POST', '/api/v1/invitations', { email: ada.email, role: 'analyst' });
  const v = await visitor(t, 'phone');
  const next = `${screen}/readers?days=7`;
  await v.page.goto(next);
  await v.page.getByRole('link', { name: 'Sign in with Example ID' }).click();
  await v.page.waitForURL(`${issuer}/login/username?*`);
  // What a provider answers for someone who declines.
  const asked = v.requests.find((r) => r.url().startsWith(`${issuer}/auth?`));
  const state = new URL(asked.url()).searchParams.get('state');
  await v.page.goto(`${asks}/openid/callback?${new URLSearchParams({ error: 'access_denied', state })}`);
  await v.page.getByText('Signing in with Example ID didn’t work. Try again.').waitFor();
  await v.accessible();
  await v.screenshot('openid-declined');
  await pass(v, ada);
  await v.page.waitForURL(next);
});
