// The page that describes the API.
import { newVisitor } from './browser.js';
import { measure } from './measure.js';
import { site, test } from './suite.js';

for (const [device, dark] of [['phone', false], ['desktop', true]]) {
  test(`API documentation, ${device}`, async (t) => {
    const v = await newVisitor(t, device, { dark });
    await v.page.goto(`${site}/api/v1/docs`);
    await v.accessible();
    await v.fits();
    await v.screenshot('docs');
    await measure('docs', v);
  });
}
