// The mails, as programs for mails draw them. The files are those of crud/mail's golden tests: mails about readers in each language, every other kind in
// three of them, and every kind with text that would run.
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';

import { newVisitor } from './browser.js';
import { test } from './suite.js';

const directory = new URL('../../../crud/mail/testdata/', import.meta.url);
const filesIn = async (folder) => (await readdir(new URL(folder, directory))).sort().map((file) => `${folder}/${file}`);
const draw = async (v, file) => v.page.setContent(await readFile(new URL(file, directory), 'utf8'));

const about = await filesIn('reading'), others = await filesIn('kind'), hostile = await filesIn('hostile');

for (const width of [320, 360, 600]) { // 320 is 1280 at a zoom of 400 %
  for (const dark of [false, true]) {
    test(`mails: ${width} px, ${dark ? 'dark' : 'light'}`, async (t) => {
      assert.deepEqual([about.length, others.length, hostile.length], [5 * 8, 10 * 3, 13], 'kinds of mails');
      const v = await newVisitor(t, 'desktop', { dark, context: { viewport: { width, height: 800 } } });
      for (const file of [...about, ...others]) {
        const name = file.replace(/^.*\/|\.html$/g, '');
        await draw(v, file);
        await v.fits();
        const cut = await v.page.evaluate(() => [...document.querySelectorAll('a, p, h1, h2, td, th')]
          .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline')
          .map((e) => `${e.tagName}: ${e.textContent.trim().slice(0, 60)}`));
        assert.deepEqual(cut, [], `${name} is cut off`);
        await v.accessible();
        if (width > 320 && /-(de|pl|en)$/.test(name)) await v.screenshot(`mail-${name}-${width}`, { full: true });
      }
    });
  }
}

test('mails: what was typed is shown, and does not run', async (t) => {
  const v = await newVisitor(t, 'desktop');
  const ran = [];
  await v.context.exposeBinding('ran', () => { ran.push(v.page.url()); });
  for (const file of hostile) {
    await draw(v, file);
    const { texts, wrong } = await v.page.evaluate(() => ({
      texts: document.body.textContent,
      wrong: [...document.querySelectorAll('*')].filter((e) => e.tagName === 'IMG' || [...e.attributes].some((a) => /^on/.test(a.name) || /^\s*javascript:/i.test(a.value))).map((e) => e.outerHTML),
    }));
    assert.deepEqual(wrong, [], file);
    assert.ok(texts.includes(`"'><img src=x onerror=ran()>`), `${file} shows nothing that was typed`);
    await v.accessible();
  }
  assert.deepEqual(ran, []);
  assert.deepEqual(v.requests.filter((r) => new URL(r.url()).pathname.endsWith('x')).map((r) => r.url()), []);
});
