// The other tests prove something only if a page that breaks the rules is noticed.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';

import { newDesktop, newVisitor } from './browser.js';
import { eventually, test } from './suite.js';

async function serve(t, headers, body) {
  // The browser asks for an icon as well, at a time of its own: that answer sets nothing.
  const server = createServer((req, res) => res.writeHead(200, { 'content-type': 'text/html', ...(req.url === '/' ? headers : {}) }).end(body));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}`;
}

// A visitor whose offences are expected: the test looks at them.
async function anyVisitor(device, o) {
  const ends = [];
  const v = await newVisitor({ after: (f) => ends.push(f) }, device, o);
  return { v, end: async () => v.context.close() };
}

/** Waits until an offence like this is noticed: the browser reports it shortly after it happened. */
const noticed = (v, what) => eventually(async () => v.offences.some((o) => what.test(o)), String(what));

for (const scripts of [true, false]) {
  test(`a violated policy is noticed, ${scripts ? 'with' : 'without'} scripts`, async (t) => {
    const url = await serve(t, { 'content-security-policy': "default-src 'none'; script-src 'none'" },
      '<!doctype html><html lang=en><title>x</title><p style="color:red" onclick="1">x<script>alert(1)</script>');
    const { v, end } = await anyVisitor('phone', { scripts, origins: [url] });
    await v.page.goto(url);
    await noticed(v, /style/);
    await assert.rejects(v.behaved(), /style/);
    if (scripts) await noticed(v, /^policy: script-src-elem/);
    await end();
  });
}

test('what a page stores, asks of others, and gets wrong is noticed', async (t) => {
  const url = await serve(t, { 'set-cookie': 'a=b' }, '<!doctype html><html lang=en><title>x</title><p>x');
  const { v, end } = await anyVisitor('desktop', { origins: [url] });
  await v.page.goto(url);
  await assert.rejects(v.behaved(), /cookies/);
  await v.context.clearCookies();
  await v.behaved();
  for (const [act, undo, what] of [
    ['localStorage.a = 1', 'localStorage.clear()', /local storage/],
    ['sessionStorage.a = 1', 'sessionStorage.clear()', /session storage/],
    ['caches.open("a")', 'caches.delete("a")', /caches/],
  ]) {
    await v.page.evaluate(act);
    await assert.rejects(v.behaved(), what);
    await v.page.evaluate(undo);
  }
  await v.behaved();
  for (const [act, what] of [
    ['fetch("https://outside.example/a").catch(() => {})', /request to the outside: GET https:\/\/outside.example\/a/],
    ['setTimeout(() => { throw new Error("broken") })', /error: Error: broken/],
    ['setTimeout(() => alert("hello"))', /dialog: hello/],
  ]) {
    v.offences.length = 0;
    await v.page.evaluate(act);
    await noticed(v, what);
    await assert.rejects(v.behaved(), what);
  }
  await end();
});

test('axe and the width of a page are looked at', async (t) => {
  const url = await serve(t, {}, '<!doctype html><title>x</title><p style="color:#aaa;background:#bbb;width:9999px">faint<img src=data:,>');
  const { v, end } = await anyVisitor('desktop', { origins: [url] });
  await v.page.goto(url);
  await assert.rejects(v.accessible(), (e) => /color-contrast/.test(e.message) && /image-alt/.test(e.message) && /html-has-lang/.test(e.message));
  await assert.rejects(v.fits(), /9999|px wide/);
  await end();
});

test('axe works without scripts, too', async (t) => {
  const url = await serve(t, {}, '<!doctype html><html lang=en><title>x</title><main><h1>Hello</h1></main><script>ran = 1</script>');
  const v = await newDesktop(t, { scripts: false, origins: [url] });
  await v.page.goto(url);
  await v.accessible();
  assert.equal(await v.page.evaluate('globalThis.ran'), undefined);
});
