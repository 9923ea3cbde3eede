// Searching in a document on its reading page, and its dark paper.
import assert from 'node:assert/strict';

import { newAccessLink, newMagnet, events, eventsOf } from './api.js';
import { leave, newDesktop, newPhone, newVisitor, picture } from './browser.js';
import { pdf } from './pdf.js';
import { eventually, test } from './suite.js';

const ready = (page) => page.locator('html[data-ready]').waitFor();
const at = (page, n) => page.waitForFunction((k) => document.querySelector('#number').value === k, String(n));
const says = (page, words) => page.locator('#hits').getByText(words, { exact: true }).waitFor();
const spots = (rule, html) => rule === 'target-size' && html.includes('link-spot');

/** A link to a document of 60 pages, of which some name apples. */
async function orchard(o = {}) {
  const text = (n) => (n % 20 === 2 ? `Apples, and an apple: page ${n}.` : `Nothing on page ${n}.`);
  return newAccessLink({ lead_magnet_id: (await newMagnet({ file: pdf({ pages: 60, text, ...o }), title: 'An orchard' })).id });
}

/** The words below the marks of the hit that is shown, and where it is in the window. */
const chosen = (page) => page.evaluate(() => {
  const marks = [...document.querySelectorAll('.marks .chosen')].map((m) => m.getBoundingClientRect());
  const bar = Math.max(document.querySelector('#bar').getBoundingClientRect().bottom, document.querySelector('#search').getBoundingClientRect().bottom);
  return { count: marks.length, seen: marks.every((m) => m.top >= bar && m.bottom <= innerHeight && m.left >= 0 && m.right <= innerWidth && m.width > 4 && m.height > 4) };
});

for (const padding of [0, 150_000]) { // complete, and in parts
  test(`search: hits of all pages are counted, marked and stepped through, ${padding ? 'in parts' : 'complete'}`, async (t) => {
    const link = await orchard({ padding });
    const v = await newDesktop(t);
    await v.page.goto(link.url);
    await ready(v.page);
    await v.page.keyboard.press('Control+f');
    await v.page.getByRole('search').waitFor();
    await v.page.keyboard.type('APPLE');
    await says(v.page, '1 of 6');
    await at(v.page, 2);
    await v.page.waitForFunction(() => document.querySelectorAll('.page[data-page="2"] .marks span').length === 2);
    assert.deepEqual(await chosen(v.page), { count: 1, seen: true });
    await v.page.keyboard.press('Enter'); // on the same page
    await says(v.page, '2 of 6');
    await at(v.page, 2);
    await v.page.keyboard.press('Enter'); // on a page that was never drawn
    await says(v.page, '3 of 6');
    await at(v.page, 22);
    await v.page.locator('.page[data-page="22"] .marks .chosen').waitFor({ state: 'attached' });
    assert.deepEqual(await chosen(v.page), { count: 1, seen: true });
    await v.page.keyboard.press('Shift+Enter');
    await v.page.keyboard.press('Shift+Enter');
    await v.page.keyboard.press('Shift+Enter'); // around the beginning
    await says(v.page, '6 of 6');
    await at(v.page, 42);
    await v.page.keyboard.press('F3');
    await says(v.page, '1 of 6');
    await at(v.page, 2);
    await v.page.locator('#query').fill('pears');
    await says(v.page, 'No results');
    assert.equal(await v.page.locator('.marks').count(), 0);
    await v.page.keyboard.press('Escape');
    await v.page.getByRole('search').waitFor({ state: 'hidden' });
    assert.equal(await v.page.locator('.marks').count(), 0);
    await v.page.keyboard.press('/');
    await v.page.locator('#query').fill('page 42.');
    await says(v.page, '1 of 1');
    await at(v.page, 42);
  });
}

test('search: a hit is read as a page that one turns to', async (t) => {
  const link = await orchard();
  const v = await newDesktop(t);
  await v.page.goto(link.url);
  await ready(v.page);
  await v.page.waitForTimeout(1200);
  await v.page.keyboard.press('/');
  await v.page.locator('#query').fill('an apple');
  await at(v.page, 2);
  await v.page.waitForTimeout(1200);
  await v.page.keyboard.press('Enter');
  await at(v.page, 22);
  await v.page.waitForTimeout(1200);
  await leave(v.page);
  const all = await eventsOf({ access_link_id: link.id }, 3);
  assert.deepEqual(all.map((e) => e.event_data.page).sort((a, b) => a - b), [1, 2, 22]);
  const stored = await events({ access_link_id: link.id });
  assert.ok(!JSON.stringify(stored).includes('apple'), 'what is looked for is told to no one');
  assert.ok(v.requests.every((r) => !decodeURIComponent(r.url()).includes('apple') && !r.postData()?.includes('apple')));
});

for (const [device, dark] of [['phone', false], ['phone', true], ['tablet', false], ['desktop', false], ['desktop', true]]) {
  test(`search: the page, ${device} ${dark ? 'dark' : 'light'}`, async (t) => {
    const link = await newAccessLink();
    const v = await newVisitor(t, device, { dark });
    await v.page.goto(link.url);
    await ready(v.page);
    if (device === 'phone') {
      await v.page.getByRole('button', { name: 'More' }).click();
      await v.screenshot('search-menu');
      await v.page.getByRole('button', { name: 'Search the document' }).click();
    } else await v.page.getByRole('button', { name: 'Search the document' }).click();
    await v.page.locator('#query:focus').waitFor();
    await v.page.locator('#query').fill('address');
    await v.page.locator('#hits').getByText(/^1 of \d\d$/).waitFor();
    await v.page.getByRole('button', { name: 'Next result' }).click();
    await v.page.locator('#hits').getByText(/^2 of /).waitFor();
    await v.page.locator('.marks .chosen').first().waitFor({ state: 'attached' });
    await v.page.waitForFunction(() => document.querySelectorAll('.page.waiting').length === 0);
    await eventually(async () => {
      const { count, seen } = await chosen(v.page);
      return count > 0 && seen;
    }, 'the hit in the window');
    await v.accessible(v.page, spots);
    await v.fits();
    await v.screenshot('search-hits');
    if (device === 'phone') { // zoomed in, the hit is still in the window
      await v.page.getByRole('button', { name: 'Close the search' }).click();
      await v.page.getByRole('button', { name: 'More' }).click();
    }
    await v.page.getByRole('button', { name: 'Dark paper' }).click();
    await v.page.locator('html[data-dark]').waitFor();
    await v.accessible(v.page, spots);
    await v.screenshot('search-dark-paper');
  });
}

test('search: scanned pages have no words, and a document says so', async (t) => {
  const link = await newAccessLink({ lead_magnet_id: (await newMagnet({ file: pdf({ pages: 3, text: () => '' }), title: 'A scan' })).id });
  const v = await newPhone(t);
  await v.page.goto(link.url);
  await ready(v.page);
  await v.page.keyboard.press('Control+f');
  await v.page.locator('#query').fill('word');
  await says(v.page, 'This document has no text');
  await v.fits();
  await v.screenshot('search-no-text');
});

test('search: photographs on dark paper are no negatives, and drawings are inverted with the page', async (t) => {
  const image = (x, y, pixels) => `q 250 0 0 250 ${x} ${y} cm BI /W 2 /H 2 /CS /RGB /BPC 8 /F /AHx ID ${pixels}> EI Q `;
  const fill = image(40, 300, 'a03020a03020a03020a03020') + image(305, 300, 'f8f8fff8f8fff8f8fff8f8ff');
  const link = await newAccessLink({ lead_magnet_id: (await newMagnet({ file: pdf({ pages: 2, fill }), title: 'An album' })).id });
  const v = await newDesktop(t);
  await v.page.goto(link.url);
  await ready(v.page);
  await v.page.keyboard.press('d');
  await v.page.locator('.page[data-page="1"] > canvas.photographs').waitFor();
  await v.screenshot('search-photographs');
  const { x, y, width, height } = await v.page.locator('.page[data-page="1"]').boundingBox();
  const colour = async (px, py) => { // of a point of the page, in points of A4
    const clip = { x: x + px / 595 * width, y: y + (1 - py / 842) * height, width: 8, height: 8 };
    return pixel(v.page, (await picture(v.page, { clip })).toString('base64'));
  };
  const [red, green, blue] = await colour(150, 420);
  assert.ok(red > 100 && red > 2 * green && red > 2 * blue, `the photograph is ${red} ${green} ${blue}`);
  for (const [name, at] of Object.entries({ drawing: [420, 420], paper: [300, 150] })) {
    const tones = await colour(...at);
    assert.ok(Math.max(...tones) < 60, `${name}: ${tones}`);
  }
});

/** How bright the middle of a page is on the screen, from 0 to 255. */
const brightness = async (page, n) => {
  const shot = (await picture(page.locator(`.page[data-page="${n}"]`))).toString('base64');
  return Math.round((await pixel(page, shot)).reduce((a, b) => a + b) / 3);
};

/** The colour of a picture on average: red, green, blue. */
const pixel = (page, shot) => page.evaluate(async (data) => {
  const image = Object.assign(new Image(), { src: `data:image/png;base64,${data}` });
  await image.decode();
  const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d');
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, 0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}, shot);

test('search: dark paper is switched on, kept by the tab, and off again', async (t) => {
  const fill = '0.05 0.05 0.15 rg 0 0 595 842 re f 1 1 1 rg';
  const night = await newAccessLink({ lead_magnet_id: (await newMagnet({ file: pdf({ pages: 1, fill }), title: 'A night' })).id });
  const link = await orchard();
  const v = await newDesktop(t);
  await v.page.goto(link.url);
  await ready(v.page);
  await v.page.locator('.page[data-page="1"] > canvas').waitFor();
  assert.ok(await brightness(v.page, 1) > 230, 'paper is white');
  const button = v.page.getByRole('button', { name: 'Dark paper' });
  await button.click();
  assert.equal(await button.getAttribute('aria-pressed'), 'true');
  assert.ok(await brightness(v.page, 1) < 60, 'paper is dark');
  await v.page.reload();
  await ready(v.page);
  await v.page.locator('.page[data-page="1"] > canvas').waitFor();
  assert.ok(await brightness(v.page, 1) < 60, 'and stays so');
  await v.page.keyboard.press('d');
  assert.ok(await brightness(v.page, 1) > 230, 'paper is white again');
  await v.page.keyboard.press('d');
  await v.page.goto(night.url); // a page that is dark by itself is no lamp
  await ready(v.page);
  await v.page.locator('.page[data-page="1"] > canvas').waitFor();
  const before = await brightness(v.page, 1);
  assert.ok(before < 60, `${before}`);
  await v.page.keyboard.press('d');
  assert.ok(Math.abs(await brightness(v.page, 1) - before) < 5);
});
