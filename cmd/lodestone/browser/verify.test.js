// The pages on which an address is confirmed.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { api, newLink } from './api.js';
import { newDesktop, newPhone, newVisitor, picture } from './browser.js';
import { linkOf, mailTo } from './mail.js';
import { measure } from './measure.js';
import { devPage, every, longTest, site, test } from './suite.js';

const submission = async (link) => (await api('GET', `/api/v1/generic-links/${link.id}/submissions`)).data[0];
const codeOf = (mail) => mail.text.match(/\b\d{3} ?\d{3}\b/)[0].replace(' ', '');

/** Submits the form of a new link, and returns the address and the link. */
async function submitted(v, fields = {}) {
  const link = await newLink({ require_verification: true, ...fields });
  const address = `eve-${randomUUID().slice(0, 8)}@example.com`;
  await v.page.goto(link.url);
  await v.page.getByLabel('Email address').fill(address);
  await v.page.locator('form button[type=submit]').first().click();
  await v.page.getByRole('heading', { name: 'Check your email' }).waitFor();
  return { link, address };
}

/** Types a code. With scripts the sixth digit sends it. */
async function fill(v, code) {
  await v.page.getByLabel('Six-digit code from the email').fill(code);
  if (v.options.scripts === false) await v.page.getByRole('button', { name: 'Confirm and read' }).click();
}

test('verify: a code that is pasted or typed goes by itself, once', async (t) => {
  for (const how of ['typed', 'pasted']) {
    const v = await newDesktop(t);
    const { address } = await submitted(v);
    const code = codeOf(await mailTo(address));
    const field = v.page.getByLabel('Six-digit code from the email');
    await field.focus();
    if (how === 'typed') await v.page.keyboard.type(code, { delay: 5 });
    else await v.page.keyboard.insertText(` ${code}\n`);
    await v.page.waitForURL(/\/a\//);
    assert.equal(v.requests.filter((r) => r.method() === 'POST' && r.url().includes('/verify/sent/')).length, 1);
  }
});

/** Where upright lines end in a picture of a field, in px from its left edge. */
async function linesIn(page, { x, y, width, height }) {
  await page.getByLabel('Six-digit code from the email').evaluate((f) => f.blur());
  const shot = await picture(page, { clip: { x, y, width, height } });
  return page.evaluate(async ([data, wide]) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const row = context.getImageData(0, image.height >> 1, image.width, 1).data, dark = (i) => row[4 * i] < 240;
    const scale = image.width / wide, ends = [];
    for (let i = Math.round(4 * scale); i < image.width - 4 * scale; i++) if (dark(i) && !dark(i + 1)) ends.push(Math.round((i + 1) / scale));
    return ends;
  }, [shot.toString('base64'), width]);
}

longTest('verify: the field is as wide as six cells, and the mail is one press away', async (t) => {
  const v = await newPhone(t);
  const link = await newLink({ require_verification: true });
  await v.page.goto(link.url);
  await v.page.getByLabel('Email address').fill(`eve-${randomUUID().slice(0, 8)}@gmail.com`);
  await v.page.locator('form button[type=submit]').first().click();
  const box = await v.page.getByLabel('Six-digit code from the email').boundingBox();
  assert.ok(box.width > 200 && box.width < 280, `${box.width} px`);
  assert.deepEqual(await linesIn(v.page, box), [1, 2, 3, 4, 5].map((n) => 1 + 12 + 36 * n), 'each digit has a cell of its own');
  assert.equal(await v.page.getByRole('link', { name: /Open Gmail/ }).getAttribute('href'), 'https://mail.google.com/');
  await v.page.getByLabel('Six-digit code from the email').evaluate((f) => { f.value = '12345'; });
  await v.screenshot('verify-cells');
});

for (const [device, o] of [['phone', { scripts: false }], ...every ? [['phone', { dark: true }]] : [], ['desktop', {}]]) {
  test(`verify: by the code, ${device} ${JSON.stringify(o)}`, async (t) => {
    const v = await newVisitor(t, device, { ...o, expected: [/422/] });
    const { link, address } = await submitted(v);
    await v.accessible();
    await v.fits();
    await v.screenshot('verify-sent');
    if (o.scripts !== false) await measure('verify-sent', v);
    const code = codeOf(await mailTo(address));
    const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
    const field = v.page.getByLabel('Six-digit code from the email');
    await field.fill('12');
    await v.page.getByRole('button', { name: 'Confirm and read' }).click();
    await v.page.getByText('Enter the six-digit code from the email.').waitFor();
    await fill(v, wrong);
    await v.page.getByText('That isn’t the code from the email.').waitFor();
    await v.accessible();
    await v.screenshot('verify-wrong-code');
    await v.page.getByText(/^Valid for about 24 hours/).waitFor();
    await fill(v, `${code.slice(0, 3)} ${code.slice(3)}`);
    await v.page.waitForURL(/\/a\//);
    assert.equal((await submission(link)).verified, true);
  });
}

longTest('verify: five wrong codes close the way of the code, not that of the mail', async (t) => {
  const v = await newPhone(t, { expected: [/422/] });
  const { link, address } = await submitted(v);
  const mail = await mailTo(address);
  const code = codeOf(mail);
  for (let i = 1; i <= 5; i++) {
    // The page before says the same from the second time on.
    await Promise.all([v.page.waitForEvent('framenavigated'), fill(v, String((Number(code) + i) % 1_000_000).padStart(6, '0'))]);
    await v.page.getByText(i < 5 ? 'That isn’t the code' : 'no more are accepted').waitFor();
  }
  await v.accessible();
  await v.screenshot('verify-guessed');
  await v.page.goto(linkOf(mail, '/verify/'));
  await v.page.getByRole('button', { name: 'Confirm and read' }).click();
  await v.page.waitForURL(/\/a\//);
  assert.equal((await submission(link)).verified, true);
});

test('verify: a link works once, and says so the second time', async (t) => {
  const v = await newPhone(t);
  const { address } = await submitted(v);
  const waiting = v.page.url();
  const url = linkOf(await mailTo(address), '/verify/');
  const other = await newDesktop(t, { dark: true, scripts: false, expected: [/410/] });
  await other.page.goto(url);
  await other.accessible();
  await other.screenshot('verify-confirm');
  await other.page.getByRole('button', { name: 'Confirm and read' }).click();
  await other.page.waitForURL(/\/a\//);
  await other.page.goto(url);
  await other.page.getByRole('heading', { name: 'This link has already been used' }).waitFor();
  await other.accessible();
  await other.screenshot('verify-used');
  await v.page.goto(waiting);
  await v.page.getByRole('heading', { name: 'Your email address is confirmed' }).waitFor();
  await v.accessible();
  await v.screenshot('verify-confirmed');
  await v.page.getByRole('link', { name: 'Back to the page' }).click();
  await v.page.getByLabel('Email address').waitFor();
});

longTest('verify: no secret is guessed or reflected', async (t) => {
  const v = await newDesktop(t, { expected: [/404/] });
  for (const path of ['/verify/aaaaaaaaaaaaaaaaaaaaaaaaaa', '/verify/sent/aaaaaaaaaaaaaaaaaaaaaaaaaa', `/verify/${encodeURIComponent('"><script>alert(1)</script>')}`, '/verify/', '/verify/sent/x/again']) {
    const answer = await v.page.goto(site + path);
    assert.equal(answer.status(), 404, path);
    await v.page.getByRole('heading', { name: 'Page not found' }).waitFor();
  }
});

longTest('verify: with the keyboard alone', async (t) => {
  const v = await newDesktop(t);
  const { link, address } = await submitted(v);
  const code = codeOf(await mailTo(address));
  for (let i = 0; i < 10; i++) {
    await v.page.keyboard.press('Tab');
    if (await v.page.evaluate(() => document.activeElement.id === 'code')) break;
  }
  await v.page.keyboard.type(code);
  await v.page.keyboard.press('Enter');
  await v.page.waitForURL(/\/a\//);
  assert.equal((await submission(link)).verified, true);
});

// Unknown texts of strangers are in no first mail, so that no one can send texts of their own through us.
longTest('verify: the mail says nothing that a visitor wrote, and its HTML runs nothing', async (t) => {
  const v = await newDesktop(t);
  const link = await newLink({ require_verification: true, collect_name: true });
  const address = `mallory-${randomUUID().slice(0, 8)}@example.com`;
  await v.page.goto(`${link.url}?utm_source=BUY-NOW`);
  await v.page.getByLabel('Email address').fill(address);
  await v.page.getByLabel('Name').fill('BUY-NOW https://evil.example <b>x</b>');
  await v.page.locator('form button[type=submit]').first().click();
  await v.page.getByRole('heading', { name: 'Check your email' }).waitFor();
  const mail = await mailTo(address);
  assert.doesNotMatch(mail.subject + mail.text + mail.html, /BUY-NOW|evil\.example/);
  assert.doesNotMatch(mail.html, /<script|<img|javascript:|onerror/i); // nothing counts who opens it
  for (const l of mail.links) assert.equal(new URL(l).origin, site);
  for (const [, l] of mail.html.matchAll(/href="([^"]+)"/g)) assert.equal(new URL(l).origin, site);
});

longTest('mailbox: the list and a mail', async (t) => {
  const v = await newPhone(t);
  const { address } = await submitted(v);
  const mail = await mailTo(address);
  for (const [device, o] of [['phone', {}], ['desktop', { dark: true }], ['phone', { scripts: false, dark: true }], ['desktop', { scripts: false }]]) {
    const m = await newVisitor(t, device, o);
    await m.page.goto(devPage('/dev/mailbox'));
    await m.page.getByText(address).first().waitFor();
    await m.accessible();
    await m.fits();
    await m.screenshot('mailbox');

    // A mail opens beside the list, or in its place on a phone.
    await m.page.locator('.mails a', { hasText: address }).first().click();
    await m.page.getByRole('heading', { name: mail.subject, level: 1 }).waitFor();
    await m.page.frameLocator('iframe').locator('a[href*="/verify/"]').first().waitFor();
    assert.equal(await m.page.locator('.mails').isVisible(), device === 'desktop');
    assert.equal(await m.page.locator('.mails [aria-current]').count(), 1);
    await m.accessible();
    await m.fits();
    await m.screenshot('mailbox-mail', { full: device === 'phone' });
    if (device === 'phone') {
      await m.page.locator('.mail').getByRole('link', { name: '← Mailbox' }).click();
      await m.page.waitForURL(/mailbox$/);
    }
    await m.page.goto(`${site}/dev/mailbox/${mail.id}/html`);
    await m.fits();
    await m.screenshot('mail-verify');
  }
});

longTest('mailbox: a mail that comes while another is read', async (t) => {
  const v = await newPhone(t);
  const first = await submitted(v);
  const mail = await mailTo(first.address);
  const m = await newDesktop(t);
  await m.page.goto(devPage('/dev/mailbox'));
  await m.page.locator('.mails a', { hasText: first.address }).first().click();
  await m.page.getByRole('heading', { name: mail.subject, level: 1 }).waitFor();
  await m.page.evaluate(() => { document.querySelector('iframe').dataset.same = 'yes'; });
  const second = await submitted(await newPhone(t));
  await m.page.locator('.mails a', { hasText: second.address }).first().waitFor();
  assert.equal(await m.page.locator('iframe[data-same=yes]').count(), 1, 'the mail stays open');
});
