// Weight and first paint of every page and screen, alone in the browser, for the table that docs/performance.md shows. It runs by itself, after
// the other tests.
import { randomUUID } from 'node:crypto';

import { api, guideMagnet, newAccessLink, newLink } from './api.js';
import { newDesktop, newPhone } from './browser.js';
import { linkOf, mailTo } from './mail.js';
import { weigh } from './measure.js';
import { devPage, setting, site, test } from './suite.js';

test('weight: pages of visitors', async (t) => {
  const magnet = await guideMagnet();
  const v = await newPhone(t, { expected: [/4\d\d/] });
  const link = await newLink({ require_verification: true, collect_name: true, description: 'Twelve short chapters on writing guides that people finish.' });
  await weigh('Landing page', v, link.url);
  const address = `weight-${randomUUID().slice(0, 8)}@example.com`;
  await v.page.getByLabel('Email address').fill(address);
  await v.page.getByLabel('Name').fill('Eve');
  await v.page.locator('form button[type=submit]').click();
  await v.page.getByRole('heading', { name: 'Check your email' }).waitFor();
  await weigh('Check your email', v, v.page.url());
  await weigh('Confirm your email address', v, linkOf(await mailTo(address), '/verify/'));
  const access = await newAccessLink();
  await weigh('Reading page, with its document', v, access.url, { except: ['script'] });
  await api('PATCH', `/api/v1/access-links/${access.id}`, { is_active: false });
  await weigh('A link that is switched off', v, access.url);
  await weigh('A page that is not there', v, `${site}/l/nothing-here`);
  const share = await api('POST', `/api/v1/lead-magnets/${magnet.id}/shares`, {});
  await weigh('Shared statistics', v, share.url);
  const locked = await api('POST', `/api/v1/lead-magnets/${magnet.id}/shares`, { password: 'correct horse' });
  await weigh('Shared statistics, locked', v, locked.url);
  await weigh('API documentation', await newDesktop(t), `${site}/api/v1/docs`, { except: ['document'] });
});

test('weight: pages of owners', async (t) => {
  const v = await newDesktop(t);
  await weigh('Home of `up`', v, devPage('/'));
  await weigh('Mailbox of `up`', v, devPage('/dev/mailbox'), { except: ['document'] });
  await weigh('Sign-in', v, `${site}/dashboard/sign-in`);
  await v.page.getByText('Use an API key instead').click();
  await v.page.locator('#key').fill(setting('LODESTONE_PAST_API_KEY'));
  await v.page.getByRole('button', { name: 'Sign in with the key' }).click();
  await v.page.waitForURL(`${site}/dashboard`);
  const hrefs = (selector) => v.page.locator(selector).evaluateAll((all) => all.map((a) => a.href));
  await weigh('Overview', v, `${site}/dashboard`);
  const [magnet] = await hrefs('table.magnets tbody a');
  await weigh('Lead magnet', v, magnet);
  await weigh('Readers', v, `${site}/dashboard/readers`);
  const [reader] = await hrefs('table.people a');
  await weigh('Reader', v, reader);
  await weigh('Live', v, `${site}/dashboard/live`);
  await weigh('Publish a PDF', v, `${site}/dashboard/new`);
  await weigh('Links', v, `${site}/dashboard/links`);
  const [link] = await hrefs('main table a[href*="/dashboard/links/"], main a[href*="/dashboard/links/"]:not([href$="/new"])');
  await weigh('Link', v, link);
  await weigh('New link', v, `${site}/dashboard/links/new`);
  for (const [name, section] of [['account', ''], ['notices', '/notices'], ['webhooks', '/webhooks'], ['sessions', '/sessions'], ['use', '/usage']]) {
    await weigh(`Settings: ${name}`, v, `${site}/dashboard/settings${section}`);
  }
});
