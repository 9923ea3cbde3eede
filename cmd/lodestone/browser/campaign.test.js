// One campaign comes in by every way that there is: it is one row of the report by campaign, and one value of every form.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';

import { api, newLink } from './api.js';
import { newPhone } from './browser.js';
import { collector, eventually, test } from './suite.js';

// As it stands in an address, in two spellings, and as it is stored: cut between letters, and without bytes that are none.
const campaign = {
  utm_source: ['30%+off+%QQ', '30%25%20off%20%25QQ', '30% off %QQ'],
  utm_medium: ['mail;print', 'mail%3Bprint', 'mail;print'],
  utm_campaign: ['e\u0301te\u0301', 'e%CC%81t%C3%A9', 'été'],
  utm_term: ['gar%E7on%F0%9F%98', 'gar%E7on%f0%9f%98', 'garon'],
  utm_content: [`x${'\u{1F680}'.repeat(300)}`, `x${'%F0%9F%9A%80'.repeat(300)}`, `x${'\u{1F680}'.repeat(199)}`],
};
const stored = Object.fromEntries(Object.entries(campaign).map(([name, spellings]) => [name, spellings.at(-1)]));
const queries = [0, 1].map((i) => Object.entries(campaign).map(([name, spellings]) => `${name}=${spellings[i]}`).join('&'));

test('campaign: every way in stores the same', async (t) => {
  let pages = {};
  const server = createServer((req, res) => res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(
    `<!doctype html><html lang="en"><title>Ours</title><link rel="icon" href="data:,">${pages[req.url.split('?')[0]]}</html>`));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const host = `http://example.test:${server.address().port}`;
  const link = await newLink({ allowed_origins: [host] });
  const tracking = await api('GET', `/api/v1/generic-links/${link.id}/tracking`);
  pages = { '/beacon': tracking.script, '/embed': (await api('GET', `/api/v1/generic-links/${link.id}/embed`)).script };

  for (const [i, query] of queries.entries()) {
    const v = await newPhone(t, { origins: [host] });
    const counted = () => v.page.waitForResponse(`${collector}/v1/link-views`);
    await Promise.all([counted(), v.page.goto(`${link.url}?${query}`)]);
    await v.page.getByLabel('Email address').fill(`ada${i}@example.com`);
    await v.page.getByRole('button').click();
    await v.page.waitForURL(/\/a\//);
    await Promise.all([counted(), v.page.goto(`${host}/beacon?${query}`)]);
    await Promise.all([counted(), v.page.goto(`${host}/embed?${query}`)]);
    await v.page.getByLabel('Email address').fill(`bob${i}@example.com`);
    await v.page.getByRole('button').click();
    await v.page.getByRole('link', { name: 'Read the document' }).waitFor();

    const url = `https://www.example.com/?${query}`;
    const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
    const posted = await fetch(`${collector}/v1/link-views`, { method: 'POST', headers, body: JSON.stringify({ token: tracking.tracking_token, url }) });
    assert.equal(posted.status, 202);
    const pixel = await fetch(`${collector}/v1/pixel.gif?t=${tracking.tracking_token}`, { headers: { ...headers, referer: new URL(url).href } });
    assert.equal(pixel.status, 200);
  }

  const { data: submissions } = await api('GET', `/api/v1/generic-links/${link.id}/submissions`);
  assert.deepEqual(submissions.map((s) => s.utm), Array(4).fill(stored));
  for (const name of Object.keys(campaign)) {
    await eventually(async () => {
      const { data: [{ rows }] } = await api('POST', '/api/v1/analytics/query', {
        metrics: ['link_views', 'submissions'], dimensions: [name], filters: { generic_link_id: [link.id] },
      });
      assert.deepEqual(rows, [{ [name]: stored[name], link_views: 10, submissions: 4 }]);
      return true;
    }, `one row of ${name}`);
  }
});
