// Signing in: every way in, on every kind of screen, and what others try.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { api, newMagnet } from './api.js';
import { newVisitor, signedOut, signInAnew } from './browser.js';
import { linkOf, mailTo } from './mail.js';
import { pdf } from './pdf.js';
import { collector, eventually, every, longTest, setting, site, test } from './suite.js';

const screen = `${site}/dashboard`;
const asks = `${site}/dashboard/sign-in`;
let addresses = 0;

/** A visitor from an address of its own: tries to sign in are counted by address. */
const visitor = (t, device = 'desktop', o = {}) => newVisitor(t, device, {
  ...o, expected: [signedOut, ...o.expected ?? []], context: { ...o.context, extraHTTPHeaders: { 'X-Forwarded-For': `198.51.100.${addresses++ % 256}` } },
});

/** Invites someone, and returns the address and the link of the invitation. */
async function invite(role = 'owner') {
  const email = `${role}-${randomUUID().slice(0, 8)}@example.com`;
  await api('POST', '/api/v1/invitations', { email, role });
  return { email, link: linkOf(await mailTo(email), '/dashboard/sign-in/invitation/') };
}

/** Returns the address of someone who has joined the account elsewhere. */
async function person(role) {
  const { email, link } = await invite(role);
  const answer = await fetch(link, { method: 'POST', redirect: 'manual' });
  assert.equal(answer.status, 303);
  return email;
}

/** Enters an address, and returns the mail that comes of it. The first mail is the invitation. */
async function ask(v, email, count = 2) {
  if (!v.page.url().startsWith(asks)) await v.page.goto(asks);
  await v.page.getByLabel('Email address').fill(email);
  await v.page.getByRole('button', { name: 'Email me a link and a code' }).click();
  await v.page.getByRole('heading', { name: 'Check your email' }).waitFor();
  return mailTo(email, count);
}

/** Signs someone in by the code of a mail. */
async function enter(v, email, count) {
  const mail = await ask(v, email, count);
  await v.page.getByLabel('Six-digit code').fill(mail.text.match(/\b\d{6}\b/)[0]);
  await v.page.getByRole('button', { name: 'Sign in' }).click();
}

const secretOf = async (v) => (await v.context.cookies()).find((c) => /^__Host-lodestone/.test(c.name))?.value;

/** Whether a page leads to the sign-in page, for a browser with nothing but a session's cookie. */
async function opens(name, value) {
  const answer = await fetch(`${screen}/settings`, { headers: { cookie: `${name}=${value}` }, redirect: 'manual' });
  return answer.status === 200;
}

const looks = [['phone', {}], ['phone', { dark: true, scripts: false }], ['desktop', { dark: true }], ['desktop', { scripts: false }]];
for (const [device, o] of every ? looks : [['desktop', {}]]) {
  test(`sign-in: every way, ${device} ${JSON.stringify(o)}`, async (t) => {
    const v = await visitor(t, device, { ...o, expected: [/4(22|10|03)/] });
    const look = async (name, page = v.page) => {
      if (!every) return v.look(`sign-in-${name}`, { page }); // on a phone and at a desktop
      await v.accessible(page);
      await v.fits(page);
      await v.screenshot(`sign-in-${name}`, { page });
    };
    // By an invitation, which a program that checks mails has opened.
    const { email, link } = await invite('editor');
    for (const method of ['HEAD', 'GET']) assert.equal((await fetch(link, { method })).status, 200);
    await v.page.goto(link);
    await look('invitation');
    await v.page.getByRole('button', { name: 'Join' }).click();
    await v.page.waitForURL(screen);
    await v.page.getByRole('button', { name: 'Sign out' }).click();
    await v.page.getByText('You are signed out.').waitFor();
    await look('out');
    await v.page.goto(link);
    await look('invitation-used');

    // By a code. What is no address, and a wrong code, are shown beside the field.
    await v.page.goto(`${screen}/live`);
    await v.page.getByLabel('Email address').fill('not an address');
    await v.page.getByRole('button', { name: 'Email me a link and a code' }).click();
    await v.page.locator('#email-wrong').waitFor();
    await look('wrong-address');
    const first = await ask(v, email);
    await look('wait');
    const code = first.text.match(/\b\d{6}\b/)[0];
    await v.page.getByLabel('Six-digit code').fill(String((Number(code) + 1) % 1_000_000).padStart(6, '0'));
    await v.page.getByRole('button', { name: 'Sign in' }).click();
    await v.page.getByText('That isn’t the code from the email.').waitFor();
    await look('wrong-code');
    await v.page.getByLabel('Six-digit code').fill(code);
    await v.page.getByRole('button', { name: 'Sign in' }).click();
    await v.page.waitForURL(`${screen}/live`);
    await v.page.getByRole('button', { name: 'Sign out' }).click();

    // By the link, in the browser that asked and in no other one.
    const mailed = linkOf(await ask(v, email, 3), '/dashboard/sign-in/link/');
    for (const method of ['HEAD', 'GET', 'GET', 'POST']) await fetch(mailed, { method });
    const other = await visitor(t, device, o);
    await other.page.goto(mailed);
    await other.page.getByRole('heading', { name: 'You’re in another browser' }).waitFor();
    assert.equal(await other.page.locator('form').count(), 0, 'a program that presses buttons finds none');
    await other.accessible();
    await other.screenshot('sign-in-elsewhere');
    const tab = await v.context.newPage();
    await tab.goto(mailed);
    await look('link', tab);
    await tab.getByRole('button', { name: 'Sign in' }).click();
    await tab.waitForURL(screen);
    await v.page.reload();
    await v.page.getByRole('heading', { name: 'You’ve signed in' }).waitFor();
    await look('wait-done');
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await tab.getByText('You are signed out.').waitFor();
    await tab.goto(mailed);
    await tab.getByRole('heading', { name: 'This link has already been used' }).waitFor();
    await look('link-used', tab);
    await tab.close();

    // By a key.
    await v.page.goto(asks);
    await v.page.getByText('Use an API key instead').click();
    await v.page.locator('#key').fill('no key');
    await v.page.getByRole('button', { name: 'Sign in with the key' }).click();
    await v.page.locator('#key-wrong').waitFor();
    await look('wrong-key');
    assert.equal(await v.page.locator('#key').inputValue(), '', 'a page holds no key');
    await v.page.locator('#key').fill(setting('LODESTONE_API_KEY'));
    await v.page.getByRole('button', { name: 'Sign in with the key' }).click();
    await v.page.waitForURL(screen);
    await v.page.goto(`${asks}/account`);
    await look('accounts');
  });
}

longTest('sign-in: by keyboard alone', async (t) => {
  const v = await visitor(t);
  const { keyboard } = v.page;
  const email = await person('analyst');
  await v.page.goto(`${screen}/readers?days=7`);
  await v.page.locator('#email:focus').waitFor();
  await keyboard.type(email);
  await keyboard.press('Enter');
  await v.page.getByRole('heading', { name: 'Check your email' }).waitFor();
  await v.page.locator('#code:focus').waitFor();
  await keyboard.type((await mailTo(email, 2)).text.match(/\b\d{6}\b/)[0]);
  await keyboard.press('Enter');
  await v.page.waitForURL(`${screen}/readers?days=7`);
  await v.page.locator('.who button', { hasText: 'Sign out' }).focus();
  await keyboard.press('Enter');
  await v.page.getByText('You are signed out.').waitFor();
  await v.page.locator('#email:focus').waitFor();
  // The button, the one of the provider if there is one, and what is folded.
  for (let i = 0; i < (process.env.BROWSER_OPENID_ISSUER ? 3 : 2); i++) await keyboard.press('Tab');
  await keyboard.press('Enter');
  await keyboard.press('Tab');
  await keyboard.type(setting('LODESTONE_API_KEY'));
  await keyboard.press('Enter');
  await v.page.waitForURL(screen);
});

longTest('sign-in: leads on to a screen, and nowhere else', async (t) => {
  const v = await visitor(t);
  await v.page.goto(`${asks}?next=%2Fdashboard%2Freaders%3Fdays%3D7`);
  await enter(v, await person('analyst'));
  await v.page.waitForURL(`${screen}/readers?days=7`);
  const host = 'example.test';
  for (const next of [
    `//${host}`, `\\\\${host}`, `/\\${host}`, `\\/${host}`, `https://${host}`, `http:${host}`, `https:/${host}`, `///${host}`, `/%2F${host}`, `/%5C${host}`, '%2F%2Fexample.test',
    `/dashboard/..//${host}`, `/dashboard/%2e%2e//${host}`, `/dashboard//${host}`, `/dashboard\\..\\${host}`, `/dashboard@${host}`, `/dashboard.${host}`, `\t//${host}`, `/\t/${host}`, `/\n/${host}`,
    'javascript:alert(1)', 'data:text/html,x', `${site}@${host}`, `//${host}/dashboard`, `/dashboard/sign-out`, `/dashboard?next=//${host}`, `/dashboard#//${host}`, ' ', '\u0000', `/dashboard\r\nLocation: https://${host}`,
  ]) {
    await v.page.goto(`${asks}?next=${encodeURIComponent(next)}`);
    const at = new URL(v.page.url());
    assert.equal(at.origin, site, next);
    assert.equal(at.pathname, '/dashboard', next);
  }
});

longTest('sign-in: a session that someone else planted is not taken over', async (t) => {
  const v = await visitor(t);
  const email = await person('analyst');
  await v.page.goto(asks);
  await enter(v, email);
  await v.page.waitForURL(screen);
  const name = (await v.context.cookies()).find((c) => /^__Host-lodestone/.test(c.name)).name;
  const cookie = (value) => ({ name, value, url: site.replace('http:', 'https:'), secure: true, httpOnly: true, sameSite: 'Lax' });
  const first = await secretOf(v);
  assert.ok(await opens(name, first));
  await v.page.getByRole('button', { name: 'Sign out' }).click();
  await v.page.getByText('You are signed out.').waitFor();
  assert.equal(await opens(name, first), false, 'a session that was signed out of is over');
  // An old session, one that never was, and someone else's, who loses it.
  const attacker = await visitor(t);
  await signInAnew(attacker, setting('LODESTONE_API_KEY'));
  for (const [i, planted] of [first, 'a'.repeat(52), await secretOf(attacker)].entries()) {
    await v.page.goto(asks);
    const mail = await ask(v, email, 3 + i);
    await v.context.addCookies([cookie(planted)]);
    await v.page.getByLabel('Six-digit code').fill(mail.text.match(/\b\d{6}\b/)[0]);
    await v.page.getByRole('button', { name: 'Sign in' }).click();
    await v.page.waitForURL(screen);
    assert.notEqual(await secretOf(v), planted);
    assert.equal(await opens(name, planted), false);
    await v.page.getByRole('button', { name: 'Sign out' }).click();
    await v.page.getByText('You are signed out.').waitFor();
  }
});

longTest('sign-in: signing out everywhere ends the other tab and the other browser', async (t) => {
  const email = await person('owner');
  const desk = await visitor(t);
  await desk.page.goto(asks);
  await enter(desk, email);
  await desk.page.waitForURL(screen);
  const phone = await visitor(t, 'phone', { expected: [/401/] });
  await phone.page.goto(asks);
  await enter(phone, email, 3);
  await phone.page.waitForURL(screen);
  await phone.page.goto(`${screen}/readers`);
  await phone.page.locator('button.keys').waitFor({ state: 'attached' });
  const tab = await desk.context.newPage();
  await tab.goto(`${screen}/settings/notices`);

  await desk.page.goto(`${screen}/settings/sessions`);
  await desk.screenshot('dashboard-settings-sessions-everywhere', { full: true });
  await desk.page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await desk.page.getByText('You are signed out.').waitFor();
  await tab.getByRole('button', { name: 'Save' }).first().click();
  await tab.waitForURL(/\/sign-in\?ended=lost/); // the cookie went with the session
  await tab.getByText('nothing was changed').waitFor();
  // A part that is drawn in place leads there as well.
  await phone.page.locator('.seg a').first().click();
  await phone.page.waitForURL(/\/dashboard\/sign-in/);
});

longTest('sign-in: whoever signs out sees it, even if the page finds out first that the session is over', async (t) => {
  const v = await visitor(t, 'desktop', { expected: [/401/] });
  await v.page.goto(asks);
  const live = v.page.waitForRequest((request) => request.resourceType() === 'eventsource');
  await enter(v, await person('owner'));
  await v.page.waitForURL(screen);
  await live;
  // The answer is on its way until the live part of the page has asked for its state.
  await v.page.evaluate(() => addEventListener('beforeunload', () => setTimeout(() => document.dispatchEvent(new Event('visibilitychange')), 500)));
  const found = v.page.waitForResponse((answer) => answer.url() === `${screen}/live` && answer.status() === 401);
  await v.page.route('**/dashboard/sign-out', async (route) => {
    const answer = await route.fetch({ maxRedirects: 0 });
    await found;
    await route.fulfill({ response: answer });
  });
  await v.page.getByRole('button', { name: 'Sign out' }).click({ noWaitAfter: true });
  await v.page.getByText('You are signed out.').waitFor();
});

longTest('sign-in: nothing typed is lost if the session ends', async (t) => {
  const magnet = await newMagnet({ title: 'Kept', pages: 1 });
  for (const o of [{}, { scripts: false }]) {
    const v = await visitor(t, 'desktop', { ...o, expected: [/status of 401 .*\/links\/new/] }); // the form asks for the session first
    const email = await person('owner');
    await v.page.goto(asks);
    await enter(v, email);
    await v.page.waitForURL(screen);
    const slug = `kept-${randomUUID().slice(0, 8)}`, typed = 'It’s <b>"long"</b>\n\nand took & an hour  \n';
    await v.page.goto(`${screen}/links/new?magnet=${magnet.id}`);
    await v.page.getByLabel('What readers get').fill(typed);
    await v.page.getByLabel('URL of the landing page').fill(slug);
    const { data } = await api('GET', '/api/v1/sessions?per_page=100');
    for (const s of data.filter((s) => s.email === email)) await api('DELETE', `/api/v1/sessions/${s.id}`);
    await v.page.getByRole('button', { name: 'Create link' }).click();
    if (o.scripts === false) { // it is shown, to be copied
      await v.page.getByRole('heading', { name: 'Nothing has been changed yet' }).waitFor();
      assert.ok((await v.page.locator('.typed').innerText()).includes('and took & an hour'));
      await v.accessible();
      await v.fits();
      await v.screenshot('sign-in-typed');
      continue;
    }
    // Signing in opens beside the form, which stays as it is.
    const [tab] = await Promise.all([v.context.waitForEvent('page'), v.page.locator('.ended a').click()]);
    await enter({ ...v, page: tab }, email, 3);
    await tab.waitForURL(/\/links\/new/);
    await tab.close();
    await v.page.getByRole('button', { name: 'Create link' }).click();
    await v.page.getByText('The page is live.').waitFor();
    const { data: links } = await api('GET', `/api/v1/generic-links?lead_magnet_id=${magnet.id}`);
    assert.deepEqual([links.length, links[0].slug, links[0].description], [1, slug, typed]);
  }
});

longTest('sign-in: pages of others neither show the dashboard nor send its forms', async (t) => {
  const port = new URL(site).port, name = async () => (await api('GET', '/api/v1/account')).name;
  const before = await name();
  // Another site, and another port of this one, to which browsers send the cookies.
  for (const origin of [`http://example.test:${port}`, collector]) {
    const v = await visitor(t, 'desktop', { origins: [origin], expected: [/./] });
    await v.page.goto(asks);
    await enter(v, await person('owner'));
    await v.page.waitForURL(screen);
    await v.page.goto(`${screen}/settings`);
    const token = await v.page.locator('[name=csrf]').first().inputValue();
    const pages = ['', '/settings', '/sign-in', '/live'];
    await v.page.route(`${origin}/evil`, (r) => r.fulfill({ contentType: 'text/html', body: pages.map((p) => `<iframe src="${screen}${p}"></iframe>`).join('') }));
    await v.page.goto(`${origin}/evil`, { waitUntil: 'load' });
    await eventually(async () => {
      const shown = v.page.frames().slice(1).map((frame) => frame.url());
      return shown.length === pages.length && shown.every((address) => address.startsWith('chrome-error:'));
    }, 'frames that show no screen in a page of others');
    for (const [what, csrf] of [['without a token', ''], ['with the token', token]]) {
      await v.page.route(`${origin}/form`, (r) => r.fulfill({ contentType: 'text/html', body: `<form method="post" action="${screen}/settings"><input name="csrf" value="${csrf}"><input name="name" value="taken over"><button>Win a prize</button></form>` }));
      await v.page.goto(`${origin}/form`);
      const answer = v.page.waitForResponse((r) => r.request().method() === 'POST');
      await v.page.getByRole('button').click();
      assert.ok([403, 303].includes((await answer).status()), what); // 303: without the cookie, to the sign-in page
      await eventually(async () => v.page.url().startsWith(screen), 'the answer');
      assert.equal(await name(), before, `${what}, from ${origin}`);
    }
    v.offences.length = 0; // browsers note what they refused
  }
});
