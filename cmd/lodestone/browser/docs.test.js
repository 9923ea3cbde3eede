// The page that describes the API.
import assert from 'node:assert/strict';

import { newDesktop, newVisitor } from './browser.js';
import { measure } from './measure.js';
import { site, test } from './suite.js';

for (const [device, o] of [['phone', {}], ['tablet', { dark: true }], ['desktop', { dark: true }], ['desktop', { scripts: false }]]) {
  test(`API documentation, ${device} ${JSON.stringify(o)}`, async (t) => {
    const v = await newVisitor(t, device, o);
    await v.page.goto(`${site}/api/v1/docs`);
    await v.accessible();
    await v.fits();
    await v.screenshot('docs');
    await measure(o.scripts === false ? 'docs-plain' : 'docs', v, { except: ['document'] }); // every operation is on one page
    const target = v.page.locator('[id]').filter({ hasText: '/api/v1/analytics/email' }).last();
    await target.scrollIntoViewIfNeeded();
    await v.screenshot('docs-operation');
  });
}

test('API documentation: with the keyboard alone', async (t) => {
  const v = await newDesktop(t);
  await v.page.goto(`${site}/api/v1/docs`);
  for (let i = 0; i < 15; i++) {
    await v.page.keyboard.press('Tab');
    const on = await v.page.evaluate(() => {
      const e = document.activeElement;
      const style = getComputedStyle(e);
      return { html: e.outerHTML.slice(0, 100), body: e === document.body, ring: style.outlineStyle !== 'none' || style.boxShadow !== 'none' };
    });
    assert.ok(!on.body && on.ring, `${on.html} shows no focus`);
  }
});

test('API documentation: an operation is found by its words', async (t) => {
  const v = await newDesktop(t);
  await v.page.goto(`${site}/api/v1/docs`);
  await v.page.keyboard.press('/');
  await v.page.keyboard.type('get analytics/export');
  await v.page.getByText('1 found').waitFor();
  assert.equal(await v.page.locator('.side nav li:visible').count(), 1);
  await v.accessible();
  await v.screenshot('docs-find');
  await v.page.keyboard.press('Enter');
  await v.page.waitForURL(/#export-analytics-events$/);
  await v.page.keyboard.press('Escape');
  assert.ok(await v.page.locator('.side nav li:visible').count() > 20);
});

test('API documentation: a phone finds an operation', async (t) => {
  const v = await newVisitor(t, 'phone');
  await v.page.goto(`${site}/api/v1/docs`);
  await v.page.getByLabel('Find an operation').fill('get analytics/export');
  await v.page.getByText('1 found').waitFor();
  await v.accessible();
  await v.fits();
  await v.screenshot('docs-find');
  await v.page.locator('.side nav li:visible a').tap();
  await v.page.waitForURL(/#export-analytics-events$/);
  assert.equal(await v.page.locator('.side details').getAttribute('open'), null, 'the contents fold again');
});

for (const [device, o] of [['phone', {}], ['desktop', { dark: true }]]) {
  test(`API documentation: the page of a problem, ${device}`, async (t) => {
    const v = await newVisitor(t, device, o);
    const answer = await fetch(`${site}/api/v1/generic-links`);
    assert.equal(answer.status, 401);
    const problem = await answer.json();
    await v.page.goto(new URL(problem.type, site).href);
    await v.page.getByRole('heading', { name: problem.title, level: 1 }).waitFor();
    await v.accessible();
    await v.fits();
    await v.screenshot('problem');
  });
}
