// Documents of the kinds that people upload, on the reading page: every page can be reached and
// fits, the events say what was read, and pictures are those of a second renderer.
import assert from 'node:assert/strict';

import { api, events, newAccessLink, newMagnet } from './api.js';
import { leave, newDesktop, newVisitor, signIn } from './browser.js';
import { document, gallery, marked, pageObject, sized } from './documents.js';
import { difference, popplerPages, shownPage } from './poppler.js';
import { eventually, setting, site, test } from './suite.js';

const upload = async (title, file) => newMagnet({ title, file });

/** Opens a document in a window, and waits until it can be read. */
async function open(t, magnet, [width, height], { hash = '', expected = [], before } = {}) {
  const link = await newAccessLink({ lead_magnet_id: magnet.id });
  const touch = width < 800;
  const v = await newVisitor(t, touch ? 'phone' : 'desktop', { expected, context: { viewport: { width, height }, deviceScaleFactor: touch ? 2 : 1 } });
  await before?.(v.page);
  await v.page.goto(link.url + hash);
  if (!before) await v.page.locator('html[data-ready]').waitFor();
  return { v, page: v.page, link, number: () => v.page.locator('#number').inputValue() };
}

const drawn = (page, n) => page.locator(`.page[data-page="${n}"] > canvas`).waitFor({ state: 'attached' });

/** Stays for longer than a page has to be seen to count as read. */
const stay = (page) => page.waitForTimeout(700);

/** Pages that were read, each once, of a link of which so many are expected. */
async function read(link, count) {
  const pages = await eventually(async () => {
    const set = new Set((await events({ access_link_id: link.id, event_type: 'page_viewed' })).map((e) => e.event_data.page));
    return set.size >= count && [...set];
  }, `${count} pages that were read`);
  return pages.sort((a, b) => a - b);
}

const upTo = (n) => Array.from({ length: n }, (_, i) => i + 1);

/** Scrolls to the end by a fifth of the window at a time, which is more than a strip has. */
async function scrollThrough({ page, number }, count) {
  await stay(page);
  for (let end = false; !end;) {
    end = await page.evaluate(() => {
      scrollBy(0, innerHeight / 5);
      return scrollY >= document.documentElement.scrollHeight - innerHeight - 1;
    });
    await stay(page);
  }
  await eventually(async () => (await number()) === String(count), 'the last page');
  await stay(page);
}

/** Turns from the first page to the last by a key, and back. */
async function turnThrough({ page, number }, count) {
  for (let n = 1; n <= count; n++) {
    if (n > 1) await page.keyboard.press('ArrowRight');
    await stay(page);
    assert.equal(await number(), String(n));
  }
  for (let n = count - 1; n >= 1; n--) {
    await page.keyboard.press('ArrowLeft');
    assert.equal(await number(), String(n));
  }
}

/** Returns what makes a document when it is first asked for, for all who ask. */
function shared(make) {
  let made;
  return () => (made ??= make());
}

const slides = shared(() => upload('Slides', sized(Array(7).fill([1440, 810]))));
const strips = shared(() => upload('Strips', sized(Array(4).fill([612, 100]))));

for (const [name, magnet, window, way, count] of [
  ['slides on a phone, scrolled', slides, [390, 844], scrollThrough, 7],
  ['slides on a tablet, turned', slides, [768, 1024], turnThrough, 7],
  ['slides on an upright screen, turned', slides, [1080, 1920], turnThrough, 7],
  ['strips on a desktop, scrolled', strips, [1280, 800], scrollThrough, 4],
  ['strips that fit a phone, turned', strips, [390, 844], turnThrough, 4],
]) {
  test(`document: every page is reached, fits and counts: ${name}`, async (t) => {
    const o = await open(t, await magnet(), window);
    await drawn(o.page, 1);
    assert.equal(await o.number(), '1');
    await o.v.fits();
    await o.v.screenshot(`document-${window[0]}`);
    await way(o, count);
    await leave(o.page);
    assert.deepEqual(await read(o.link, count), upTo(count));
  });
}

test('document: pages are those of another reader', async (t) => {
  const file = gallery(), names = ['Helvetica', 'Times', 'Courier', 'a font that is lacking', 'Chinese', 'a form', 'turned and cropped', 'cropped', 'a poster', 'a scan'];
  const { page } = await open(t, await upload('Gallery', file), [1280, 800]);
  const wanted = await popplerPages(file, names.length);
  for (const [i, name] of names.entries()) {
    await page.locator('#number').fill(String(i + 1));
    await page.keyboard.press('Enter');
    await drawn(page, i + 1);
    if (name === 'Chinese') { // of its table the text tells; what fonts the system has, the picture
      await page.locator(`.page[data-page="${i + 1}"] .textLayer`, { hasText: 'ЖДB' }).waitFor({ state: 'attached' });
      continue;
    }
    const differs = difference(await shownPage(page, i + 1), wanted[i]);
    assert.ok(differs < 5, `${name} differs by ${differs.toFixed(1)}`);
  }
});

test('document: one bad page costs that page, and its owner sees it', async (t) => {
  const damage = (objects) => { objects[pageObject(3) - 1] = '42'; };
  const magnet = await upload('Damaged', sized(Array(5).fill([595, 842]), { damage }));
  const { v, page, link, number } = await open(t, magnet, [1280, 800]);
  for (const n of upTo(5)) {
    if (n > 1) await page.keyboard.press('ArrowRight');
    assert.equal(await number(), String(n));
    if (n === 3) await page.getByText('Page 3 can’t be shown.').waitFor();
    else await drawn(page, n);
    await stay(page);
  }
  await v.screenshot('document-damaged');
  await leave(page);
  assert.ok((await read(link, 5)).includes(5));
  await eventually(async () => (await api('GET', `/api/v1/lead-magnets/${magnet.id}/versions`)).data[0].unreadable_page === 3, 'the page that could not be shown');
  const owner = await newDesktop(t);
  await signIn(owner, setting('LODESTONE_API_KEY'));
  await owner.page.goto(`${site}/dashboard/magnets/${magnet.id}`);
  await owner.page.getByText('A reader’s browser could not show page 3 of the document.').waitFor();
});

const kids = 1; // the object of the tree of pages

for (const [name, damage, bad] of [
  ['is null', (objects) => { objects[pageObject(3) - 1] = 'null'; }, 3],
  ['is missing', (objects) => { objects[pageObject(3) - 1] = null; }, 3],
  ['is an entry of the tree that leads nowhere', (objects) => { objects[kids] = objects[kids].replace(`${pageObject(3)} 0 R`, '999 0 R'); }, 3],
  ['is an entry of the tree that is no reference', (objects) => { objects[kids] = objects[kids].replace(`${pageObject(3)} 0 R`, '42'); }, 3],
  ['is counted and not there', (objects) => { objects[kids] = objects[kids].replace('/Count 5', '/Count 9'); }],
]) {
  test(`document: the others can be read when a page ${name}`, async (t) => {
    const { page, number } = await open(t, await upload('Damaged', sized(Array(5).fill([595, 842]), { damage })), [1280, 800]);
    assert.equal(await page.locator('#count').textContent(), '5');
    for (const n of upTo(5)) {
      if (n > 1) await page.keyboard.press('ArrowRight');
      assert.equal(await number(), String(n));
      if (n === bad) await page.getByText(`Page ${n} can’t be shown.`).waitFor();
      else await drawn(page, n);
    }
  });
}

test('document: one of which no page can be shown says so, and its owner sees it', async (t) => {
  const sizes = Array(5).fill([595, 842]);
  // An upload refuses such a file, so the reader gets it in the place of a good one of its size.
  const damage = (objects) => { for (const n of upTo(5)) objects[pageObject(n) - 1] = '42'.padEnd(objects[pageObject(n) - 1].length); };
  const magnet = await upload('Unreadable', sized(sizes));
  const { page } = await open(t, magnet, [1280, 800], {
    before: (p) => p.route(/\/file\?/, async (route) => route.fulfill({ response: await route.fetch(), body: Buffer.from(sized(sizes, { damage })) })),
  });
  await page.getByText('This document can’t be shown here. It may open after a download.').waitFor();
  await eventually(async () => (await api('GET', `/api/v1/lead-magnets/${magnet.id}/versions`)).data[0].unreadable_page === 0, 'the document that could not be shown');
});

test('document: a page that takes too long says so, and holds up no other page', async (t) => {
  const { page } = await open(t, await upload('Slow', sized(Array(2).fill([1440, 810]))), [768, 1024], {
    before: async (p) => {
      await p.clock.install();
      await p.addInitScript(() => { // the first page is never decoded
        const { postMessage } = Worker.prototype;
        Worker.prototype.postMessage = function post(message, ...rest) {
          if (message?.action !== 'GetOperatorList' || message.data.pageIndex !== 0) postMessage.call(this, message, ...rest);
        };
      });
    },
  });
  await page.locator('.page.waiting[data-page="1"]').waitFor();
  await page.clock.runFor(31_000);
  await page.getByText('Page 1 can’t be shown.').waitFor();
  await drawn(page, 2);
});

test('document: a jump stays where it was asked to, though the pages are of many sizes', async (t) => {
  const sizes = upTo(26).map((n) => (n < 9 ? [1440, 810] : n % 3 === 0 ? [612, 792] : n % 3 === 1 ? [595, 300] : [1440, 810]));
  const { page, number } = await open(t, await upload('Mixed', sized(sizes, { padding: 20_000 })), [390, 844], { hash: '#page=15' });
  for (const n of [14, 15, 16]) await drawn(page, n); // then the pages beside it have been measured
  const top = () => page.locator('.page[data-page="15"]').evaluate((e) => Math.round(e.getBoundingClientRect().top));
  assert.equal(await top(), 56);
  assert.equal(await number(), '15');
  await page.waitForFunction(() => history.state?.page === 15);
  await page.reload();
  await page.locator('html[data-ready]').waitFor();
  for (const n of [14, 15, 16]) await drawn(page, n);
  assert.equal(await top(), 56);
  assert.equal(await number(), '15');
});

test('document: its links and buttons lead to where they say, on cropped and turned pages', async (t) => {
  const to = (n, place) => `/Dest [${pageObject(n)} 0 R ${place}]`;
  const linked = (y, entries) => `<< /Type /Annot /Subtype /Link /Rect [60 ${y} 300 ${y + 60}] /Border [0 0 0] ${entries} >>`;
  const annotations = [
    linked(700, to(2, '/XYZ 100 585 null')), linked(600, to(3, '/XYZ 150 800 null')), linked(500, '/A << /S /Named /N /LastPage >>'),
    '<< /Type /Annot /Subtype /Widget /FT /Btn /Ff 65536 /T (b) /Rect [60 300 300 360] /A << /S /URI /URI (https://example.com/more) >> >>',
  ];
  const file = document([
    { content: marked(1), entries: `/Annots [${annotations.join(' ')}]` },
    { content: marked(2), entries: '/CropBox [82.5 90 512.5 750]' }, { content: marked(3), entries: '/Rotate 90' }, { content: marked(4) }, { content: marked(5) },
  ]);
  const { page, number } = await open(t, await upload('Links', file), [1280, 800]);
  const spots = page.locator('.page[data-page="1"] .link-spot');
  await spots.nth(3).waitFor();
  const spot = (y) => spots.nth([700, 600, 500].indexOf(y)); // in the order of the document
  assert.equal(await page.locator('.link-spot[href="https://example.com/more"]').count(), 1);
  const above = (n) => page.locator(`.page[data-page="${n}"]`).evaluate((e) => {
    const box = e.getBoundingClientRect();
    return (document.querySelector('#bar').offsetHeight - box.top) / box.height;
  });
  for (const [y, n, share] of [[700, 2, (750 - 585) / 660], [600, 3, 150 / 595], [500, 5, 0]]) {
    await page.keyboard.press('Home');
    await spot(y).click();
    assert.equal(await number(), String(n));
    if (share > 0) assert.ok(Math.abs(await above(n) - share) < 0.01, `page ${n}: ${await above(n)} instead of ${share}`);
  }
});

test('document: a selection ends at the line', async (t) => {
  const content = upTo(24).map((n) => `BT /F1 14 Tf 60 ${790 - n * 28} Td (Line ${n} of a text that is not as wide as its page) Tj ET`).join('\n');
  const { page } = await open(t, await upload('Text', document([{ content }])), [1280, 900]);
  const line = await page.locator('.textLayer span', { hasText: 'Line 8 ' }).boundingBox(), paper = await page.locator('.page').boundingBox();
  const from = line.x + line.width / 2, y = line.y + line.height / 2;
  // What the pointer passed in one step more or less is not the matter; that it ends with the line is.
  for (const [to, words] of [[paper.x + paper.width - 8, /not as wide as its/], [paper.x + 8, /8 of a text/]]) {
    await page.mouse.move(from, y);
    await page.mouse.down();
    await page.mouse.move(to, y, { steps: 12 });
    const selected = await page.evaluate(() => getSelection().toString());
    await page.mouse.up();
    assert.match(selected, words);
    assert.ok(selected.length < 50 && !selected.includes('\n'), selected);
    await page.mouse.click(paper.x + paper.width - 8, paper.y + 8);
  }
});

test('document: a long page opens at its width, and every page is printed in its own size', async (t) => {
  const sizes = [[600, 3000], [842, 595], [595, 842]];
  const { page } = await open(t, await upload('Sizes', sized(sizes)), [1280, 800], {
    before: (p) => p.addInitScript(() => {
      globalThis.print = () => {
        globalThis.printed = [...document.querySelectorAll('#paper > *')].map((sheet) => {
          const name = getComputedStyle(sheet).page;
          return [...document.querySelector('style').sheet.cssRules].find((r) => r instanceof CSSPageRule && r.selectorText === name)?.style.size;
        });
      };
    }),
  });
  await page.locator('html[data-ready]').waitFor();
  await drawn(page, 1);
  assert.ok((await page.locator('.page[data-page="1"]').boundingBox()).width > 800);
  await page.locator('#print').click();
  await page.waitForFunction(() => globalThis.printed);
  assert.deepEqual(await page.evaluate(() => globalThis.printed), sizes.map(([width, height]) => `${width}pt ${height}pt`));
});

for (const [name, script, body] of [
  ['cannot read its scripts', '**/viewer.js', 'class Newer { static { let of the year = 2030; } }'],
  ['lacks what they call', '**/pdf.min.js', 'throw new TypeError("newer is not a function");'],
]) {
  test(`document: a browser that ${name} has two buttons, and spends no view`, async (t) => {
    const { page, v, link } = await open(t, await slides(), [390, 844], {
      expected: [/./], before: (p) => p.route(script, (route) => route.fulfill({ contentType: 'text/javascript', body })),
    });
    await page.getByRole('button', { name: 'Open the document' }).waitFor();
    await page.getByRole('button', { name: 'Download it' }).waitFor();
    await v.fits();
    await v.screenshot('document-older');
    assert.equal((await api('GET', `/api/v1/access-links/${link.id}`)).view_count, 0);
  });
}
