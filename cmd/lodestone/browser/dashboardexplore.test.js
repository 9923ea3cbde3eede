// Charts that answer to the pointer and to keys: one series to explore, the values of bars and grids, and the keys of the dashboard.
import assert from 'node:assert/strict';

import { newDesktop, newPhone, signIn } from './browser.js';
import { setting, site, test } from './suite.js';

async function overview(v, query = '') {
  await signIn(v, setting('LODESTONE_PAST_API_KEY'));
  await v.page.goto(`${site}/dashboard${query}`);
}

test('explore: a chart zooms by keys and by dragging, and its days become the period', async (t) => {
  const v = await newDesktop(t);
  await overview(v, '?days=30');
  assert.equal(v.requests.filter((r) => r.url().includes('/explore.js')).length, 0, 'the script comes when it is asked for');
  await v.page.locator('.explore-this').first().click();
  const box = v.page.locator('.explore [role=group]');
  await box.waitFor();
  assert.equal(await box.evaluate((e) => e === document.activeElement), true);
  const announced = v.page.locator('#announced');
  const link = v.page.locator('.explore a');
  await box.press('ArrowLeft');
  assert.match(await announced.textContent(), /\d/);
  await box.press('+');
  await link.waitFor();
  const zoomed = new URL(await link.getAttribute('href'), site).searchParams;
  assert.ok(zoomed.get('from') < zoomed.get('to'));
  await v.accessible();
  await v.screenshot('dashboard-explore', { full: false });
  await box.press('0');
  assert.equal(await link.isHidden(), true, 'all days are the period already');
  const { x, y, width, height } = await v.page.locator('.explore .u-over').boundingBox();
  await v.page.mouse.move(x + width * 0.25, y + height / 2);
  await v.page.mouse.down();
  await v.page.mouse.move(x + width * 0.5, y + height / 2, { steps: 5 });
  await v.page.mouse.up();
  await link.waitFor();
  const dragged = new URL(await link.getAttribute('href'), site).searchParams;
  const days = (new Date(dragged.get('to')) - new Date(dragged.get('from'))) / 86_400_000 + 1;
  assert.ok(days >= 6 && days <= 10, `a quarter of 30 days, and not ${days}`);
  await link.click();
  await v.page.waitForURL(new RegExp(`from=${dragged.get('from')}`));
  assert.equal(await v.page.locator('.explore').count(), 0);
});

test('explore: Esc shows the picture again, in the dark and on a phone', async (t) => {
  const v = await newPhone(t, { dark: true });
  await overview(v);
  await v.page.locator('.explore-this').first().click();
  await v.page.locator('.explore [role=group]').waitFor();
  await v.accessible();
  await v.fits();
  await v.screenshot('dashboard-explore-phone-dark', { full: false });
  await v.page.keyboard.press('Escape');
  await v.page.locator('.explore').waitFor({ state: 'detached' });
  assert.equal(await v.page.locator('.explore-this').first().evaluate((e) => e === document.activeElement), true);
});

test('keys: g m leads to the lead magnets, and single keys can be switched off', async (t) => {
  const v = await newDesktop(t);
  await overview(v);
  await v.page.goto(`${site}/dashboard/live`);
  await Promise.all([v.page.keyboard.press('g'), v.page.keyboard.press('m')]); // within the time that a letter may follow
  await v.page.waitForURL(`${site}/dashboard#magnets`);
  await v.page.keyboard.press('?');
  const box = v.page.locator('dialog #letters');
  await box.waitFor();
  assert.equal(await box.isChecked(), true);
  await v.accessible();
  await box.uncheck();
  await v.page.keyboard.press('Escape');
  await v.page.reload();
  await v.page.keyboard.press('?');
  await v.page.keyboard.press('g');
  await v.page.keyboard.press('s');
  assert.equal(await v.page.locator('dialog').count(), 0);
  assert.equal(new URL(v.page.url()).pathname, '/dashboard');
  await v.page.locator('button.keys').click();
  await box.check();
  await v.page.keyboard.press('Escape');
  await v.page.keyboard.press('?');
  await box.waitFor();
});

test('charts: bars and grids say their values to the pointer and to keys', async (t) => {
  const v = await newDesktop(t);
  await signIn(v, setting('LODESTONE_PAST_API_KEY'));
  await v.page.goto(`${site}/dashboard`);
  await v.page.locator('table.magnets th[scope=row] a').first().click();
  const heat = v.page.locator('svg.heat[tabindex]').first(); // its script listens
  await heat.waitFor();
  await heat.focus();
  await v.page.keyboard.press('ArrowRight');
  assert.match(await v.page.locator('#announced').textContent(), /:00/);
  await v.page.locator('.field.at p').waitFor();
  await v.page.keyboard.press('Escape');
  await v.page.locator('.field.at').waitFor({ state: 'detached' });
  const { x, y, width, height } = await heat.boundingBox();
  await v.page.mouse.move(x + width * 0.6, y + height * 0.5);
  await v.page.locator('.field.at p').waitFor();
  await v.screenshot('dashboard-readout', { full: false });
});

test('charts: a step of the funnel leads to the people whom it counts, by pointer and by keys', async (t) => {
  const v = await newDesktop(t);
  await signIn(v, setting('LODESTONE_PAST_API_KEY'));
  await v.page.goto(`${site}/dashboard`);
  await v.page.locator('table.magnets th[scope=row] a').first().click();
  const funnel = v.page.locator('svg.stack[tabindex]').first(); // its script listens
  await funnel.waitFor();
  const magnet = new URL(v.page.url()).pathname.split('/').pop();
  const step = async (press, wanted) => {
    const back = v.page.url();
    await press();
    await v.page.waitForURL(wanted);
    await v.page.goto(back);
    await funnel.waitFor();
  };
  const { width, height } = await funnel.boundingBox();
  const names = await v.page.locator('figure.chart', { has: funnel }).locator('tbody th').allTextContents();
  const finished = names.indexOf('Read to the end');
  await step(() => funnel.click({ position: { x: width / 2, y: height * ((finished + 0.5) / names.length) } }),
    (u) => u.pathname === '/dashboard/readers' && u.searchParams.get('lead_magnet_id') === magnet && u.searchParams.get('finished') === 'true');
  await step(async () => {
    await funnel.focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await v.page.keyboard.press(key);
  }, (u) => u.pathname === '/dashboard/links' && u.searchParams.get('magnet') === magnet);
});
