// Text that would run, in everything that an owner or a visitor can type: every screen, page and mail shows it as it was typed.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { api } from './api.js';
import { newDesktop, newVisitor } from './browser.js';
import { linkOf, mailsTo, mailTo } from './mail.js';
import { pdf } from './pdf.js';
import { devPage, eventually, every, setting, site, test } from './suite.js';

// An account of its own, since other tests look at theirs.
const own = (method, path, body, headers) => api(method, path, body, { authorization: `Bearer ${setting('LODESTONE_HOSTILE_API_KEY')}`, ...headers });

const planted = new Map(); // by field: operation.field, or what else it is
/** Returns a text that no other field has. It is short enough for every field. */
function plant(field) {
  const text = `"'><img src=x onerror=ran()>${planted.size + 10}`;
  planted.set(field, text);
  return text;
}
const plants = (operation, ...fields) => Object.fromEntries(fields.map((f) => [f, plant(`${operation}.${f}`)]));

/** Fields of texts that mean something else: they cannot hold what is planted, or hold a secret. */
const elsewhere = /\.(timezone|password|emails|lead_magnet_id|status)$|^remind-recipients\./; // the words of a rule

/** Returns the fields of all operations that would take what is planted. */
async function typable() {
  const { paths, components } = await (await fetch(`${site}/api/v1/openapi.json`)).json();
  const follow = (s) => (s?.$ref ? components.schemas[s.$ref.split('/').at(-1)] : s);
  const found = [];
  for (const methods of Object.values(paths)) {
    for (const { operationId, requestBody } of Object.values(methods)) {
      const body = follow(requestBody?.content?.['application/json']?.schema);
      for (const [name, property] of Object.entries(body?.properties ?? {})) {
        for (const one of [property, ...property.anyOf ?? [], ...property.oneOf ?? []].map(follow)) {
          const text = [one.type].flat().includes('string') && !one.enum && (!one.format || one.format === 'text');
          if (text && (one.maxLength ?? 99) >= 31 && (!one.pattern || new RegExp(one.pattern, 'u').test('"\'><img src=x onerror=ran()>10'))) found.push(`${operationId}.${name}`);
        }
      }
    }
  }
  return [...new Set(found)].filter((f) => !elsewhere.test(f) && !/^(collect|query)/.test(f));
}

/** Looks at a page: nothing planted is an element or runs. Returns all text of it. */
async function look(v, page = v.page) {
  await page.waitForLoadState();
  const { text, wrong } = await page.evaluate(() => {
    for (const d of document.querySelectorAll('details')) d.open = true;
    const wrong = [], texts = [document.title, document.body.textContent];
    for (const e of document.querySelectorAll('*')) {
      if (e.tagName === 'IMG' && e.getAttribute('src') === 'x') wrong.push(e.outerHTML);
      for (const a of e.attributes) {
        if (/^on/.test(a.name) || /^\s*javascript:/i.test(a.value)) wrong.push(e.outerHTML);
        if (['title', 'alt', 'aria-label', 'value', 'placeholder', 'href'].includes(a.name)) texts.push(a.value);
      }
      if ('value' in e && typeof e.value === 'string') texts.push(e.value);
    }
    return { text: texts.join('\n'), wrong };
  });
  assert.deepEqual(wrong, [], page.url());
  return text;
}

/** A visitor who notices what runs. */
async function watch(t, o) {
  const ran = [];
  const v = await newVisitor(t, 'desktop', o);
  await v.context.exposeBinding('ran', (source) => { ran.push(source.page.url()); });
  t.after(() => {
    assert.deepEqual(ran, [], 'something ran');
    assert.deepEqual(v.requests.filter((r) => new URL(r.url()).pathname.endsWith('/x')).map((r) => r.url()), [], 'a picture was asked for');
  });
  return v;
}

test('hostile text: every field, on every screen, page and mail', async (t) => {
  // What owners type.
  await own('PATCH', '/api/v1/account', plants('update-account', 'name'));
  const all = ['title', 'description', 'author', 'author_about', 'end_text', 'end_button'];
  const magnet = await own('POST', '/api/v1/lead-magnets', { ...plants('create-lead-magnet', ...all), end_url: `https://example.com/?${plant('end_url')}` });
  const file = pdf({ pages: 3, title: `"'><img src=x onerror=ran()>`, outline: ['One', 'Two'].map((n) => plant(`chapter ${n}`)), text: () => 'Hostile', link: `javascript:ran()` });
  await own('PUT', `/api/v1/lead-magnets/${magnet.id}/file?${new URLSearchParams({ file_name: `${plant('name of a file')}.pdf` })}`, file);
  const texts = ['name', 'title', 'headline_b', 'description', 'button_text', 'consent_text'];
  const link = await own('POST', '/api/v1/generic-links', {
    ...plants('create-generic-link', ...texts), lead_magnet_id: magnet.id, collect_name: true, require_verification: true, show_contents: true, privacy_url: `https://example.com/?${plant('privacy_url')}`,
    allowed_origins: ['https://www.example.com'], gate: { agreement: { title: plant('title of an agreement'), text: plant('text of an agreement') } },
  });
  // A file that names an author whose name is no person's names none.
  const untold = await own('POST', '/api/v1/lead-magnets', { title: 'x' });
  const { author } = await own('PUT', `/api/v1/lead-magnets/${untold.id}/file`, pdf({ author: '"\'><img src=x onerror=ran()> Smith' }));
  assert.equal(author ?? null, null);
  const changed = await own('POST', '/api/v1/lead-magnets', { title: 'x' });
  await own('PUT', `/api/v1/lead-magnets/${changed.id}/file`, pdf());
  await own('PATCH', `/api/v1/lead-magnets/${changed.id}`, { ...plants('update-lead-magnet', ...all), end_url: 'https://example.com/' });
  const other = await own('POST', '/api/v1/generic-links', { lead_magnet_id: changed.id });
  await own('PATCH', `/api/v1/generic-links/${other.id}`, plants('update-generic-link', ...texts));
  const known = await own('POST', '/api/v1/access-links', { lead_magnet_id: magnet.id, email: 'known@example.com' });
  await own('PATCH', `/api/v1/people/${known.id}`, plants('update-person', 'name', 'note'));
  const share = await own('POST', `/api/v1/lead-magnets/${magnet.id}/shares`, plants('create-share', 'name'));
  await own('POST', '/api/v1/keys', { ...plants('create-key', 'name'), scopes: ['read'] });
  const values = ['name', 'source', 'medium', 'campaign', 'content', 'term'];
  await own('POST', '/api/v1/utm-templates', plants('create-utm-template', ...values));
  const template = await own('POST', '/api/v1/utm-templates', { name: 'x', source: 'x' });
  await own('PATCH', `/api/v1/utm-templates/${template.id}`, plants('update-utm-template', ...values));
  for (const operation of ['create-webhook', 'update-webhook']) {
    const hook = await own('POST', '/api/v1/webhooks', { url: `${site}/?${encodeURIComponent(plant(`url of ${operation}`))}`, kinds: ['form.submitted'], ...operation === 'create-webhook' ? plants(operation, 'description') : {} });
    if (operation === 'update-webhook') await own('PATCH', `/api/v1/webhooks/${hook.id}`, plants(operation, 'description'));
    await own('POST', `/api/v1/webhooks/${hook.id}/test`);
  }
  const guest = `guest-${randomUUID().slice(0, 8)}@example.com`, recipients = `/api/v1/generic-links/${link.id}/recipients`;
  await own('POST', recipients, { recipients: [{ email: guest, name: `Guest ${plant('name of a recipient')}` }] });
  await own('POST', `${recipients}/send`, plants('send-to-recipients', 'subject', 'text'));
  await own('PUT', `${recipients}/reminder`, { ...plants('set-reminder-rule', 'subject', 'text'), after_days: 3 });
  // A channel's URL is a secret.
  const channel = `https://hooks.slack.com/services/T0/B0/${plant('URL of a channel')}`.replaceAll(' ', '%20');
  await own('POST', '/api/v1/webhooks', { format: 'slack', url: channel, kinds: ['notice.weekly'] });
  await own('POST', '/api/v1/alert-rules', { kind: 'range', ...plants('create-alert-rule', 'utm_campaign') });
  await own('POST', '/api/v1/views', { screen: 'readers', ...plants('create-view', 'name'), query: `q=${encodeURIComponent(plant('create-view.query'))}` });
  const missing = (await typable()).filter((f) => !planted.has(f) && !/^(create|update)-webhook\.url$/.test(f));
  assert.deepEqual(missing, [], 'plant something in these fields, too');

  let seen = '';
  // What visitors type, and what their browsers send.
  const reader = await watch(t);
  const utm = new URLSearchParams(Object.fromEntries(['source', 'medium', 'campaign', 'content', 'term'].map((k) => [`utm_${k}`, plant(`utm_${k} of a visitor`)])));
  await fetch(`${link.url}?${utm}`, { headers: { referer: `https://example.com/"'><img src=x onerror=ran()>`, 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/150.0.0.0' } });
  await reader.page.goto(`${link.url}?${utm}`);
  seen += await look(reader);
  await reader.screenshot('hostile-landing', { full: true });
  const email = `o'hostile&{{7}}-${randomUUID().slice(0, 8)}@example.com`;
  await reader.page.locator('#email').fill(email);
  await reader.page.locator('#name').fill(plant('name of a visitor'));
  for (const box of await reader.page.getByRole('checkbox').all()) await box.check();
  await reader.page.locator('form button[type=submit]').first().click();
  await reader.page.getByRole('heading', { name: 'Check your email' }).waitFor();
  seen += await look(reader);
  await reader.page.goto(linkOf(await mailTo(email), '/verify/'));
  seen += await look(reader);
  await reader.page.locator('form button').first().click();
  await reader.page.locator('html[data-ready]').waitFor();
  await reader.page.locator('.page[data-page="1"] > canvas').waitFor({ state: 'attached' });
  await reader.page.waitForTimeout(1200); // reading
  await reader.page.keyboard.press('End');
  await reader.page.locator('#again').waitFor();
  seen += await look(reader);
  await reader.screenshot('hostile-viewer');
  const stranger = await watch(t);
  for (const address of [other.url, share.url]) {
    await stranger.page.goto(address);
    seen += await look(stranger);
  }

  // The owner sees all of it, with a browser of such a name.
  const invited = `owner-${randomUUID().slice(0, 8)}@example.com`;
  await own('POST', '/api/v1/invitations', { email: invited, role: 'owner' });
  const invitation = linkOf(await mailTo(invited), '/dashboard/sign-in/invitation/');
  await stranger.page.goto(invitation);
  seen += await look(stranger);
  const v = await watch(t, { context: { userAgent: plant('user agent') } });
  await v.page.goto(invitation);
  await v.page.getByRole('button').click();
  await v.page.waitForURL(`${site}/dashboard`);
  await own('PATCH', '/api/v1/account', { notify_email: invited });
  await eventually(async () => (await own('GET', `/api/v1/analytics/readers`)).data.some((r) => r.email === email), 'the reader');
  const visits = new Map(), queue = ['/dashboard', '/dashboard/live', '/dashboard/sign-in/account', `/dashboard/readers/${known.id}`, `/dashboard/links/${link.id}?column=name&column=state&column=source&column=medium&column=campaign&column=content&column=term`];
  let screens = 0;
  for (const path of queue) {
    await v.page.goto(site + path);
    const text = await look(v);
    seen += text;
    screens++;
    for (const href of await v.page.evaluate(() => [...document.querySelectorAll('a[href]')].map((a) => a.href))) {
      const to = new URL(href);
      for (const name of ['days', 'from', 'to', 'compare']) to.searchParams.delete(name); // of other periods
      if (!every && to.search && !/%3Cimg|[0-9a-f]{8}-/.test(to.search)) continue; // which shows no further text
      if (to.origin !== site || !to.pathname.startsWith('/dashboard') || /\.csv$|\/(qr|file)$|\/pages\/\d+$/.test(to.pathname)) continue;
      // Twice each screen, and once with each parameter.
      const kind = `${to.pathname.replace(/[0-9a-f-]{36}/g, 'ID')}?${[...to.searchParams.keys()].sort().at(-1) ?? ''}`;
      const n = visits.get(kind) ?? 0;
      if (n >= (to.search ? 1 : 2) || queue.includes(to.pathname + to.search)) continue;
      visits.set(kind, n + 1);
      queue.push(to.pathname + to.search);
    }
  }
  t.diagnostic(`${screens} screens: ${queue.map((p) => p.replace(/[0-9a-f-]{36}/g, 'ID')).join(' ')}`);
  for (const screen of ['magnets/ID', 'magnets/ID/edit', 'magnets/ID/shares', 'links/ID', 'links/ID/edit', 'links/ID/recipients', 'links/ID/campaigns', 'links/ID/site', 'readers', 'readers/ID', 'live', 'new', 'links/new', 'settings/audit', 'settings/webhooks/ID']) {
    assert.ok([...visits.keys(), 'x'].some((k) => k.startsWith(`/dashboard/${screen}?`)) || queue.includes(`/dashboard/${screen}`), `${screen} was not visited`);
  }
  await v.page.goto(`${site}/dashboard/readers`);
  await v.screenshot('hostile-readers', { full: true });

  // The mails, as their HTML is shown.
  const mails = await newDesktop(t);
  for (const mail of [...await mailsTo(email), ...await mailsTo(invited), await mailTo(guest)]) {
    await mails.page.goto(devPage(`/dev/mailbox/${mail.id}/html`));
    seen += await look(mails) + mail.subject;
    assert.doesNotMatch(mail.html, /<img(?! src="data:image)/, mail.subject);
    assert.ok(!mail.text.includes(planted.get('name of a visitor')), 'a mail to a visitor holds nothing that a visitor typed');
  }

  assert.ok(!seen.includes(planted.get('URL of a channel').replaceAll(' ', '%20')), 'the URL of a channel is a secret');
  const inAddress = (text) => new URLSearchParams({ a: text }).toString().slice(2);
  const unseen = [...planted].filter(([field, text]) => field !== 'URL of a channel' && ![text, encodeURIComponent(text), inAddress(text)].some((shape) => seen.includes(shape))).map(([field]) => field);
  assert.deepEqual(unseen, [], 'these are shown nowhere as they were typed');
});
