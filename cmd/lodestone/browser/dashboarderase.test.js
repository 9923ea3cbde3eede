// Erasing a person in the dashboard: with the address typed wrong, then right, and the page that says what was erased.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { api, newAccessLink, newLink } from './api.js';
import { newDesktop, newPhone, signIn } from './browser.js';
import { setting, site, test } from './suite.js';

for (const scripts of [true, false]) {
  test(`dashboard: a person is erased ${scripts ? 'with' : 'without'} scripts`, async (t) => {
    const link = await newLink();
    const email = `erase-${randomUUID().slice(0, 8)}@example.com`;
    const reader = await newAccessLink({ lead_magnet_id: link.lead_magnet_id, email });
    const v = await (scripts ? newDesktop(t, { expected: [/422/] }) : newPhone(t, { expected: [/422/], scripts: false }));
    await signIn(v, setting('LODESTONE_API_KEY'));
    await v.page.goto(`${site}/dashboard/readers/${reader.id}`);
    const section = v.page.locator('#erase');
    await section.locator('summary').click();
    await section.getByLabel(`Type ${email} to confirm`).fill(`other-${email}`);
    await section.getByRole('button', { name: 'Erase' }).click();
    await section.getByText('Nothing was erased.').waitFor(); // the form is open, with what was typed
    assert.equal(await section.locator('input[name=confirm]').inputValue(), `other-${email}`);
    await v.look(`dashboard-erase-wrong-${scripts}`);
    await section.locator('input[name=confirm]').fill(email.toUpperCase());
    await section.getByRole('button', { name: 'Erase' }).click();
    await v.page.waitForURL(/\/dashboard\/erasures\/[0-9a-f-]+$/);
    await v.page.getByRole('heading', { name: 'This person has been erased.' }).waitFor();
    assert.ok(!(await v.page.locator('main').innerText()).includes(email));
    await v.look(`dashboard-erased-${scripts}`);
    const [download] = await Promise.all([v.page.waitForEvent('download'), v.page.getByRole('link', { name: 'Download the receipt' }).click()]);
    const receipt = JSON.parse(await readFile(await download.path(), 'utf8'));
    assert.equal(receipt.receipt.split('.').length, 3);
    assert.equal(receipt.removed.access_links, 1);
    const left = await api('GET', `/api/v1/access-links?email=${encodeURIComponent(email)}`);
    assert.equal(left.pagination.total, 0);
  });
}
