// How a page is laid out: what is cut, covered, or wider than the window.
import assert from 'node:assert/strict';

/**
 * Asserts that nothing scrolls sideways but what is meant to, no text is cut or outside of the window, and no text lies on another one. What stays at its
 * place while the page scrolls leaves most of the window to the page, and does not cover the end of it.
 * @param {import('playwright-core').Page} page
 */
export async function laidOut(page) {
  const faults = await page.evaluate(async () => {
    const found = [];
    const say = (what, e) => found.push(`${what}: ${e.tagName.toLowerCase()}.${[...e.classList].join('.')} “${e.textContent.trim().replace(/\s+/g, ' ').slice(0, 50)}”`);
    // Hidden on purpose: what only screen readers see, text under a PDF's picture, what a script measures.
    const unseen = (e) => e.closest('.unseen, .skip:not(:focus), .trap, .cards thead, .textLayer, script, style, noscript, option, [aria-hidden=true] text') !== null;
    const styleOf = (e) => getComputedStyle(e);
    const above = (e, has) => { for (let a = e; a && a !== document.documentElement; a = a.parentElement) if (has(styleOf(a), a)) return a; };
    const stays = (e) => above(e, (s) => s.position === 'fixed' || s.position === 'sticky');
    const scrolls = (e) => above(e, (s, a) => /auto|scroll/.test(s.overflowX) && a.scrollWidth > a.clientWidth + 1);
    if (document.documentElement.scrollWidth > innerWidth) found.push(`the page is ${document.documentElement.scrollWidth} px wide in a window of ${innerWidth} px`);

    for (const e of document.querySelectorAll('dialog[open]')) if (e.scrollWidth > e.clientWidth + 1) say('scrolls sideways', e);

    const boxes = []; // of lines of text
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walk.nextNode());) {
      const e = node.parentElement;
      if (!node.data.trim() || unseen(e) || !e.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const fixed = stays(e), sideways = scrolls(e);
      for (const r of range.getClientRects()) {
        if (r.width < 2 || r.height < 2) continue;
        if (!sideways && !fixed && (r.left < -1 || r.right > innerWidth + 1)) say('outside of the window', e);
        const clip = above(e, (s) => s.overflowX !== 'visible' || s.overflowY !== 'visible');
        if (clip && !sideways && clip !== document.body) {
          const c = clip.getBoundingClientRect(), s = styleOf(clip);
          const down = /auto|scroll/.test(s.overflowY);
          if (r.left < c.left - 2 || r.right > c.right + 2 || (!down && (r.top < c.top - 4 || r.bottom > c.bottom + 4))) say('cut', e);
        }
        if (!sideways) boxes.push({ r, e, fixed });
      }
    }
    for (const e of document.querySelectorAll('button, a, label, h1, h2, h3, p, dt, dd, td, th, li, summary, select, input')) {
      if (unseen(e) || !e.checkVisibility() || e.clientWidth < 2 || styleOf(e).display === 'inline' || scrolls(e)) continue;
      if (styleOf(e).textOverflow === 'ellipsis' && e.scrollWidth > e.clientWidth + 1 && !e.title && !e.closest('[title]')) say('ends in dots', e);
    }
    boxes.sort((a, b) => a.r.top - b.r.top);
    for (const [i, a] of boxes.entries()) {
      for (let j = i + 1; j < boxes.length && boxes[j].r.top < a.r.bottom - 3; j++) {
        const b = boxes[j];
        if (a.e === b.e || a.fixed !== b.fixed || a.e.contains(b.e) && styleOf(b.e).display === 'inline' || b.e.contains(a.e) && styleOf(a.e).display === 'inline') continue;
        const wide = Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left), high = Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top);
        if (wide > 3 && high > Math.min(a.r.height, b.r.height) / 3) say(`lies on “${b.e.textContent.trim().slice(0, 30)}”`, a.e);
      }
    }

    // Bars take their share of the window, and the last text can be read above them.
    let covered = 0;
    const bars = [...document.querySelectorAll('body *')].filter((e) => /fixed|sticky/.test(styleOf(e).position) && e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !e.closest('dialog, [role=dialog]'));
    for (const bar of bars) {
      const r = bar.getBoundingClientRect();
      if (r.width > innerWidth / 2 && styleOf(bar).position === 'fixed') covered += Math.min(innerHeight, r.bottom) - Math.max(0, r.top);
    }
    if (covered > innerHeight * 0.4) found.push(`bars cover ${Math.round(covered)} of ${innerHeight} px`);
    if (!document.querySelector('dialog[open]')) {
      const at = scrollY;
      scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' });
      await new Promise((resolve) => { resolve(); });
      const last = boxes.filter((b) => !b.fixed).at(-1)?.e;
      const r = last?.getBoundingClientRect();
      if (r && r.bottom > 0 && r.bottom <= innerHeight && r.width > 0) {
        const top = document.elementFromPoint(Math.min(r.left + 4, innerWidth - 1), r.bottom - 3);
        if (top && bars.some((b) => b.contains(top)) && !bars.some((b) => b.contains(last))) say('covered by a bar', last);
      }
      scrollTo({ top: at, behavior: 'instant' });
    }
    return [...new Set(found)];
  });
  assert.deepEqual(faults, [], `the layout of ${page.url()} at ${page.viewportSize().width} px`);
}
