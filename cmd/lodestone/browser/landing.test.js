// The public page of a generic link, with its form.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';

import { api, newLink, newMagnet, sql } from './api.js';
import { newDesktop, newPhone, newVisitor } from './browser.js';
import { linkOf, mailTo } from './mail.js';
import { pdf } from './pdf.js';
import { measure } from './measure.js';
import { eventually, longTest, site, taken, test } from './suite.js';

const description = 'Twelve short chapters on writing guides that people finish, with a checklist for each.';
const detail = (link) => api('GET', `/api/v1/generic-links/${link.id}`);
const views = (link, count) => eventually(async () => {
  const { view_count } = await detail(link);
  if (view_count === count) return true;
  throw new Error(`there are ${view_count}`);
}, `view_count ${count}`);
const submissions = async (link) => (await api('GET', `/api/v1/generic-links/${link.id}/submissions`)).data;
const address = () => `reader-${randomUUID().slice(0, 8)}@example.com`;

const email = (page) => page.getByLabel('Email address');
const button = (page) => page.locator('form button[type=submit]').first();

/** Sends a form past the script's own check, and waits for the page that answers: the one before may show the same words. */
const submitUnchecked = (page) => Promise.all([page.waitForEvent('framenavigated'), page.locator('form').evaluate((f) => f.submit())]);

const looks = [
  ['phone', {}], ['phone', { dark: true }], ['tablet', {}], ['tablet', { dark: true }], ['desktop', {}], ['desktop', { dark: true }],
  ['phone', { scripts: false }],
];

for (const [device, o] of taken(looks)) {
  test(`landing: the page, ${device} ${JSON.stringify(o)}`, async (t) => {
    const link = await newLink({ description });
    const v = await newVisitor(t, device, o);
    await v.page.goto(link.url, { waitUntil: 'networkidle' });
    await v.accessible();
    await v.fits();
    await v.screenshot('landing');
    const { transferred_bytes, bytes_by_type, layout_shift } = await measure(o.scripts === false ? 'landing-plain' : 'landing', v);
    assert.ok(transferred_bytes - (bytes_by_type.image ?? 0) < 30_000, `${transferred_bytes} bytes ${JSON.stringify(bytes_by_type)}`);
    assert.ok(layout_shift < 0.01, `layout shift ${layout_shift}`);
    const box = await button(v.page).boundingBox();
    const { height } = v.page.viewportSize();
    assert.ok(box.y + box.height <= height, `the button ends at ${box.y + box.height} px of ${height}`);
    assert.ok(box.height >= 44);
    await views(link, 1);
  });
}

test('landing: what is recorded of a view', async (t) => {
  const link = await newLink();
  const v = await newPhone(t);
  await v.page.goto(`${link.url}?utm_source=news%20letter&email=secret&utm_medium=mail#private`, { referer: 'https://search.example/find?q=private' });
  await views(link, 1);
  const [row] = await sql(`SELECT url, referrer, bot FROM lodestone.link_views WHERE generic_link_id = '${link.id}'`);
  assert.deepEqual(row, { url: `${link.url}?utm_source=news%20letter&utm_medium=mail`, referrer: 'https://search.example/find', bot: '' });
});

for (const scripts of [true, false]) {
  const how = scripts ? 'with' : 'without';
  test(`landing: a form with mistakes, ${how} scripts`, async (t) => {
    const link = await newLink({ collect_name: true, fields: [
      { key: 'company', kind: 'company', label: 'Company', required: true }, { key: 'phone', kind: 'phone', label: 'Phone number' },
      { key: 'team', kind: 'choice', label: 'Size of your team', options: ['1–10', 'more'], required: true },
    ] });
    const v = await newPhone(t, { scripts, expected: [/422/] });
    await v.page.goto(link.url);
    await v.page.getByLabel('Name').fill('Ada Lovelace');
    await email(v.page).fill('not an address');
    await v.page.getByLabel('Phone number (optional)').fill('+44 20 7946 0958');
    await button(v.page).click();
    await v.page.getByText('Fill in “Company”.').waitFor();
    await v.page.getByText('Choose an answer for “Size of your team”.').waitFor();
    await v.page.getByText(/like jo@example\.com/).waitFor();
    assert.equal(await email(v.page).getAttribute('aria-invalid'), 'true');
    assert.equal(await email(v.page).inputValue(), 'not an address');
    assert.equal(await v.page.getByLabel('Name').inputValue(), 'Ada Lovelace');
    if (scripts) assert.ok(await email(v.page).evaluate((e) => e === document.activeElement));
    else assert.equal(await email(v.page).getAttribute('autofocus'), '');
    await v.accessible();
    await v.fits();
    await v.screenshot('landing-mistake');
    const to = address();
    await email(v.page).fill(to);
    await v.page.getByLabel('Company').fill('Acme');
    await v.page.getByLabel('Size of your team').selectOption('more');
    await button(v.page).click();
    await v.page.waitForURL(/\/a\//);
    const [one, ...rest] = await submissions(link);
    assert.deepEqual(rest, []);
    assert.equal(one.email, to);
    assert.equal(one.name, 'Ada Lovelace');
    assert.deepEqual(one.answers, { company: 'Acme', phone: '+44 20 7946 0958', team: 'more' });
  });
}

test('landing: with the keyboard alone', async (t) => {
  const link = await newLink({ collect_name: true });
  const v = await newDesktop(t);
  await v.page.goto(link.url);
  const to = address();
  const seen = [];
  for (let i = 0; i < 12; i++) {
    await v.page.keyboard.press('Tab');
    const on = await v.page.evaluate(() => {
      const e = document.activeElement;
      const style = getComputedStyle(e);
      return { name: e.name || e.tagName, ring: style.outlineStyle !== 'none' || style.boxShadow !== 'none' };
    });
    seen.push(on.name);
    assert.ok(on.ring, `${on.name} shows no focus`);
    if (on.name === 'email') await v.page.keyboard.type(to);
    if (on.name === 'name') await v.page.keyboard.type('Grace Hopper');
    if (on.name === 'BUTTON') break;
  }
  assert.deepEqual(seen.slice(-3), ['email', 'name', 'BUTTON']);
  await v.page.keyboard.press('Enter');
  await v.page.waitForURL(/\/a\//);
  assert.equal((await submissions(link))[0].email, to);
});

test('landing: offline and back', async (t) => {
  const link = await newLink();
  const v = await newPhone(t);
  await v.page.goto(link.url);
  await views(link, 1); // nothing is under way any more
  const to = address();
  await email(v.page).fill(to);
  await v.offline();
  await button(v.page).click();
  await v.page.getByText('You’re offline').waitFor();
  await v.screenshot('landing-offline');
  assert.equal(await email(v.page).inputValue(), to);
  await v.offline(false);
  await button(v.page).click();
  await v.page.waitForURL(/\/a\//);
  assert.equal((await submissions(link)).length, 1);
});

longTest('landing: a slow network, and a button pressed twice', async (t) => {
  const link = await newLink();
  const v = await newPhone(t);
  await v.slow();
  await v.page.goto(link.url);
  await measure('landing-slow', v);
  await email(v.page).fill(address());
  await button(v.page).evaluate((b) => { b.click(); b.click(); b.click(); });
  await v.page.waitForURL(/\/a\//, { waitUntil: 'commit' });
  assert.equal(v.requests.filter((r) => r.method() === 'POST' && r.url() === link.url).length, 1);
});

test('landing: the same address again is the same submission', async (t) => {
  const link = await newLink();
  const v = await newPhone(t);
  const to = address();
  const opened = [];
  for (const spelling of [to, ` ${to.toUpperCase()} `]) {
    await v.page.goto(link.url);
    await email(v.page).fill(spelling);
    await button(v.page).click();
    await v.page.waitForURL(/\/a\//);
    opened.push(v.page.url());
  }
  assert.equal((await submissions(link)).length, 1);
});

// What a script would leave behind; every name differs, so that it tells where.
const hostile = (where) => `"'><img src=x onerror="document.title='${where}'"><script>alert('${where}')</script>{{7*7}}\${7*7}`;

for (const scripts of [true, false]) {
  longTest(`landing: hostile texts in every field, ${scripts ? 'with' : 'without'} scripts`, async (t) => {
    const lead_magnet_id = (await newMagnet({ title: hostile('magnet'), description: hostile('about') })).id;
    const link = await newLink({
      lead_magnet_id, title: hostile('title'), description: `${hostile('description')}\n\n${hostile('second')}`, collect_name: true,
      button_text: `"'><img src=x onerror=alert(1)>`, consent_text: hostile('consent'), privacy_url: `https://example.com/"'><img src=x onerror=alert(1)>`,
    });
    const v = await newDesktop(t, { scripts, expected: [/422/] });
    const query = new URLSearchParams(Object.fromEntries(
      ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content', 'ref', 'email', 'preview', 'again'].map((n) => [n, hostile(n)])));
    await v.page.goto(`${link.url}?${query}`, { referer: `https://example.com/${encodeURIComponent(hostile('referrer'))}` });
    assert.equal(await v.page.getByRole('heading', { level: 1 }).innerText(), hostile('title'));
    await v.accessible();
    await v.fits();
    await v.screenshot('landing-hostile');
    await v.page.getByLabel('Name').fill(hostile('name').slice(0, 100));
    await email(v.page).fill(hostile('email'));
    await v.page.getByRole('checkbox').check();
    await submitUnchecked(v.page);
    await v.page.locator('#email-wrong').waitFor();
    assert.equal(await email(v.page).inputValue(), hostile('email'));
    await email(v.page).fill(address());
    await button(v.page).click();
    await v.page.waitForURL(/\/a\//);
    assert.equal(v.page.url().indexOf(site), 0);
    assert.equal((await submissions(link))[0].name, hostile('name').slice(0, 100));
    assert.equal(v.requests.some((r) => r.url().endsWith('/x')), false, 'an image was loaded');
    assert.deepEqual(v.requests.filter((r) => r.method() === 'POST' && r.url().startsWith(`${site}/l/`)).length, 2);
  });
}

longTest('landing: no way leads elsewhere', async () => {
  const link = await newLink();
  const evil = 'https://evil.example/';
  const forms = { redirect: evil, redirect_url: evil, next: evil, url: evil, return_to: evil, action: evil };
  for (const path of [
    `/l/${link.slug}?${new URLSearchParams(forms)}`, '/l//evil.example', '/l/%2F%2Fevil.example', '/l/..%2F..%2F%2Fevil.example',
    '//evil.example/l/x', '/l/\\evil.example', `/l/${link.slug}/`, `/l/${link.slug}//evil.example`, '/l/https://evil.example',
    `/l/${link.slug.toUpperCase()}?next=${evil}`, '/verify//evil.example', '/verify/sent//evil.example',
  ]) {
    const answer = await fetch(site + path, { redirect: 'manual' });
    const to = answer.headers.get('location');
    if (to !== null) assert.equal(new URL(to, site + path).origin, site, `${path} leads to ${to}`);
  }
  const answer = await fetch(`${link.url}?${new URLSearchParams(forms)}`, {
    method: 'POST', redirect: 'manual', body: new URLSearchParams({ email: address(), ...forms }),
  });
  assert.equal(answer.status, 303);
  const to = new URL(answer.headers.get('location'), site);
  assert.equal(to.origin, site);
  assert.match(to.pathname, /^\/a\//);
  assert.equal(to.search, '');
});

test('landing: consent, and a page of the owner after the form', async (t) => {
  for (const redirect_url of ['javascript:alert(1)', '//evil.example/', 'data:text/html,x', 'https://user:word@evil.example/', '/elsewhere']) {
    await assert.rejects(newLink({ redirect_url }), /422/, redirect_url);
  }
  const serve = async (answer) => {
    const server = createServer(answer);
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    return `http://127.0.0.1:${server.address().port}`;
  };
  const thanks = await serve((_, res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>x</title><h1>Thank you</h1>'));
  const old = await serve((req, res) => res.writeHead(301, { location: thanks + req.url }).end()); // as to a www
  const link = await newLink({
    redirect_url: `${old}/thanks?a=b`, button_text: 'Send it', consent_text: 'You may write to me about guides.', privacy_url: 'https://example.com/privacy',
  });
  const v = await newPhone(t, { origins: [old, thanks], expected: [/422/] });
  await v.page.goto(link.url);
  await v.accessible();
  await v.fits();
  await v.screenshot('landing-consent');
  const to = address();
  await email(v.page).fill(to);
  await v.page.getByRole('button', { name: 'Send it' }).click();
  await v.page.getByText('Tick the box to continue.').waitFor();
  assert.ok(await v.page.getByRole('checkbox').evaluate((e) => e === document.activeElement));
  await v.accessible();
  await v.screenshot('landing-consent-missing');
  await submitUnchecked(v.page);
  await v.page.getByText('Tick the box to continue.').waitFor();
  await v.page.getByText('You may write to me about guides.').click(); // its label
  await v.page.getByRole('button', { name: 'Send it' }).click();
  await v.page.waitForURL(`${thanks}/thanks?a=b`); // nothing is added
  linkOf(await mailTo(to), '/a/');
});

test('landing: cannot be framed, and its form cannot be sent from elsewhere', async (t) => {
  const link = await newLink();
  const server = createServer((_, res) => res.writeHead(200, { 'content-type': 'text/html' }).end(
    `<!doctype html><title>x</title><iframe src="${link.url}"></iframe>
     <form method=post action="${link.url}"><input name=email value="${address()}"><button>Win</button></form>`));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${server.address().port}`;
  const v = await newDesktop(t, { origins: [url], expected: [/frame/i, /403/] });
  await v.page.goto(url, { waitUntil: 'networkidle' });
  await eventually(async () => v.page.frames()[1]?.url() === 'chrome-error://chromewebdata/', 'a frame that shows nothing');
  const [answer] = await Promise.all([v.page.waitForResponse(link.url), v.page.getByRole('button').click()]);
  assert.equal(answer.status(), 403);
  await v.page.getByRole('heading', { name: 'This form came from another page' }).waitFor();
  await v.screenshot('status-refused');
  assert.deepEqual(await submissions(link), []);
});

test('landing: the headers', async () => {
  const link = await newLink();
  const answer = await fetch(link.url);
  const policy = answer.headers.get('content-security-policy');
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.match(policy, /base-uri 'none'/);
  assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval|\*/);
  const [, nonce] = policy.match(/script-src 'nonce-([^']+)'/);
  const again = await fetch(link.url);
  assert.ok(!again.headers.get('content-security-policy').includes(nonce), 'a nonce is used once');
  assert.equal(answer.headers.get('x-frame-options'), 'DENY');
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(answer.headers.get('set-cookie'), null);
});

test('status: wrong addresses that people come to are answered by a page', async (t) => {
  const v = await newPhone(t, { expected: [/404/] });
  for (const path of ['/l/', '/l/x/y', '/a/', '/a/x', '/a/x/y', '/a/x/', '/verify/', '/verify/x/y']) {
    const answer = await v.page.goto(site + path);
    assert.equal(answer.status(), 404, path);
    await v.page.getByRole('heading', { name: 'Page not found' }).waitFor();
  }
});

test('status: a form that is too long', async (t) => {
  const link = await newLink();
  const v = await newPhone(t, { expected: [/413/] });
  await v.page.goto(link.url);
  await v.page.locator('form').evaluate((f) => {
    f.email.maxLength = 100_000;
    f.email.value = 'a'.repeat(100_000);
    f.submit();
  });
  await v.page.getByRole('heading', { name: 'That was too long' }).waitFor();
  await v.accessible();
  await v.screenshot('status-too-long');
  await v.page.getByRole('link', { name: 'Back to the page' }).click();
  await email(v.page).waitFor();
});

// Five mails an hour to one mailbox, whoever asks for them.
longTest('status: no address is flooded with mails', async (t) => {
  const to = address();
  const v = await newPhone(t, { expected: [/429/] });
  for (let i = 1; i <= 6; i++) {
    const link = await newLink({ require_verification: true });
    await v.page.goto(link.url);
    await email(v.page).fill(to);
    await button(v.page).click();
    if (i < 6) await v.page.getByRole('heading', { name: 'Check your email' }).waitFor();
  }
  await v.page.getByRole('heading', { name: 'Too many requests' }).waitFor();
  await v.accessible();
  await v.screenshot('status-too-many');
  const d = await newDesktop(t, { dark: true, scripts: false, expected: [/429/] });
  const link = await newLink({ require_verification: true });
  await d.page.goto(link.url);
  await email(d.page).fill(to.toUpperCase());
  await button(d.page).click();
  await d.page.getByRole('heading', { name: 'Too many requests' }).waitFor();
  await d.screenshot('status-too-many');
});

const gone = [
  ['unknown', 404, async () => `${site}/l/no-such-page-${randomUUID().slice(0, 8)}`],
  ['inactive', 410, async () => {
    const link = await newLink();
    await api('PATCH', `/api/v1/generic-links/${link.id}`, { active: false });
    return link.url;
  }],
  ['deleted', 410, async () => {
    const link = await newLink();
    await api('DELETE', `/api/v1/generic-links/${link.id}`);
    return link.url;
  }],
  ['no-document', 404, async () => {
    const magnet = await api('POST', '/api/v1/lead-magnets', { title: 'Soon' });
    return (await newLink({ lead_magnet_id: magnet.id })).url;
  }],
];
for (const [name, status, make] of gone) {
  longTest(`landing: ${name}`, async (t) => {
    const url = await make();
    for (const [device, o] of [['phone', {}], ['desktop', { dark: true }]]) {
      const v = await newVisitor(t, device, { ...o, expected: [new RegExp(String(status))] });
      const answer = await v.page.goto(url);
      assert.equal(answer.status(), status);
      await v.accessible();
      await v.fits();
      await v.screenshot(`status-${name}`);
      await v.leave();
    }
  });
}

test('landing: an owner looks without being counted', async (t) => {
  const link = await newLink({ require_verification: true, description });
  await api('PATCH', `/api/v1/generic-links/${link.id}`, { active: false });
  const { url } = await api('POST', `/api/v1/generic-links/${link.id}/preview`);
  const v = await newDesktop(t);
  await v.page.goto(url, { waitUntil: 'networkidle' });
  await v.page.getByText('This is a preview').waitFor();
  await v.accessible();
  await v.screenshot('landing-preview');
  await email(v.page).fill(address());
  await button(v.page).click();
  await v.page.waitForLoadState('networkidle');
  assert.deepEqual(await submissions(link), []);
  await api('PATCH', `/api/v1/generic-links/${link.id}`, { active: true });
  const reader = await newPhone(t);
  await reader.page.goto(link.url);
  await views(link, 1);
});

longTest('landing: narrow, and with letters of double size', async (t) => {
  const link = await newLink({ title: 'Donaudampfschifffahrtsgesellschaftskapitänspatent – the guide', description, collect_name: true });
  const v = await newDesktop(t, { context: { viewport: { width: 320, height: 256 } } });
  await v.page.goto(link.url);
  await v.fits();
  await v.screenshot('landing-narrow', { full: true });
  await v.page.setViewportSize({ width: 720, height: 900 });
  await v.page.evaluate(() => { document.documentElement.style.fontSize = '200%'; });
  await v.fits();
  await v.screenshot('landing-large', { full: true });
});

longTest('landing: a long description, and a document without a picture', async (t) => {
  const lead_magnet_id = (await newMagnet({ file: pdf({ pages: 1, padding: 2_400_000 }) })).id;
  const link = await newLink({ lead_magnet_id, title: 'A'.repeat(200), description: Array(12).fill(description).join('\n\n') });
  const v = await newPhone(t);
  await v.page.goto(link.url);
  await v.page.getByText('2.4 MB').waitFor();
  await v.fits();
  await v.screenshot('landing-long', { full: true });
  const d = await newDesktop(t);
  await d.page.goto(link.url);
  await d.fits();
  await d.screenshot('landing-long', { full: true });
});
