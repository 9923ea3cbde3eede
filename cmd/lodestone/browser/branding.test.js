// Pages under the sign of an account: its logo, its colour, and a name that tries to be more than one.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

import { api, guide } from './api.js';
import { newVisitor } from './browser.js';
import { linkOf, mailTo } from './mail.js';
import { devPage, setting, site, test } from './suite.js';

const logo = new Uint8Array(await readFile(new URL('../demo/logo.png', import.meta.url)));

// Everything here is of an account of its own, so that other tests do not see what changes.
const own = (method, path, body, headers) => api(method, path, body, { authorization: `Bearer ${setting('LODESTONE_SECOND_API_KEY')}`, ...headers });

test('branding: colours that do not read well, a logo, a hostile name', async (t) => {
  const { name } = await own('GET', '/api/v1/account');
  assert.match(name, /</);
  const magnet = await own('POST', '/api/v1/lead-magnets', { title: 'Worth the email' });
  await own('PUT', `/api/v1/lead-magnets/${magnet.id}/file`, guide);
  const link = await own('POST', '/api/v1/generic-links', { lead_magnet_id: magnet.id, title: 'The guide', require_verification: true, consent_text: 'Yes' });
  const closed = await own('POST', '/api/v1/generic-links', { lead_magnet_id: magnet.id, title: 'Closed' });
  await own('PATCH', `/api/v1/generic-links/${closed.id}`, { active: false });
  let round = 0;
  for (const [color, device, dark] of [['#ffff66', 'phone', false], ['#101010', 'desktop', true], ['#e0004d', 'tablet', false]]) {
    await own('PATCH', '/api/v1/account', { brand_color: color });
    if (round === 1) await own('PUT', '/api/v1/account/logo', logo, { 'content-type': 'image/png' });
    const v = await newVisitor(t, device, { dark, expected: [/410/] });
    const look = async (what) => {
      await v.accessible();
      await v.fits();
      await v.screenshot(`branding-${what}`);
      assert.equal(v.requests.some((r) => r.url().endsWith('/x')), false, 'an image was loaded');
    };
    await v.page.goto(link.url, { waitUntil: 'networkidle' });
    await v.page.getByText(name).first().waitFor();
    await look('landing');
    const to = `brand-${round++}-${Date.now()}@example.com`;
    await v.page.getByLabel('Email address').fill(to);
    await v.page.getByRole('checkbox').check();
    await v.page.locator('form button[type=submit]').first().click();
    await v.page.getByRole('heading', { name: 'Check your email' }).waitFor();
    await look('sent');
    const mail = await mailTo(to);
    assert.doesNotMatch(mail.html, /<img(?! src="data:image)/);
    if (round > 1) assert.match(mail.html, /<img src="data:image\/png/);
    assert.match(mail.subject, /is your code for “The guide”/);
    await v.page.goto(linkOf(mail, '/verify/'));
    await look('confirm');
    await v.page.getByRole('button', { name: 'Confirm and read' }).click();
    await v.page.locator('html[data-ready]').waitFor();
    await v.screenshot('branding-viewer');
    const second = await mailTo(to, 2);
    assert.doesNotMatch(second.html, /<img(?! src="data:image)/);
    assert.equal(second.subject, 'Your document: The guide');
    await v.page.goto(devPage(`/dev/mailbox/${second.id}/html`));
    await v.screenshot('branding-mail');
    await v.page.goto(closed.url);
    await look('closed');
  }
});
