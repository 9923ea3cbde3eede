// A visit over TLS. Visitors notice violated policies, mixed content and requests to other origins, so one over plain HTTP as well.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { api, eventsOf, newLink } from './api.js';
import { leave, newDesktop, newPhone } from './browser.js';
import { collector, eventually, site, test } from './suite.js';

for (const visit of [newPhone, newDesktop]) {
  test(`tls: from the landing page to the events, ${visit.name}`, async (t) => {
    const link = await newLink();
    for (const address of [site, collector, link.url]) assert.match(address, /^https:/);
    const v = await visit(t);
    const { page } = v;
    const landing = await page.goto(link.url);
    const { issuer, protocol } = await landing.securityDetails();
    assert.match(issuer, /^Authority of /);
    assert.match(protocol, /^TLS 1\.[23]$/);
    assert.ok(await page.evaluate(() => isSecureContext && location.protocol === 'https:'));

    const email = `tls-${randomUUID().slice(0, 8)}@example.com`;
    await page.getByLabel('Email address').fill(email);
    await page.locator('form button[type=submit]').first().click();
    await page.locator('html[data-ready]').waitFor();
    await page.locator('.page[data-page="1"] > canvas').waitFor({ state: 'attached' });
    await page.waitForTimeout(1500); // reading
    await leave(page);

    const [submission] = (await api('GET', `/api/v1/generic-links/${link.id}/submissions`)).data;
    assert.equal(submission.email, email);
    const [access] = (await api('GET', `/api/v1/access-links?${new URLSearchParams({ email })}`)).data;
    const [event] = await eventsOf({ access_link_id: access.id }, 1);
    assert.deepEqual([event.event_type, event.event_data.page], ['page_viewed', 1]);
    await eventually(async () => (await api('GET', `/api/v1/generic-links/${link.id}`)).view_count === 1, 'the view of the landing page');

    const beacons = v.requests.filter((r) => r.method() === 'POST' && r.url().startsWith(`${collector}/`));
    assert.ok(beacons.length > 0, 'beacons');
    const plain = v.requests.map((r) => r.url()).filter((url) => !/^(https|data|blob):/.test(url));
    assert.deepEqual(plain, [], 'requests without TLS');
    await v.behaved();
  });
}
