// Pages at a zoom of 200 % and of 400 % (WCAG 1.4.4 and 1.4.10): a window of 1280 × 800 has 640 × 400 CSS pixels then, one of 1280 × 1024 has 320 × 256.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { api, newAccessLink, newLink, newMagnet } from './api.js';
import { newVisitor, signIn } from './browser.js';
import { laidOut } from './layout.js';
import { mailTo } from './mail.js';
import { eventually, setting, site, test } from './suite.js';

const zooms = [[640, 400], [320, 256]];

/** Looks at a page at each zoom, and keeps a picture. Faults of all pages come in one error, at the end. */
function looker(v, faults, marks) {
  return async (name, { full = true } = {}) => {
    for (const [width, height] of zooms) {
      await v.page.setViewportSize({ width, height });
      await v.page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
      await laidOut(v.page).catch((e) => faults.push(`${name}, ${width} px: ${e.actual ?? e}`));
      await v.screenshot(`zoom-${[...marks, name, width].join('-')}`, { full });
    }
    await v.page.setViewportSize({ width: 640, height: 400 });
  };
}

const done = (faults) => { if (faults.length > 0) throw new Error(faults.join('\n\n')); };
const newZoomed = (t, o) => newVisitor(t, 'desktop', { ...o, context: { viewport: { width: 640, height: 400 }, ...o.context } });

for (const [i, language] of ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl'].entries()) {
  test(`zoom: pages of visitors, ${language}`, async (t) => {
    const v = await newZoomed(t, { dark: i % 2 === 1, expected: [/4\d\d/], context: { locale: language } });
    const faults = [], look = looker(v, faults, [language]);
    const magnet = await newMagnet({ title: 'The guide to good guides', pages: 3 });
    await api('PATCH', `/api/v1/lead-magnets/${magnet.id}`, { end_text: 'Shall we look at yours?', end_button: 'Book half an hour', end_url: 'https://example.com/call' });
    const link = await newLink({ lead_magnet_id: magnet.id, require_verification: true, collect_name: true, consent_text: 'You may write to me about other guides.', description: 'Twelve short chapters.', language });
    await v.page.goto(link.url, { waitUntil: 'networkidle' });
    await look('landing');
    await v.page.locator('form button[type=submit]').click();
    await v.page.locator('#email-wrong').waitFor();
    await look('mistakes');
    const address = `eve-${randomUUID().slice(0, 8)}@example.com`;
    await v.page.locator('#email').fill(address);
    await v.page.locator('#name').fill('Eve');
    await v.page.locator('#consent').check();
    await v.page.locator('form button[type=submit]').click();
    await v.page.locator('#code').waitFor();
    await look('sent');
    await v.page.locator('#code').fill((await mailTo(address)).text.match(/\b\d{6}\b/)[0]);
    await v.page.waitForURL(/\/a\//);
    await v.page.locator('html[data-ready]').waitFor();
    await look('viewer', { full: false });
    await v.page.keyboard.press('?');
    await look('keys', { full: false });
    await v.page.keyboard.press('Escape');
    await v.page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await v.page.locator('#again').waitFor();
    await look('end', { full: false });
    await v.page.goto(`${site}/l/nothing-here-${randomUUID().slice(0, 8)}`);
    await look('missing');
    const closed = await newAccessLink({ lead_magnet_id: magnet.id });
    await api('PATCH', `/api/v1/access-links/${closed.id}`, { is_active: false });
    await v.page.goto(closed.url);
    await look('closed');
    const share = await api('POST', `/api/v1/lead-magnets/${magnet.id}/shares`, { name: 'For the board', password: 'correct horse' });
    await v.page.goto(share.url);
    await look('share-password');
    await v.page.locator('input[type=password]').fill('correct horse');
    await v.page.locator('form button[type=submit]').click();
    await v.page.locator('[data-metric]').first().waitFor();
    await look('share');
    await v.context.clearCookies(); // of the password
    done(faults);
  });
}

test('zoom: screens of the dashboard', async (t) => {
  const v = await newZoomed(t, { expected: [/40[34]/] });
  const faults = [], look = looker(v, faults, ['dashboard']);
  await v.page.goto(`${site}/dashboard/sign-in`);
  await look('sign-in');
  await signIn(v, setting('LODESTONE_PAST_API_KEY'));
  const own = (method, path, body) => api(method, path, body, { authorization: `Bearer ${setting('LODESTONE_PAST_API_KEY')}` });
  const { data: [magnet] } = await own('GET', '/api/v1/lead-magnets');
  const { data: [link] } = await own('GET', '/api/v1/generic-links');
  const { data: [reader] } = await own('GET', '/api/v1/analytics/readers');
  for (const [name, path] of [
    ['overview', ''], ['magnet', `/magnets/${magnet.id}`], ['edit', `/magnets/${magnet.id}/edit`], ['shares', `/magnets/${magnet.id}/shares`], ['new', '/new'],
    ['readers', '/readers'], ['reader', `/readers/${reader.access_links[0]}`], ['live', '/live'], ['links', '/links'], ['link', `/links/${link.id}`],
    ['links-new', '/links/new'], ['campaigns', `/links/${link.id}/campaigns`], ['recipients', `/links/${link.id}/recipients`], ['site', `/links/${link.id}/site`],
    ['settings', '/settings'], ['settings-notices', '/settings/notices'], ['settings-webhooks', '/settings/webhooks'],
    ['settings-sessions', '/settings/sessions'], ['settings-usage', '/settings/usage'],
  ]) {
    assert.equal((await v.page.goto(`${site}/dashboard${path}`)).status(), 200, name);
    await v.page.locator('h1').first().waitFor();
    await look(name);
  }
  done(faults);
});

test('zoom: screens that owners alone see', async (t) => {
  const v = await newZoomed(t, { dark: true });
  const faults = [], look = looker(v, faults, ['owner']);
  const email = `an.owner.with.a.long.address-${randomUUID().slice(0, 8)}@department.example.com`;
  await api('POST', '/api/v1/invitations', { email, role: 'owner' });
  const mail = await mailTo(email);
  await v.page.goto(mail.links.find((l) => l.includes('/sign-in/invitation/')));
  await look('invitation');
  await v.page.locator('form button').click();
  await v.page.waitForURL(`${site}/dashboard`);
  await api('POST', '/api/v1/webhooks', { description: `Sales in a channel of a long name ${randomUUID().slice(0, 8)}`, format: 'slack', url: 'https://hooks.slack.com/services/T0/B0/x', kinds: ['notice.weekly'] });
  await eventually(async () => (await api('GET', '/api/v1/users')).data.length > 0, 'people');
  for (const screen of ['people', 'keys', 'webhooks', 'sessions', 'audit', 'usage']) {
    await v.page.goto(`${site}/dashboard/settings/${screen}`);
    await v.page.locator('h1').first().waitFor();
    await look(`settings-${screen}`);
  }
  done(faults);
});
