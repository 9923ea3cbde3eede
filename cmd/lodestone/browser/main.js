// Runs the tests of the pages in one Chromium. Arguments choose files: `node main.js landing viewer`
// runs landing.test.js and viewer.test.js; without any, all of them run. What to test stands in
// lodestone.env, which `lodestone up` writes: LODESTONE_URL, LODESTONE_COLLECTOR_URL, LODESTONE_API_KEY
// and LODESTONE_CLICKHOUSE_HTTP_URL; and
// LODESTONE_SECOND_API_KEY, a key of another account, which branding.test.js changes. The test of openid.test.js also needs
// BROWSER_OPENID_ISSUER, the provider that the installation has.
import { readdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { after, describe, it } from 'node:test';

import { stop } from './browser.js';
import { writeMeasurements } from './measure.js';
import { every, tests } from './suite.js';

// These run only by name: they need an installation that no one has used, one with no one else to call, the machine for themselves, ClickHouse to be stopped, TLS, or localhost.
const alone = ['publish', 'day', 'weight', 'outage', 'tls', 'passkey'];

// Where not every look is taken: files that together show each page once, and what only a browser can show of it.
const brief = ['beacon', 'campaign', 'dashboard', 'dashboardisland', 'dashboardsetting', 'dashboardstate', 'embed', 'hostile', 'landing', 'share',
  'signin', 'state', 'verify', 'viewer'];

const here = new URL('.', import.meta.url);
const wanted = process.argv.slice(2);
const name = (file) => file.slice(0, -'.test.js'.length);
const files = (await readdir(here)).filter((f) => f.endsWith('.test.js')).sort()
  .filter((f) => (wanted.length > 0 ? wanted.includes(name(f)) : every ? !alone.includes(name(f)) : brief.includes(name(f))));
if (files.length === 0) throw new Error(`no test file is called ${wanted.join(' or ')}`);
for (const f of files) await import(new URL(f, here));

describe('pages', { concurrency: alone.includes(wanted[0]) ? 1 : Math.max(2, availableParallelism()) }, () => {
  for (const { name: title, run } of tests) it(title, { timeout: 900_000 }, run);
  after(async () => {
    await writeMeasurements();
    await stop();
  });
});
