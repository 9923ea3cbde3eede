// The page that describes the API.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { newLink } from './api.js';
import { newDesktop, newVisitor } from './browser.js';
import { measure } from './measure.js';
import { setting, site, test } from './suite.js';

const run = promisify(execFile);

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

test('API documentation: examples in every language are right', async (t) => {
  const v = await newDesktop(t);
  await v.page.goto(`${site}/api/v1/docs`);
  const dir = await mkdtemp(path.join(tmpdir(), 'examples-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const operations = await v.page.locator('article').count();
  for (const [language, file] of [['Python', 'example.py'], ['TypeScript', 'example.mjs'], ['Go', 'main.go']]) {
    await v.page.locator('#list-lead-magnets').getByRole('tab', { name: language }).click();
    const all = await v.page.evaluate(() => [...document.querySelectorAll('article')].map((a) => [a.id, a.querySelector('.call code').textContent]));
    assert.equal(all.length, operations);
    for (const [id, text] of all) {
      await mkdir(path.join(dir, id), { recursive: true });
      await writeFile(path.join(dir, id, file), `${text}\n`);
    }
  }
  const ids = await v.page.locator('article').evaluateAll((all) => all.map((a) => a.id));
  await run('python3', ['-c', 'import sys\nfor name in sys.argv[1:]: compile(open(name).read(), name, "exec")', ...ids.map((id) => path.join(dir, id, 'example.py'))]);
  const { stdout: unformatted } = await run('gofmt', ['-l', dir]);
  assert.equal(unformatted, '', 'as gofmt writes it');
  for (const id of ids) await run('node', ['--check', path.join(dir, id, 'example.mjs')]);

  // Some of them are run: one without a body, one with one.
  for (const [command, file] of [['python3', 'example.py'], ['node', 'example.mjs'], ['go', 'main.go']]) {
    const start = (id) => run(command, [...(command === 'go' ? ['run'] : []), path.join(dir, id, file)], { env: { ...process.env, NO_COLOR: '1' } });
    assert.match((await start('list-lead-magnets')).stdout, /pagination/, command);
    assert.match((await start('create-lead-magnet')).stdout, /created_at/, command);
  }
  await v.page.locator('#create-lead-magnet').scrollIntoViewIfNeeded();
  await v.page.locator('#create-lead-magnet .call code .t').first().waitFor();
  await v.accessible();
  await v.screenshot('docs-go');
});

for (const [device, o] of [['phone', { dark: true }], ['desktop', {}], ['desktop', { dark: true }]]) {
  test(`API documentation: a request is sent from the page, ${device} ${JSON.stringify(o)}`, async (t) => {
    const v = await newVisitor(t, device, o);
    await v.page.goto(`${site}/api/v1/docs`);
    const article = v.page.locator('#create-lead-magnet');
    await article.getByRole('button', { name: 'Run', exact: true }).click();
    await article.getByRole('button', { name: 'Run with this key' }).click();
    await article.getByText('Type an API key.').waitFor();
    await article.getByLabel('API key').fill(setting('LODESTONE_API_KEY'));
    await article.getByLabel('POST path').fill('@example.test/api/v1/lead-magnets');
    await article.getByRole('button', { name: 'Run with this key' }).click();
    await article.getByText('The path begins with /api/.').waitFor();
    await article.getByLabel('POST path').fill('/api/v1/lead-magnets');
    await article.getByLabel('Body').fill('{"title": "Sent from the page"}');
    const [request] = await Promise.all([v.page.waitForRequest((r) => r.method() === 'POST'), article.getByLabel('Body').press('Tab').then(() => v.page.keyboard.press('Enter'))]);
    assert.equal(request.url(), `${site}/api/v1/lead-magnets`);
    await article.getByText(/^201 Created · application\/json · [\d,]+ bytes · \d+ ms$/).waitFor();
    const made = JSON.parse(await article.getByLabel('Answer', { exact: true }).innerText());
    assert.equal(made.title, 'Sent from the page');
    await v.accessible();
    await v.fits();
    await article.scrollIntoViewIfNeeded();
    await v.screenshot('docs-run');

    // Another operation has the key already; no address, no store and no later page has it.
    const one = v.page.locator('#get-lead-magnet');
    await one.getByRole('button', { name: 'Run', exact: true }).click();
    assert.equal(await one.getByLabel('API key').inputValue(), setting('LODESTONE_API_KEY'));
    await one.getByLabel('GET path').fill(`/api/v1/lead-magnets/${made.id}`);
    await one.getByLabel('GET path').press('Enter');
    await one.getByText(/^200 OK/).waitFor();
    assert.ok(!v.page.url().includes('lsk_'));
    assert.ok(!JSON.stringify(await v.context.storageState()).includes('lsk_'));
    await v.page.reload();
    await one.getByRole('button', { name: 'Run', exact: true }).click();
    assert.equal(await one.getByLabel('API key').inputValue(), '');
  });
}

test('API documentation: an error, an answer that is no text, and a stream', async (t) => {
  const v = await newDesktop(t, { expected: [/401/] });
  await v.page.goto(`${site}/api/v1/docs`);
  const open = async (id, address, key) => {
    const article = v.page.locator(`#${id}`);
    await article.getByRole('button', { name: 'Run', exact: true }).click();
    await article.getByLabel('API key').fill(key);
    if (address) await article.getByLabel('GET path').fill(address);
    await article.getByRole('button', { name: 'Run with this key' }).click();
    return article;
  };
  const wrong = await open('list-lead-magnets', '', 'lsk_wrong');
  await wrong.getByText(/^401 Unauthorized · application\/problem\+json/).waitFor();
  const link = await newLink();
  const picture = await open('get-generic-link-qr', `/api/v1/generic-links/${link.id}/qr?format=png`, setting('LODESTONE_API_KEY'));
  await picture.getByText(/image\/png .* not shown, since it is no text$/).waitFor();
  const live = await open('stream-analytics-events', '', setting('LODESTONE_API_KEY'));
  await live.getByText('200 OK · text/event-stream · goes on').waitFor();
  await live.getByRole('button', { name: 'Stop' }).click();
  await live.getByText('200 OK · text/event-stream · stopped').waitFor();
});
