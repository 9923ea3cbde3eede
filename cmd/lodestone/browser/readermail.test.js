// The mails about readers, in each language, as programs for mails draw them. The files are those of crud/mail's golden test.
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';

import { newVisitor } from './browser.js';
import { test } from './suite.js';

const directory = new URL('../../../crud/mail/testdata/reading/', import.meta.url);
const files = (await readdir(directory)).sort();

for (const width of [360, 600]) {
  for (const dark of [false, true]) {
    test(`mails about readers: ${width} px, ${dark ? 'dark' : 'light'}`, async (t) => {
      assert.equal(files.length, 5 * 8, 'four kinds of news and the daily mail, in eight languages');
      const v = await newVisitor(t, 'desktop', { dark, context: { viewport: { width, height: 800 } } });
      for (const file of files) {
        const name = file.replace('.html', '');
        await v.page.setContent(await readFile(new URL(file, directory), 'utf8'));
        await v.fits();
        const cut = await v.page.evaluate(() => [...document.querySelectorAll('a, p, h1, td, th')]
          .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline')
          .map((e) => `${e.tagName}: ${e.textContent.trim().slice(0, 60)}`));
        assert.deepEqual(cut, [], `${name} is cut off`);
        if (/^daily|-de$/.test(name)) await v.accessible(); // the others have the same parts
        if (/-(de|pl|en)$/.test(name)) await v.screenshot(`mail-${name}-${width}`, { full: true });
      }
    });
  }
}
