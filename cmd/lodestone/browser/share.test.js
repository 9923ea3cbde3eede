// The page that shares the statistics of a lead magnet.
import assert from 'node:assert/strict';

import { api, newAccessLink, newLink, newMagnet } from './api.js';
import { newPhone, newVisitor } from './browser.js';
import { measure } from './measure.js';
import { collector, eventually, longTest, taken, test } from './suite.js';

/** Returns what the API answers about a lead magnet. */
async function totalsOf(id) {
  const { data: [answer] } = await api('POST', '/api/v1/analytics/query', {
    metrics: ['people', 'visitors', 'submissions', 'people_finish_rate', 'people_downloaded', 'people_finished', 'page_views'], filters: { lead_magnet_id: [id] },
  });
  return answer;
}

/** Creates a lead magnet that `readers` people read to page 3 of 4, and one to its end. Returns its id. */
async function newRead(readers) {
  const magnet = await newMagnet({ title: 'A document that is read <b>"often"</b>' });
  await newLink({ lead_magnet_id: magnet.id });
  const list = [];
  for (let i = 0; i < readers; i += 1) {
    const link = await newAccessLink({ lead_magnet_id: magnet.id, email: `reader${i}@example.com` });
    for (let page = 1; page <= (i === 0 ? 4 : 3); page += 1) {
      list.push({ token: link.tracking_token, event_type: 'page_viewed', event_data: { page, duration_ms: 4000 * page } });
    }
  }
  const answer = await fetch(`${collector}/v1/events`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(list) });
  assert.equal(answer.status, 202, await answer.text());
  await eventually(async () => {
    const { totals } = await totalsOf(magnet.id);
    return totals.people === readers && totals.people_finished === 1 && totals.page_views === readers * 3 + 1;
  }, 'stored page views');
  return magnet.id;
}

/** Returns the figures of a page by their metric. */
const figures = (v) => v.page.locator('.tiles [data-metric]').evaluateAll((all) => Object.fromEntries(all.map((e) => [e.dataset.metric, e.dataset.value])));

for (const [device, o] of taken([['phone', {}], ['phone', { dark: true }], ['desktop', {}], ['desktop', { dark: true }]])) {
  test(`share: the numbers of the API, ${device} ${JSON.stringify(o)}`, async (t) => {
    const id = await newRead(6);
    const share = await api('POST', `/api/v1/lead-magnets/${id}/shares`, {});
    const v = await newVisitor(t, device, o);
    await v.page.goto(share.url);
    const asked = await totalsOf(id);
    const shown = await figures(v);
    for (const [metric, value] of Object.entries(asked.totals)) {
      if (metric in shown) assert.equal(shown[metric], String(value), metric);
    }
    assert.equal(shown.people, '6');
    assert.equal(await v.page.locator('svg[role=img]').count(), 3);
    await v.page.getByText('Table').last().click();
    assert.deepEqual(await v.page.locator('[data-metric=people_reached]').evaluateAll((all) => all.map((e) => e.dataset.value)), ['6', '6', '6', '1']);
    assert.equal(await v.page.getByText('example.com').count(), 0, 'no email address');
    await v.accessible();
    await v.screenshot('share', { full: true });
    await measure('share', v);
    await v.page.getByRole('link', { name: '365 days' }).click();
    await v.page.getByText('The last 365 days').waitFor();
    assert.equal((await figures(v)).people, '6');
  });
}

test('share: few readers, without scripts', async (t) => {
  const id = await newRead(2);
  const share = await api('POST', `/api/v1/lead-magnets/${id}/shares`, {});
  const v = await newPhone(t, { scripts: false });
  await v.page.goto(share.url);
  assert.equal((await figures(v)).people, '2');
  await v.page.getByText('Shown from 5 readers up').waitFor();
  assert.equal(await v.page.locator('svg[role=img]').count(), 2);
  await v.screenshot('share-few');
});

longTest('share: with a password, by keyboard', async (t) => {
  const id = await newRead(1);
  const share = await api('POST', `/api/v1/lead-magnets/${id}/shares`, { password: 'correct horse' });
  const v = await newPhone(t, { expected: [/422/] });
  await v.page.goto(share.url);
  await v.accessible();
  await v.screenshot('share-locked');
  await v.page.keyboard.type('wrong horse');
  await v.page.keyboard.press('Enter');
  await v.page.getByText('Wrong password').waitFor();
  await v.accessible();
  await v.screenshot('share-locked-wrong');
  await v.page.keyboard.type('correct horse');
  await v.page.keyboard.press('Enter');
  await v.page.getByText('The last 30 days').waitFor();
  await v.page.reload();
  await v.page.getByText('The last 30 days').waitFor();
  await v.context.clearCookies(); // a visitor stores nothing else
});
