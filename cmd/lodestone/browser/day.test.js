// The day of an owner: a guide is published, 20 people are invited from a CSV, three of them read it, one is called, one is reminded, and one is erased.
// The owner is at a desktop and uses no mouse, and looks at the results on a phone; the three read on phones. One step a picture, day-01 and on.
import assert from 'node:assert/strict';

import { api } from './api.js';
import { leave, newDesktop, newPhone, signIn } from './browser.js';
import { laidOut } from './layout.js';
import { linkOf, mailTo, mailsTo } from './mail.js';
import { pdf } from './pdf.js';
import { eventually, setting, site, test } from './suite.js';

const people = Array.from({ length: 20 }, (_, i) => ({ name: `Recipient ${i + 1}`, email: `recipient-${i + 1}@northwind.example` }));
const [finisher, leaver, glancer, silent] = people;
// As a spreadsheet of the desk has it: with a head, semicolons, a row twice, and a name that would be a formula.
const list = ['Name;E-mail', ...people.map((p) => `${p.name};${p.email}`), `Again;${people[0].email}`, '=HYPERLINK("x");not an address'].join('\r\n');

/** Follows a link or presses a button by the keyboard alone. */
async function press(locator) {
  await locator.focus();
  await locator.press('Enter');
}

/** Reads a document to a page, on a phone. */
async function read(t, recipient, last) {
  const v = await newPhone(t);
  await v.page.goto(linkOf(await mailTo(recipient.email), '/a/'));
  await v.page.locator('html[data-ready]').waitFor();
  for (let n = 1; n <= last; n++) {
    await v.page.evaluate((k) => document.querySelector(`.page[data-page="${k}"]`).scrollIntoView(), n);
    await v.page.waitForFunction((k) => document.querySelector('#number').value === String(k), n);
    await v.page.waitForTimeout(1500); // reading
  }
  await leave(v.page); // the last page is reported as it is left
}

test('an owner\'s day: invite, see who reads, call, remind, erase', async (t) => {
  let steps = 0;
  const owner = await newDesktop(t);
  const { page } = owner;
  const seen = async (what) => {
    await owner.look(`day-${String(++steps).padStart(2, '0')}-${what}`);
  };
  await signIn(owner, setting('LODESTONE_API_KEY'), '/dashboard/new');

  await page.getByLabel('PDF', { exact: true }).setInputFiles({
    name: 'q4.pdf', mimeType: 'application/pdf', buffer: Buffer.from(pdf({ pages: 4, title: 'Buying with a plan' })),
  });
  await press(page.getByRole('button', { name: 'Publish' }));
  await page.locator('main .kicker', { hasText: 'Buying with a plan' }).waitFor(); // the PDF's own title
  await press(page.getByRole('link', { name: 'Send', exact: true }));
  await page.waitForURL(/\/links\/[^/]+#recipients$/);
  const link = new URL(page.url()).pathname.split('/').pop();
  await press(page.locator('#recipients').getByRole('link'));

  await page.getByLabel('Or upload a CSV file').setInputFiles({ name: 'fair.csv', mimeType: 'text/csv', buffer: Buffer.from(list) });
  await press(page.locator('#add form[enctype]').getByRole('button', { name: 'Check the list' }));
  await page.getByRole('heading', { name: '20 recipients will be added from 22 rows' }).waitFor();
  await page.getByText('1 row repeats an email address').waitFor();
  await page.getByText('1 row has no valid email address').waitFor();
  await seen('preview');
  await press(page.getByRole('button', { name: 'Add 20 recipients' }));
  await page.getByText('20 recipients added. No email has been sent yet.').waitFor();
  assert.equal((await mailsTo(finisher.email)).length, 0);
  await page.locator('#send').getByLabel('Subject').fill('The guide we spoke about, {name}');
  await press(page.getByRole('button', { name: 'Send to 20 recipients' }));
  await page.getByText('20 emails are on their way.').waitFor();
  await seen('sent');
  await Promise.all(people.map((p) => mailTo(p.email)));
  assert.equal((await mailTo(finisher.email)).subject, `The guide we spoke about, ${finisher.name}`);

  await Promise.all([read(t, finisher, 4), read(t, leaver, 2), read(t, glancer, 1)]);
  const states = () => api('GET', `/api/v1/generic-links/${link}/recipients/counts`);
  await eventually(async () => {
    const { states: now } = await states();
    return now.finished === 1 && now.opened === 2 && now.sent === 17;
  }, 'one has finished, two have opened');
  await page.reload();
  const rows = page.locator('#list tbody tr');
  await rows.filter({ hasText: finisher.email }).getByText('finished').waitFor();
  await rows.filter({ hasText: silent.email }).locator('.tag', { hasText: 'sent' }).waitFor();
  await seen('recipients');

  // Whom to call: who finished, with the reason.
  const calls = page.locator('#call li');
  await eventually(async () => {
    await page.goto(`${site}/dashboard`);
    return await calls.filter({ hasText: finisher.name }).count() === 1;
  }, 'the one who finished is to be called');
  await calls.filter({ hasText: finisher.name }).getByText('Read Buying with a plan to the end.').waitFor();
  assert.equal(await calls.filter({ hasText: silent.name }).count(), 0);
  await seen('whom-to-call');
  await press(calls.getByRole('link', { name: finisher.name }));
  await page.getByRole('heading', { name: finisher.name, level: 1 }).waitFor();
  assert.equal(await page.locator('#email').getAttribute('href'), `mailto:${finisher.email}`);
  await page.getByLabel('Status').selectOption({ label: 'In touch' });
  await page.getByLabel('Note').fill('Called; wants an offer by Friday.');
  await press(page.getByRole('button', { name: 'Save' }));
  await page.getByText('Saved.').waitFor();
  await seen('called');

  // Who has not opened it, or left on the first two pages, is reminded: once.
  await page.goto(`${site}/dashboard/links/${link}/recipients`);
  await press(page.getByText('Write a reminder'));
  const remind = page.locator('#remind');
  await remind.getByLabel('Days without opening').fill('0');
  await remind.getByLabel('Or stopped before page').fill('2');
  await remind.getByLabel('Subject').fill('Did you see it?');
  await press(page.getByRole('button', { name: 'Remind now' }));
  await page.getByText('18 reminders are on their way.').waitFor(); // all but the finisher and the leaver
  assert.equal((await mailTo(glancer.email, 2)).subject, 'Did you see it?');
  assert.equal((await mailTo(silent.email, 2)).subject, 'Did you see it?');
  await seen('reminded');
  assert.equal((await mailsTo(finisher.email)).length, 1);
  assert.equal((await mailsTo(leaver.email)).length, 1);

  // One asks to be forgotten.
  await press(rows.filter({ hasText: leaver.email }).getByRole('link', { name: leaver.name }));
  const erase = page.locator('#erase');
  await press(erase.locator('summary'));
  await erase.locator('input[name=confirm]').fill(leaver.email);
  await press(erase.getByRole('button', { name: 'Erase' }));
  await page.getByRole('heading', { name: 'This person has been erased.' }).waitFor();
  await seen('erased');
  await page.goto(`${site}/dashboard/links/${link}/recipients`);
  await page.getByRole('heading', { name: '19 recipients', level: 1 }).waitFor();
  assert.equal(await rows.filter({ hasText: leaver.email }).count(), 0);

  // On the way home, on a phone: the numbers are those of the API.
  const phone = await newPhone(t);
  await signIn(phone, setting('LODESTONE_API_KEY'), `/dashboard/links/${link}/recipients`);
  const { total, states: counted } = await states();
  await phone.page.getByRole('heading', { name: `${total} recipients`, level: 1 }).waitFor();
  for (const [state, n] of Object.entries(counted).filter(([, count]) => count > 0)) {
    assert.match(await phone.page.locator('#list > p.small').innerText(), new RegExp(`${n} ${state === 'added' ? 'not sent' : state}`));
  }
  await laidOut(phone.page);
  await phone.accessible();
});
