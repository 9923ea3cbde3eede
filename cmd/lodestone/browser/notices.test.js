// The pages that the owner of an address for notices sees: a question first, and the end of notices.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { api } from './api.js';
import { newVisitor } from './browser.js';
import { linkOf, mailTo } from './mail.js';
import { setting, test } from './suite.js';

// An account of its own: notices of the other one's leads would follow.
const account = (method, body) => api(method, '/api/v1/account', body, { authorization: `Bearer ${setting('LODESTONE_SECOND_API_KEY')}` });

test('notices: an address is confirmed by a press, and ends them', async (t) => {
  for (const [device, o] of [['phone', {}], ['desktop', { dark: true }], ['phone', { scripts: false }]]) {
    const to = `owner-${randomUUID().slice(0, 8)}@example.com`;
    assert.equal((await account('PATCH', { notify_email: to })).notify_email_confirmed, false);
    const v = await newVisitor(t, device, o);
    const look = async (what) => {
      await v.accessible();
      await v.fits();
      await v.screenshot(`notices-${what}`);
    };
    await v.page.goto(linkOf(await mailTo(to), '/notices/confirm/'));
    await v.page.getByText(to).waitFor();
    await look('confirm');
    assert.equal((await account('GET')).notify_email_confirmed, false, 'a look confirms nothing');
    await v.page.getByRole('button', { name: 'Confirm this email address' }).click();
    await v.page.getByRole('heading', { name: 'This email address is confirmed' }).waitFor();
    await look('confirmed');
    assert.equal((await account('GET')).notify_email_confirmed, true);
    await v.page.getByRole('link', { name: 'Choose which ones' }).click();
    await v.page.waitForURL(/\/notices\//);
    await look('choose');
  }
});
