// The form of a generic link on an owner's own page: a site of another origin with a strict policy.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';

import { api, newLink, sql } from './api.js';
import { newDesktop, newPhone, newVisitor } from './browser.js';
import { note } from './measure.js';
import { collector, eventually, longTest, site, taken, test } from './suite.js';

/**
 * Serves a page with the tag of a new link, whose form may stand there unless `allowed` says otherwise. The page has a strict policy, a font and
 * a colour of its own.
 */
async function newHost(t, { fields = {}, allowed = true } = {}) {
  let html = '';
  const server = createServer((req, res) => {
    const styled = req.url === '/site.css';
    // Strict, as a careful site has it: no styles but its own, and the form needs no more than the API says.
    const policy = `default-src 'none'; style-src 'self'; img-src data:; ${server.needs}; form-action 'none'; base-uri 'none'`;
    res.writeHead(200, { 'content-type': styled ? 'text/css' : 'text/html; charset=utf-8', 'content-security-policy': policy }).end(styled ? css : html);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const url = `http://example.test:${server.address().port}`;
  const link = await newLink({ allowed_origins: allowed ? [url] : ['https://www.example.com'], ...fields });
  const embed = await api('GET', `/api/v1/generic-links/${link.id}/embed`);
  server.needs = embed.content_security_policy;
  html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Our guide</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/site.css"></head>
<body><main><h1>Our guide</h1><p>All that we know.</p>${embed.script}</main></body></html>`;
  return { link, url, embed };
}

const css = ':root { color-scheme: light dark; font: 17px/1.5 Georgia, serif } body { margin: 0 } main { max-width: 36em; margin: 0 auto; padding: 24px }';

const options = (url, more = {}) => ({ origins: [url], ...more });
const state = (link) => api('GET', `/api/v1/generic-links/${link.id}/embed`);
const submissions = async (link) => (await api('GET', `/api/v1/generic-links/${link.id}/submissions`)).data;
const views = (link) => sql(`SELECT url, referrer FROM lodestone.link_views WHERE generic_link_id = '${link.id}'`);

for (const [device, o] of taken([['phone', {}], ['desktop', {}], ['desktop', { dark: true }]])) {
  test(`embed: a view and a form on another site, ${device} ${JSON.stringify(o)}`, async (t) => {
    const { link, url } = await newHost(t, {
      fields: {
        collect_name: true, consent_text: 'I agree to be written to.', privacy_url: 'https://example.com/privacy',
        fields: [{ key: 'team', kind: 'choice', label: 'Team', options: ['1–10', 'more'], required: true }, { key: 'plan', kind: 'hidden', label: 'Plan' }],
      },
    });
    const v = await newVisitor(t, device, options(url, o));
    await v.page.goto(`${url}/guide?utm_source=blog&secret=1&plan=pro`, { referer: 'https://search.example/?q=private' });
    await v.page.getByRole('button', { name: 'Get the document' }).waitFor();
    await v.accessible();
    await v.fits();
    await v.screenshot('embed');

    // The view counts once, under the id of the visit.
    await eventually(async () => (await views(link)).length === 1, 'a stored view');
    assert.deepEqual(await views(link), [{ url: `${url}/guide?utm_source=blog`, referrer: 'https://search.example/' }]);
    const seen = await state(link);
    assert.equal(seen.last_seen_origin, url);
    assert.ok(seen.last_seen_at);

    // By keyboard: what is wrong stands beside its field, and the first one has the focus.
    await v.page.getByLabel('Email address').focus();
    await v.page.keyboard.type('ada');
    await v.page.keyboard.press('Enter');
    await v.page.getByText('Enter an email address like jo@example.com.').waitFor();
    await v.page.getByText('Enter your name.').waitFor();
    await v.page.getByText('Choose an answer for “Team”.').waitFor();
    await v.page.getByText('Tick the box to continue.').waitFor();
    assert.equal(await v.page.evaluate(() => document.activeElement.shadowRoot.activeElement.name), 'email');
    await v.accessible();
    await v.screenshot('embed-wrong');
    await v.page.keyboard.type('@example.com');
    assert.equal(await v.page.getByText('Enter an email address like jo@example.com.').count(), 0);
    await v.page.keyboard.press('Tab');
    await v.page.keyboard.type('Ada');
    await v.page.keyboard.press('Tab');
    await v.page.keyboard.type('more');
    await v.page.keyboard.press('Tab');
    await v.page.keyboard.press('Space');
    await v.page.keyboard.press('Tab');
    await v.page.keyboard.press('Enter');
    const read = v.page.getByRole('link', { name: 'Read the document' });
    await read.waitFor();
    await v.accessible();
    await v.screenshot('embed-done');
    assert.match(await read.getAttribute('href'), new RegExp(`^${site}/a/`));
    const [sent] = await submissions(link);
    assert.equal(sent.email, 'ada@example.com');
    assert.equal(sent.name, 'Ada');
    assert.deepEqual(sent.answers, { team: 'more', plan: 'pro' });
    assert.deepEqual(sent.utm, { utm_source: 'blog' });
    for (const r of v.requests) {
      const headers = await r.allHeaders();
      assert.equal(headers.cookie, undefined);
      if (r.url().startsWith(site) && r.url().includes('/embed/')) assert.equal(headers.referer, undefined);
    }
    assert.equal((await views(link)).length, 1);
  });
}

longTest('embed: an origin that the link does not allow', async (t) => {
  const { link, url } = await newHost(t, { allowed: false });
  const v = await newDesktop(t, options(url, { expected: [/embed\//, /allowed_origins/, /ERR_FAILED/] }));
  await v.page.goto(url);
  const open = v.page.getByRole('link', { name: 'Open the form' });
  await open.waitFor();
  assert.equal(await open.getAttribute('href'), `${site}/l/${link.slug}`);
  assert.equal(await v.page.getByLabel('Email address').count(), 0);
  assert.equal((await state(link)).last_refused_origin, url);
  assert.equal((await state(link)).last_seen_at, null);
});

test('embed: who asks for privacy is not counted, and the form works', async (t) => {
  const { link, url } = await newHost(t);
  const v = await newPhone(t, options(url));
  await v.context.addInitScript(() => Object.defineProperty(navigator, 'globalPrivacyControl', { value: true }));
  await v.page.goto(`${url}/?utm_source=blog`, { referer: 'https://search.example/' });
  await v.page.getByLabel('Email address').fill('bob@example.com');
  await v.page.getByRole('button').click();
  await v.page.getByRole('link', { name: 'Read the document' }).waitFor();
  assert.deepEqual(v.requests.filter((r) => r.url().startsWith(collector)), []);
  const [sent] = await submissions(link);
  assert.deepEqual(sent.utm ?? {}, {});
  assert.equal(sent.referrer ?? null, null);
});

test('embed: an address that has to be confirmed, and a page of the owner\'s', async (t) => {
  const first = await newHost(t, { fields: { require_verification: true } });
  const v = await newPhone(t, options(first.url));
  await v.page.goto(first.url);
  await v.page.getByLabel('Email address').fill('eve@example.com');
  await v.page.getByRole('button').click();
  await v.page.getByText('Check your email: we sent a link and a code to eve@example.com.').waitFor();
  await v.screenshot('embed-verify');
  await v.page.getByRole('link', { name: 'Enter the code' }).click();
  await v.page.waitForURL(`${site}/verify/sent/*`);

  const second = await newHost(t, { fields: { redirect_url: `${first.url}/thanks` } });
  const w = await newPhone(t, options(second.url, { origins: [first.url, second.url] }));
  await w.page.goto(second.url);
  await w.page.getByLabel('Email address').fill('eve@example.com');
  await w.page.getByRole('button').click();
  await w.page.waitForURL(`${first.url}/thanks`);
});

longTest('embed: a token that is too old is renewed, and the form is sent', async (t) => {
  const { link, url } = await newHost(t);
  const v = await newDesktop(t, options(url, { expected: [/409/] }));
  await v.page.route(`${site}/embed/${link.slug}`, async (route) => {
    if (route.request().method() === 'POST') return route.continue();
    const answer = await route.fetch();
    const form = await answer.json();
    return route.fulfill({ response: answer, json: { ...form, token: v.renewed++ ? form.token : 'old' } });
  });
  v.renewed = 0;
  await v.page.goto(url);
  await v.page.getByLabel('Email address').fill('ida@example.com');
  await v.page.getByRole('button').click();
  await v.page.getByRole('link', { name: 'Read the document' }).waitFor();
  assert.equal((await submissions(link)).length, 1);
});

longTest('embed: a view that gets lost is sent again, and counts once', async (t) => {
  const { link, url } = await newHost(t);
  const v = await newDesktop(t, options(url, { expected: [/ERR_FAILED/, /503/] }));
  const endpoint = `${collector}/v1/link-views`;
  const sent = [];
  await v.page.clock.install();
  await v.page.route(endpoint, async (r) => {
    sent.push(r.request().postDataJSON());
    if (sent.length === 1) return r.abort();
    if (sent.length > 2) return r.continue();
    await r.fetch(); // it is counted, but the answer gets lost
    return r.fulfill({ status: 503, headers: { 'access-control-allow-origin': '*' } });
  });
  await v.page.goto(url);
  await eventually(async () => sent.length >= 1, 'the view is sent');
  await v.page.clock.runFor(5_000);
  await eventually(async () => sent.length >= 2, 'the view is sent again');
  await eventually(async () => (await views(link)).length === 1, 'a stored view');
  await v.page.clock.runFor(30_000);
  await eventually(async () => sent.length >= 3, 'the view is sent a third time');
  assert.equal(new Set(sent.map((s) => s.event_id)).size, 1);
  assert.equal(new Set(sent.map((s) => s.token)).size, 1);
  await v.page.clock.runFor(600_000);
  // The next view is stored behind the three, so these are stored by then.
  const other = await newDesktop(t, options(url));
  await other.page.goto(`${url}/other`);
  await eventually(async () => (await views(link)).some((row) => row.url.endsWith('/other')), 'the view of another visitor');
  assert.equal((await views(link)).length, 2);
  assert.equal(sent.length, 3, 'what is counted is not sent again');
});

for (const [language, dark, words] of [
  ['de', false, ['E-Mail-Adresse', 'Dokument zusenden', 'Geben Sie eine E-Mail-Adresse wie jo@example.com ein.', 'Sehen Sie in Ihre E-Mails: Wir haben einen Link und einen Code an eve@example.com gesendet.', 'Code eingeben']],
  ['pl', true, ['Adres e-mail', 'Wyślij mi dokument', 'Proszę podać adres e-mail w postaci jo@example.com.', 'Proszę sprawdzić pocztę: wysłaliśmy link i kod na adres eve@example.com.', 'Wpisz kod']],
]) {
  longTest(`embed: in the language of the browser, ${language}`, async (t) => {
    const { url } = await newHost(t, { fields: { require_verification: true } });
    const v = await newPhone(t, options(url, { dark, context: { locale: language } }));
    await v.page.goto(url);
    const [email, button, wrong, message, code] = words;
    await v.page.getByLabel(email).fill('eve');
    await v.page.getByRole('button', { name: button }).click();
    await v.page.getByText(wrong).waitFor();
    assert.equal(await v.page.locator('lodestone-form').getAttribute('lang'), language);
    await v.accessible();
    await v.fits();
    await v.screenshot(`embed-${language}`);
    await v.page.getByLabel(email).fill('eve@example.com');
    await v.page.getByRole('button', { name: button }).click();
    await v.page.getByText(message).waitFor();
    await v.page.getByRole('link', { name: code }).waitFor();
    await v.fits();
  });
}

longTest('embed: the language of the link counts for more than the browser’s, and a closed offer says so', async (t) => {
  const { link, url } = await newHost(t, { fields: { language: 'fr' } });
  const v = await newDesktop(t, options(url, { context: { locale: 'de' }, expected: [/410/, /cannot be shown/] }));
  await v.page.goto(url);
  await v.page.getByRole('button', { name: 'Obtenir le document' }).waitFor();
  await api('PATCH', `/api/v1/generic-links/${link.id}`, { active: false });
  await v.page.reload();
  await v.page.getByText('Cette offre est fermée').waitFor();
  assert.equal(await v.page.getByLabel('Adresse e-mail').count(), 0);
  await v.accessible();
  await v.screenshot('embed-closed');
});

longTest('embed: a connection that is gone keeps what was typed', async (t) => {
  const { link, url } = await newHost(t);
  const v = await newPhone(t, options(url, { expected: [/ERR_INTERNET_DISCONNECTED/] }));
  await v.page.goto(url);
  await v.page.getByLabel('Email address').fill('kim@example.com');
  await v.offline();
  await v.page.getByRole('button').click();
  await v.page.getByText('The form couldn’t be submitted. Check your connection, and try again.').waitFor();
  await v.accessible();
  await v.screenshot('embed-offline');
  await v.offline(false);
  await v.page.getByRole('button').click();
  await v.page.getByRole('link', { name: 'Read the document' }).waitFor();
  assert.deepEqual((await submissions(link)).map((s) => s.email), ['kim@example.com']);
});

longTest('embed: without scripts, and with parts of a page\'s own style', async (t) => {
  const { link, url } = await newHost(t);
  const v = await newPhone(t, options(url, { scripts: false }));
  await v.page.goto(url);
  assert.equal(await v.page.getByRole('link', { name: 'Get the document' }).getAttribute('href'), `${site}/l/${link.slug}`);

  const w = await newPhone(t, options(url));
  await w.page.goto(url);
  const button = w.page.getByRole('button');
  await button.waitFor();
  await w.page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('main { font-family: monospace; color: rgb(90, 0, 0) } lodestone-form::part(button) { border-radius: 0 }');
    document.adoptedStyleSheets = [sheet];
  });
  const shown = await button.evaluate((b) => [getComputedStyle(b).fontFamily, getComputedStyle(b).color, getComputedStyle(b).borderRadius, b.offsetHeight >= 44]);
  assert.deepEqual(shown, ['monospace', 'rgb(90, 0, 0)', '0px', true]);
  await w.screenshot('embed-styled');
});

longTest('embed: the script is small, and cached', async () => {
  const answer = await fetch(`${site}/embed.js`, { headers: { 'accept-encoding': 'br' } });
  assert.equal(answer.headers.get('content-encoding'), 'br');
  assert.equal(answer.headers.get('cache-control'), 'public, max-age=3600, stale-while-revalidate=86400');
  const bytes = +answer.headers.get('content-length');
  note('embed.js bytes', bytes);
  assert.ok(bytes < 5000, `${bytes} bytes`);
  const again = await fetch(`${site}/embed.js`, { headers: { 'if-none-match': answer.headers.get('etag') } });
  assert.equal(again.status, 304);
});

longTest('embed: what an owner types is text on the other site as well', async (t) => {
  const planted = (n) => `"'><img src=x onerror=ran()>${n}`;
  const { url } = await newHost(t, {
    fields: { title: planted(1), description: planted(2), button_text: planted(3), consent_text: planted(4), collect_name: true, privacy_url: `https://example.com/?${planted(5)}` },
  });
  const v = await newDesktop(t, options(url));
  const ran = [];
  await v.context.exposeBinding('ran', () => { ran.push(v.page.url()); });
  await v.page.goto(`${url}/?utm_source=${encodeURIComponent(planted(6))}`);
  await v.page.getByRole('button', { name: planted(3) }).waitFor();
  await v.page.getByText(planted(4)).first().waitFor();
  await v.accessible();
  await v.page.getByLabel('Email address').fill(`${planted(7)}@example.com`);
  await v.page.getByRole('button', { name: planted(3) }).click();
  await v.page.locator('[aria-invalid=true]').first().waitFor();
  assert.equal(await v.page.locator('img[src=x]').count(), 0);
  assert.deepEqual(ran, []);
  assert.equal(v.requests.some((r) => new URL(r.url()).pathname === '/x'), false, 'no picture is asked for');
});
