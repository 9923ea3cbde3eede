// Every page of visitors in every state, on each size of screen, light and dark, and at a zoom of 200 %. Other tests act; this one looks.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { api, guideMagnet, newAccessLink, newLink } from './api.js';
import { newDesktop } from './browser.js';
import { linkOf, mailTo } from './mail.js';
import { eventually, setting, site, test } from './suite.js';

const newAddress = () => `look-${randomUUID().slice(0, 8)}@example.com`;
// Notices go to one address of an account: no other test changes that of this one.
const quiet = (method, path, body) => api(method, path, body, { authorization: `Bearer ${setting('LODESTONE_EMPTY_API_KEY')}` });

/** Sends the form of a link, as its page does. Returns the address of the page that follows, or the status. */
async function submit(link, email) {
  const answer = await fetch(link.url, { method: 'POST', body: new URLSearchParams({ email }), redirect: 'manual' });
  return { status: answer.status, url: answer.headers.get('location') && new URL(answer.headers.get('location'), site).href };
}

let made;

/** What all looks see: [name, address, heading, status]. Nothing of it changes by being looked at. */
const scene = () => (made ??= (async () => {
  const magnet = await guideMagnet();
  let expires; // the last of what expires
  const shortly = () => (expires = new Date(Date.now() + 8_000)).toISOString();
  // A request that takes longer than that is refused, and made again.
  const expired = await eventually(() => newAccessLink({ expires_at: shortly() }), 'a link that expires');
  const shares = `/api/v1/lead-magnets/${magnet.id}/shares`;
  const share = await api('POST', shares, {});
  const old = await eventually(() => api('POST', shares, { expires_at: shortly() }), 'a share that expires');
  const locked = await api('POST', shares, { password: 'correct horse' });
  const revoked = await api('POST', shares, {});
  await api('DELETE', `${shares}/${revoked.id}`);
  const checked = await newLink({ require_verification: true, collect_name: false, description: 'Twelve short chapters on writing guides that people finish.' });
  const waiting = newAddress();
  const sent = await submit(checked, waiting);
  const ask = linkOf(await mailTo(waiting), '/verify/');
  const confirmed = newAddress();
  const done = await submit(checked, confirmed);
  const used = linkOf(await mailTo(confirmed), '/verify/');
  await fetch(used, { method: 'POST', headers: { 'sec-fetch-site': 'same-origin' }, redirect: 'manual' });
  const off = await newAccessLink();
  await api('PATCH', `/api/v1/access-links/${off.id}`, { is_active: false });
  const inactive = await newLink();
  await api('PATCH', `/api/v1/generic-links/${inactive.id}`, { active: false });
  const deleted = await newLink();
  await api('DELETE', `/api/v1/generic-links/${deleted.id}`);
  const empty = await api('POST', '/api/v1/lead-magnets', { title: 'Soon' });
  const soon = await newLink({ lead_magnet_id: empty.id });
  await new Promise((resolve) => { setTimeout(resolve, Math.max(0, expires - Date.now() + 100)); }); // until they have expired
  return {
    checked,
    pages: [
      ['landing', checked.url, 'The guide to good guides', 200],
      ['form-sent', sent.url, 'Check your email', 200],
      ['form-done', done.url, 'Your email address is confirmed', 200],
      ['confirm', ask, 'Confirm your email address', 200],
      ['confirm-used', used, 'This link has already been used', 410],
      ['viewer-expired', expired.url, 'This link has expired', 410],
      ['viewer-off', off.url, 'This link is switched off', 410],
      ['viewer-unknown', `${site}/a/nothing-here`, 'Page not found', 404],
      ['landing-inactive', inactive.url, 'This offer is closed', 410],
      ['landing-deleted', deleted.url, 'This page is gone', 410],
      ['landing-soon', soon.url, 'The document isn’t here yet', 404],
      ['not-found', `${site}/nothing/here`, 'Page not found', 404],
      ['share', share.url, null, 200],
      ['share-locked', locked.url, null, 200],
      ['share-revoked', revoked.url, 'Page not found', 404],
      ['share-expired', old.url, 'This link has expired', 410],
      ['sign-in', `${site}/dashboard/sign-in`, 'Sign in', 200],
    ],
  };
})());

const spots = (rule, html) => rule === 'target-size' && html.includes('link-spot');

test('state: every page of visitors', async (t) => {
  const { checked, pages } = await scene();
  const v = await newDesktop(t, { expected: [/4\d\d/] });
  const look = async (name, page = v.page) => {
    await page.locator('h1').first().waitFor();
    await v.look(`state-${name}`, { page, full: !name.startsWith('viewer'), except: spots });
  };
  for (const [name, url, heading, status] of pages) {
    const answer = await v.page.goto(url, { waitUntil: name === 'landing' ? 'networkidle' : 'load' });
    assert.equal(answer.status(), status, name);
    if (heading) await v.page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    await look(name);
  }

  // One view, and then none: another browser may not open it.
  const once = await newAccessLink({ max_views: 1 });
  await v.page.goto(once.url);
  await v.page.locator('html[data-ready]').waitFor();
  await look('viewer');
  const other = await newDesktop(t, { expected: [/410/] });
  await other.page.goto(once.url);
  await other.page.getByRole('heading', { name: 'This link has been used up' }).waitFor();
  await look('viewer-used-up', other.page);

  // Five mails an hour to a mailbox.
  const flooded = newAddress();
  for (let i = 0; i < 5; i++) {
    const answer = await submit(await newLink({ require_verification: true }), flooded);
    assert.equal(answer.status, 303);
  }
  await v.page.goto((await newLink({ require_verification: true })).url);
  await v.page.getByLabel('Email address').fill(flooded);
  await v.page.locator('form button[type=submit]').click();
  await v.page.getByRole('heading', { name: 'Too many requests' }).waitFor();
  await look('too-many');

  // What is wrong with a form, and with a password.
  await v.page.goto(checked.url);
  await v.page.getByLabel('Email address').fill('eve');
  await v.page.locator('form button[type=submit]').click();
  await v.page.locator('#email-wrong').waitFor();
  await look('landing-wrong');
  await v.page.goto(pages.find(([name]) => name === 'share-locked')[1]);
  await v.page.locator('#password:focus').waitFor();
  await v.page.keyboard.type('wrong horse');
  await v.page.keyboard.press('Enter');
  await v.page.getByText('Wrong password').waitFor();
  await look('share-wrong');
});

test('state: the pages of notices', async (t) => {
  const to = newAddress();
  await quiet('PATCH', '/api/v1/account', { notify_email: to });
  const v = await newDesktop(t, { expected: [/404/] });
  const look = async (name) => {
    await v.page.locator('h1').first().waitFor();
    await v.look(`state-notices-${name}`);
  };
  const confirm = linkOf(await mailTo(to), '/notices/confirm/');
  await v.page.goto(confirm);
  await look('confirm');
  await v.page.getByRole('button', { name: 'Confirm this email address' }).click();
  await v.page.getByRole('heading', { name: 'This email address is confirmed' }).waitFor();
  await look('confirmed');
  await v.page.getByRole('link', { name: 'Choose which ones' }).click();
  await v.page.waitForURL(/\/notices\/(?!confirm)/);
  await look('choose');
  await v.page.getByRole('button', { name: 'Turn off' }).first().click();
  await look('unsubscribed');
  await quiet('PATCH', '/api/v1/account', { notify_email: null });
  await v.page.goto(confirm);
  await v.page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await look('gone');
});
