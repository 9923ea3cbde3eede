// The dashboard's links and settings: every screen on phones and desktops, light and dark, with scripts and without.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

import { api, newAccessLink, newLink, newMagnet } from './api.js';
import { newDesktop, newVisitor } from './browser.js';
import { linkOf, mailTo } from './mail.js';
import { eventually, every, longTest, site, test } from './suite.js';

const logo = new Uint8Array(await readFile(new URL('../demo/logo.png', import.meta.url)));

let invited = 0;

/** Signs a visitor in as an owner of the account, who was invited. */
async function signIn(v) {
  const email = `owner${invited++}-${Date.now()}@example.com`;
  await api('POST', '/api/v1/invitations', { email, role: 'owner' });
  await v.page.goto(linkOf(await mailTo(email), '/dashboard/sign-in/invitation/'));
  await v.page.getByRole('button', { name: 'Join' }).click();
  await v.page.waitForURL(`${site}/dashboard`);
}

let story;

/** A link with submissions, and a webhook with messages. All visitors look at the same ones. */
const scene = () => (story ??= (async () => {
  const link = await newLink({ title: 'Reading, measured', collect_name: true });
  for (let i = 0; i < 30; i++) {
    const body = new URLSearchParams({ email: `ada.lovelace${i}@analytical-engines.example.com`, name: `Ada ${i}`, utm_source: ['newsletter', 'linkedin', ''][i % 3], utm_campaign: 'spring' });
    const res = await fetch(link.url, { method: 'POST', body, redirect: 'manual' });
    assert.equal(res.status, 303, 'the form is sent');
  }
  const hook = await api('POST', '/api/v1/webhooks', { url: `${site}/api/v1/openapi.json`, description: 'CRM of the sales team', kinds: ['form.submitted', 'session.ended'] });
  for (let i = 0; i < 3; i++) await api('POST', `/api/v1/webhooks/${hook.id}/test`);
  await api('POST', '/api/v1/alert-rules', { kind: 'above', metric: 'people', threshold: 500, generic_link_id: link.id });
  return { link, hook };
})());

const looks = [['phone', {}], ['phone', { dark: true }], ['desktop', {}], ['desktop', { dark: true }], ['phone', { scripts: false }], ['desktop', { scripts: false }]];
for (const [device, o] of every ? looks : [['desktop', {}]]) {
  test(`links and settings: every screen, ${device} ${JSON.stringify(o)}`, async (t) => {
    const { link, hook } = await scene();
    const v = await newVisitor(t, device, { ...o, expected: [/422/] });
    await signIn(v);
    const look = async (name, path) => {
      if (path) await v.page.goto(site + path);
      await v.page.locator('h1').first().waitFor();
      if (!every) return v.look(`dashboard-${name}`); // on a phone and at a desktop
      await v.accessible();
      await v.fits();
      await v.screenshot(`dashboard-${name}`, { full: true });
    };
    await look('links', '/dashboard/links');
    await look('link-new', `/dashboard/links/new?magnet=${link.lead_magnet_id}`);
    await v.page.getByLabel('URL of the page').fill('Not a slug');
    await v.page.getByRole('button', { name: 'Create link' }).click();
    await v.page.locator('.wrong').first().waitFor();
    await look('link-wrong');
    await look('link', `/dashboard/links/${link.id}?column=name&column=state&column=source&column=submitted&column=views`);
    for (const summary of await v.page.locator('main summary.link').all()) await summary.click();
    await look('link-forms');
    await look('link-campaigns', `/dashboard/links/${link.id}/campaigns?utm_source=newsletter&utm_campaign=spring`);
    await look('link-edit', `/dashboard/links/${link.id}/edit`);
    await look('link-site', `/dashboard/links/${link.id}/site`);
    for (const section of ['', '/notices', '/alerts', '/suspects', '/people', '/keys', '/webhooks', `/webhooks/${hook.id}`, '/sessions', '/audit', '/usage']) {
      await look(`settings${section.replace(hook.id, 'one').replaceAll('/', '-')}`, `/dashboard/settings${section}`);
      const size = v.page.viewportSize();
      if (!every) await v.page.setViewportSize({ width: 360, height: 640 });
      if (device === 'phone' || !every) { // rows are cards: every cell has its label, and nothing is cut off at the side
        const cards = await v.page.locator('main table:not(.use, .effect)').evaluateAll((all) => all.map((t) => ({
          row: getComputedStyle(t.querySelector('tbody tr')).display, cut: t.parentElement.scrollWidth > t.parentElement.clientWidth + 1,
          bare: [...t.querySelectorAll('tbody td:not(:has(form))')].filter((c) => !/\w/.test(getComputedStyle(c, '::before').content)).length,
        })));
        for (const card of cards) assert.deepEqual(card, { row: 'block', cut: false, bare: 0 }, section);
        if (section.startsWith('/webhooks/')) assert.equal(cards.length, 1);
      }
      await v.page.setViewportSize(size);
      const closed = await v.page.locator('main summary.link').all();
      for (const summary of closed) await summary.click();
      if (closed.length > 0) await look(`settings${section.replace(hook.id, 'one').replaceAll('/', '-')}-forms`);
    }
  });
}

longTest('links: an owner makes one by keyboard, copies its address, and changes it', async (t) => {
  const { link } = await scene();
  const v = await newDesktop(t, { context: { permissions: ['clipboard-read', 'clipboard-write'] }, expected: [/422/] });
  await signIn(v);
  await v.page.goto(`${site}/dashboard/links/new?magnet=${link.lead_magnet_id}`);
  await v.page.getByLabel('Headline').focus();
  await v.page.keyboard.type('By keyboard');
  await v.page.keyboard.press('Enter');
  await v.page.getByText('The page is live.').waitFor();
  const copied = v.page.waitForFunction(() => document.querySelector('button[data-copied]')?.textContent === 'Copied'); // it says so for 2 s
  await v.page.getByRole('button', { name: 'Copy' }).first().click();
  await copied;
  const address = await v.page.evaluate(() => navigator.clipboard.readText());
  assert.match(address, /\/l\/by-keyboard/);
  assert.equal((await fetch(address)).status, 200);
  await v.page.getByRole('link', { name: 'Edit', exact: true }).click();
  await v.page.getByLabel('Headline').fill('Changed');
  await v.page.getByRole('button', { name: 'Save' }).click();
  await v.page.getByText('Saved.').waitFor();
  assert.match(await (await fetch(address)).text(), /Changed/);
  await eventually(() => v.page.locator('.code img').evaluate((img) => img.complete && img.naturalWidth > 0), 'the picture of the QR code');
  await v.page.getByRole('link', { name: 'Edit', exact: true }).click();
  await v.page.getByLabel('URL of the page').fill('No slug');
  await v.page.getByRole('button', { name: 'Save' }).click();
  await v.page.locator('.wrong').first().waitFor();
  await v.page.locator('[name=slug]:focus').waitFor(); // the field with the error has the focus
});

longTest('settings: the preview follows what is typed and chosen, and a logo is uploaded', async (t) => {
  const v = await newDesktop(t);
  await signIn(v);
  let come;
  const typed = new Promise((resolve) => { come = resolve; });
  await v.page.route(/\/preview\.js/, (route) => typed.then(() => route.continue()));
  await v.page.goto(`${site}/dashboard/settings`);
  assert.deepEqual(await v.page.locator('p.field').evaluateAll((all) => all.filter((e) => getComputedStyle(e).borderStyle !== 'none').map((e) => e.outerHTML)), [],
    'only inputs have a border, not the text beside them');
  await v.page.getByLabel('Colour', { exact: true }).fill('#006600');
  come(); // the script, after the first input
  await v.page.locator('.previews rect[fill="#006600"]').first().waitFor();
  assert.equal(await v.page.locator('input[type=color]').inputValue(), '#006600');
  assert.deepEqual(await v.page.locator('.previews text.on').evaluateAll((all) => all.map((e) => e.getAttribute('fill'))), ['#ffffff', '#ffffff', '#101317', '#101317']);
  const named = v.page.locator('.previews .named').first();
  const own = await v.page.getByLabel('Name', { exact: true }).inputValue();
  await v.page.getByLabel('Name', { exact: true }).fill('A house with a name of many words');
  assert.equal(await named.textContent(), 'A house with a name of ma…');
  await v.page.getByLabel('Name', { exact: true }).fill(' ');
  assert.equal(await named.textContent(), [...own].length > 26 ? `${[...own].slice(0, 25).join('')}…` : own, 'an account has a name');
  await v.page.getByLabel('Typeface').selectOption('inter');
  assert.equal(await v.page.locator('.previews svg').first().getAttribute('font-family'), '');
  assert.equal(await v.page.locator('.logos').first().isVisible(), false);
  await v.page.getByLabel('Picture').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: Buffer.from(logo) });
  await v.page.locator('.previews .logos[visibility=visible] image[href^="data:image/png"]').first().waitFor({ state: 'attached' });
  await v.accessible();
  await v.screenshot('dashboard-settings-preview', { full: true });
  await v.page.getByRole('button', { name: 'Upload' }).click();
  await v.page.getByText('The logo now appears on your pages').waitFor();
  await v.screenshot('dashboard-settings-logo', { full: true });
  await v.page.getByRole('button', { name: 'Remove the logo' }).click();
  await v.page.getByText('No logo yet.').waitFor();
});

longTest('settings: an owner switches the download of a document off, and its readers see no button', async (t) => {
  const magnet = await newMagnet({ title: 'Ask for a copy', pages: 2 });
  const link = await newAccessLink({ lead_magnet_id: magnet.id });
  const v = await newDesktop(t);
  await signIn(v);
  const edit = `${site}/dashboard/magnets/${magnet.id}/edit`;
  await v.page.goto(edit);
  const box = v.page.getByLabel('Readers can download and print');
  assert.equal(await box.isChecked(), true);
  await v.look('dashboard-edit');
  await box.focus();
  await v.page.keyboard.press('Space');
  await v.page.getByRole('button', { name: 'Save', exact: true }).click();
  await v.page.waitForURL(/saved=1/);
  assert.equal(await v.page.getByLabel('Readers can download and print').isChecked(), false);
  const reader = await newDesktop(t);
  await reader.page.goto(link.url);
  await reader.page.locator('html[data-ready]').waitFor();
  assert.equal(await reader.page.locator('#download, #print').count(), 0);
  await v.page.getByLabel('Readers can download and print').check();
  await v.page.getByRole('button', { name: 'Save', exact: true }).click();
  await eventually(async () => (await api('GET', `/api/v1/lead-magnets/${magnet.id}`)).downloadable, 'it is saved');
  await reader.page.reload();
  await reader.page.locator('#download[href]').waitFor();
});
