// Passkeys, by an authenticator that Chromium simulates. Browsers offer none for an IP address, so the installation is at localhost.
import assert from 'node:assert/strict';

import { newDesktop } from './browser.js';
import { setting, site, test } from './suite.js';

const screen = `${site}/dashboard/settings/passkeys`;

test('passkey: added in the settings, used on the sign-in page, removed', async (t) => {
  const v = await newDesktop(t, { expected: [/status of 422/] });
  const { page } = v;
  const cdp = await v.context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options: {
    protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true,
  } });
  const kept = async () => (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
  const button = (name) => page.getByRole('button', { name });
  const signOut = async () => {
    await button('Sign out').click();
    await page.getByText('You are signed out.').waitFor();
  };

  await page.goto(setting('LODESTONE_DASHBOARD_URL'));
  await page.goto(screen);
  await button('Add a passkey').waitFor();
  assert.equal(await page.getByText('with JavaScript switched on').isVisible(), false);
  await v.look('dashboard-settings-passkeys-none');
  await page.getByLabel('Name').fill('Desk');
  await page.getByLabel('Name').press('Enter');
  await page.getByText('The passkey is added.').waitFor();
  await page.getByRole('rowheader', { name: 'Desk' }).waitFor();
  const [credential] = await kept();
  assert.deepEqual([credential.isResidentCredential, credential.rpId], [true, 'localhost']);
  await v.look('dashboard-settings-passkeys');

  await button('Add a passkey').click();
  await page.getByText('already has a passkey for you').waitFor();
  assert.equal((await kept()).length, 1);

  // On to the screen that was asked for, without an address, by keyboard.
  await signOut();
  await page.goto(`${screen}?x=1`);
  await button('Sign in with a passkey').waitFor();
  await v.look('sign-in-passkey');
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
  await button('Sign in with a passkey').press('Enter');
  await page.getByText('No passkey was used.').waitFor();
  await v.look('sign-in-passkey-cancelled');
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
  await button('Sign in with a passkey').press('Enter');
  await page.waitForURL(`${screen}?x=1`);
  await page.goto(`${site}/dashboard/settings/sessions`);
  await page.getByText('with a passkey').waitFor();

  await page.goto(screen);
  await page.locator('tbody summary').click();
  await button('Remove the passkey').click();
  await page.getByText('Removed.').waitFor();
  assert.equal(await page.locator('tbody tr').count(), 0);
  await signOut();
  await button('Sign in with a passkey').click(); // the authenticator still has it
  await page.getByText('This passkey was not accepted.').waitFor();
  assert.equal(new URL(page.url()).pathname, '/dashboard/sign-in/passkey');
  await v.behaved();
});

test('passkey: without scripts, or without passkeys in the browser, there is no button', async (t) => {
  for (const o of [{ scripts: false }, {}]) {
    const v = await newDesktop(t, o);
    await v.context.addInitScript(() => delete window.PublicKeyCredential);
    await v.page.goto(`${site}/dashboard/sign-in`);
    await v.page.getByRole('button', { name: 'Email me a link and a code' }).waitFor();
    assert.equal(await v.page.getByRole('button', { name: 'Sign in with a passkey' }).isVisible(), false);
  }
});
