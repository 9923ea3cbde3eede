// Visitors: browser windows on phones and desktops that notice what a page must not do.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import axe from 'axe-core';
import { chromium } from 'playwright-core';

import { newLink } from './api.js';
import { watchBytes } from './measure.js';
import { collector, eventually, every, site, timeout } from './suite.js';

/** Where screenshots and measurements go. They stay after the run, to be looked at. */
export const artefacts = process.env.BROWSER_ARTEFACTS
  ?? fileURLToPath(new URL('../../../.cache/browser', import.meta.url));

/** How many visitors a browser has. One that had hundreds, on a busy machine, ended by itself three times. */
const visitorsOfABrowser = 40;

/** Browsers; the last is that of the next visitors. @type {{process: Promise<import('playwright-core').Browser>, had: number, gone: number}[]} */
const browsers = [];

// Visitors share a browser, which has a fresh profile. No name but example.test leads anywhere, so nothing leaves the machine.
function browser() {
  if (browsers.length === 0 || browsers.at(-1).had === visitorsOfABrowser) {
    browsers.push({ had: 0, gone: 0, process: chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', timeout,
      args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
        '--disable-component-update', '--disable-sync',
        // Beacons that outlive their page carry the browser's own name, not the visitor's.
        '--user-agent=Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
        // Hashes of the keys of certificates whose authority the browser does not know. No other certificate is trusted by it.
        ...process.env.BROWSER_TRUSTED_KEYS ? [`--ignore-certificate-errors-spki-list=${process.env.BROWSER_TRUSTED_KEYS}`] : [],
        '--host-resolver-rules=MAP example.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost'],
    }) });
  }
  const last = browsers.at(-1);
  last.had++;
  return last;
}

/**
 * Leaves a page for another one of the same site, which the same process shows: the first page then
 * always gets its pagehide. A page that is left for another process, and is busy for half a second,
 * is ended by Chromium without one.
 * @param {import('playwright-core').Page} page
 */
export const leave = async (page) => page.goto((await newLink()).url);

/** Takes a picture of a page or of an element. Chromium at times never answers a request for one; it answers the next one. */
export const picture = (of, options) => of.screenshot({ ...options, timeout: 20_000 }).catch(() => of.screenshot(options));

/** Waits until a page has nothing to do. @param {import('playwright-core').Page} page */
export const idle = (page) => page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));

/** Cookies of a session by its key. @type {Map<string, Promise<import('playwright-core').Cookie[]>>} */
const sessions = new Map();

/** Signs a visitor in to the dashboard with a key of the API, for a screen. Visitors of a key share the session: who ends it signs in by signInAnew. */
export async function signIn(v, key, screen = '/dashboard') {
  if (!sessions.has(key)) {
    sessions.set(key, signInAnew(v, key, screen).then(async () => (await v.context.cookies()).filter((c) => c.name.startsWith('__Host-lodestone'))
      .map(({ name, value, secure, httpOnly, sameSite }) => ({ name, value, secure, httpOnly, sameSite, url: site.replace('http:', 'https:') }))));
    await sessions.get(key);
    return;
  }
  await v.context.addCookies(await sessions.get(key));
  await v.page.goto(site + screen);
}

/** Signs in with a session of its own. */
export async function signInAnew(v, key, screen = '/dashboard') {
  await v.page.goto(site + screen);
  await v.page.getByText('Use an API key instead').click();
  await v.page.locator('#key').fill(key);
  await v.page.getByRole('button', { name: 'Sign in with the key' }).click();
  await v.page.waitForURL(site + screen);
}

/** On the console of Chromium's headless shell: axe asks the frame of a mail, which is sandboxed and so of no origin. */
const axeAsks = /Failed to execute 'postMessage' .* recipient window's origin \('null'\)/;

/** On the console: the live part of a screen asks once more while its person is signing out. */
export const signedOut = /status of 401 .*\/(dashboard|analytics)\/live\b/;

/** Closes the browsers. */
export async function stop() {
  await Promise.all(browsers.map(async (b) => (await b.process).close()));
}

// Not Chromium's own: headless ones are counted as robots, as they should be.
const devices = {
  phone: {
    viewport: { width: 360, height: 640 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true,
    userAgent: 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36',
  },
  tablet: {
    viewport: { width: 768, height: 1024 }, deviceScaleFactor: 1, isMobile: true, hasTouch: true,
    userAgent: 'Mozilla/5.0 (Linux; Android 15; Tab 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
  },
  desktop: {
    viewport: { width: 1440, height: 900 },
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
  },
};

/**
 * @typedef {object} Options
 * @property {boolean} [dark] prefers a dark page
 * @property {boolean} [scripts] runs scripts; default true
 * @property {boolean} [reducedMotion]
 * @property {string[]} [origins] that pages may talk to beside ours
 * @property {RegExp[]} [expected] messages on the console that are part of the test
 * @property {import('playwright-core').BrowserContextOptions} [context] further options
 */

/** A visitor on a phone of 360 × 640 with a touch screen. @param {Options} [o] */
export const newPhone = (t, o) => newVisitor(t, 'phone', o);
/** A visitor on a tablet of 768 × 1024. @param {Options} [o] */
export const newTablet = (t, o) => newVisitor(t, 'tablet', o);
/** A visitor at a desktop of 1440 × 900. @param {Options} [o] */
export const newDesktop = (t, o) => newVisitor(t, 'desktop', o);

/** Names of all devices, for tests that go through them. */
export const allDevices = Object.keys(devices);

/** A visitor who is gone at the end of the test, when what the pages did is checked. @param {Options} [o] */
export async function newVisitor(t, device, o = {}) {
  const of = browser();
  const context = await (await of.process).newContext({
    ...devices[device], locale: 'en-GB', timezoneId: 'Europe/Berlin', acceptDownloads: true,
    colorScheme: o.dark ? 'dark' : 'light', reducedMotion: o.reducedMotion ? 'reduce' : 'no-preference',
    javaScriptEnabled: o.scripts ?? true, ...o.context,
  });
  context.once('close', async () => {
    if (++of.gone === visitorsOfABrowser) await (await of.process).close();
  });
  const v = new Visitor(device, context, o);
  t.after(() => v.leave());
  await v.watch();
  v.page = await context.newPage();
  await watchBytes(v.page);
  return v;
}

// Sizes of windows with their colours. 720 is a desktop of 1440 at a zoom of 200 %. The long form, which `make browser` runs, has all of them.
const looks = [
  [360, 640, 'light'], [1440, 900, 'dark'],
  ...every ? [[360, 640, 'dark'], [768, 1024, 'light'], [768, 1024, 'dark'], [1440, 900, 'light'], [720, 450, 'light']] : [],
];

/** One visitor: a window with nothing stored, and a record of what pages did in it. */
export class Visitor {
  /** @type {import('playwright-core').Page} the first tab */
  page;
  /** Everything that pages did and must not do. */
  offences = [];
  /** Requests so far, in order. @type {import('playwright-core').Request[]} */
  requests = [];
  #left = false;

  constructor(device, context, options) {
    this.device = device;
    this.context = context;
    this.options = options;
    this.origins = new Set([site, collector, ...options.origins ?? []].map((u) => new URL(u).origin));
    context.setDefaultTimeout(timeout);
  }

  async watch() {
    const { context } = this;
    await context.exposeBinding('lodestoneViolation', (_, v) => this.offences.push(`policy: ${v}`));
    await context.addInitScript(() => {
      const tell = globalThis.lodestoneViolation;
      delete globalThis.lodestoneViolation;
      addEventListener('securitypolicyviolation', (e) => {
        tell(`${e.violatedDirective} refuses ${e.blockedURI} ${e.sample} on ${e.documentURI}:${e.lineNumber}`);
      }, true);
    });
    context.on('request', (r) => {
      this.requests.push(r);
      const url = new URL(r.url());
      if (!['data:', 'blob:', 'about:'].includes(url.protocol) && !this.origins.has(url.origin)) {
        this.offences.push(`request to the outside: ${r.method()} ${r.url()}`);
      }
    });
    context.on('console', (m) => {
      if (m.type() !== 'error' && m.type() !== 'warning') return;
      const text = `${m.text()} (${m.location().url})`;
      if (axeAsks.test(text)) return;
      if (!this.options.expected?.some((e) => e.test(text))) this.offences.push(`console: ${text}`);
    });
    context.on('weberror', (e) => {
      const text = String(e.error());
      if (!this.options.expected?.some((x) => x.test(text))) this.offences.push(`error: ${text}`);
    });
    context.on('dialog', (d) => {
      if (d.type() === 'beforeunload') return void d.accept().catch(() => {}); // a form asks before its input is lost
      this.offences.push(`dialog: ${d.message()}`);
      d.dismiss().catch(() => {});
    });
  }

  /** Asserts that pages followed the rules: no violated policy, no error, nothing from outside, nothing stored. */
  async behaved() {
    assert.deepEqual(this.offences, []);
    await this.storedNothing();
  }

  /** Asserts that no page of ours stored anything in this browser. */
  async storedNothing() {
    const { cookies, origins } = await this.context.storageState({ indexedDB: true });
    // The pages of `lodestone up` for the person who started it have one, and so has the dashboard.
    assert.deepEqual(cookies.filter((c) => !/^(lodestone_dev_|__Host-(sign-in-)?lodestone)/.test(c.name)), [], 'cookies');
    assert.deepEqual(origins, [], 'local storage and databases');
    if (this.options.scripts === false) return; // only scripts can do the rest
    for (const page of this.context.pages()) {
      if (!page.url().startsWith('http')) continue;
      // A page that is just being left does not answer; the next one does.
      const stored = await eventually(() => page.evaluate(async () => origin === 'null' ? { session: 0, caches: [] }
        : { session: sessionStorage.length, caches: await globalThis.caches?.keys() ?? [] }), `an answer of ${page.url()}`);
      assert.equal(stored.session, 0, 'session storage');
      assert.deepEqual(stored.caches, [], 'caches');
    }
    assert.deepEqual(this.context.serviceWorkers().map((w) => w.url()), [], 'service workers');
  }

  /**
   * Asserts that axe finds nothing serious or critical; at AA, so that contrasts count. `except` is told
   * the rule and the HTML of a finding, and knows better.
   */
  async accessible(page = this.page, except = () => false) {
    if (this.options.scripts === false) return this.#accessibleCopy(page);
    if (!await page.evaluate(() => Boolean(globalThis.axe))) await page.evaluate(axe.source); // half a megabyte
    const { violations } = await page.evaluate(() => {
      // What fades in has its contrast at the end.
      for (const a of document.getAnimations()) if (a.effect?.getComputedTiming().endTime !== Infinity) a.finish();
      return globalThis.axe.run(document, {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'],
      });
    });
    const serious = violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
      .flatMap((v) => v.nodes.filter((n) => !except(v.id, n.html)).map((n) => `${v.impact} ${v.id}: ${v.help}\n  ${n.html}\n  ${n.failureSummary}`));
    assert.deepEqual(serious, [], `axe on ${page.url()}`);
  }

  // axe needs timers, and where pages run no scripts, there are none. So it looks at the same page in a
  // window in which only the page's own scripts do not run.
  async #accessibleCopy(page) {
    const body = (await page.content()).replace(/<(\/?)noscript\b/g, '<$1div');
    const ends = [];
    const other = await newVisitor({ after: (f) => ends.push(f) }, this.device, { ...this.options, scripts: true, expected: [/./] });
    try {
      await other.page.route(page.url(), (r) => r.fulfill({
        body, contentType: 'text/html; charset=utf-8', headers: { 'content-security-policy': "script-src 'none'" },
      }), { times: 1 });
      await other.page.route(`${collector}/**`, (r) => r.abort()); // the copy of a page is no further view
      await other.page.goto(page.url());
      await other.accessible();
    } finally {
      await other.context.close();
    }
  }

  /** Asserts that nothing is wider than the window. */
  async fits(page = this.page) {
    const sizes = () => page.evaluate(() => ({ wide: document.documentElement.scrollWidth, window: innerWidth }));
    let { wide, window } = await sizes();
    if (wide > window && this.options.scripts !== false) { // scripts learn of another size of the window with the next frame
      await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
      ({ wide, window } = await sizes());
    }
    assert.ok(wide <= window, `${page.url()} is ${wide} px wide in a window of ${window} px`);
  }

  /** Keeps a picture as NAME-DEVICE[-dark][-plain].png among the artefacts, in `make browser`. */
  async screenshot(name, { page = this.page, full = false } = {}) {
    await this.#picture([name, this.device, this.options.dark && 'dark', this.options.scripts === false && 'plain'], page, full);
  }

  // Pictures are for people, and cost as much as the rest of a look.
  async #picture(marks, page, full) {
    if (!every) return;
    const directory = path.join(artefacts, 'screenshots');
    await mkdir(directory, { recursive: true });
    await picture(page, { path: path.join(directory, `${marks.filter(Boolean).join('-')}.png`), fullPage: full });
  }

  /**
   * Looks at a page of a visitor at a desktop on each size of screen, light and dark: axe finds nothing, nothing is wider than the window, and there
   * is a picture of it in `make browser`, NAME-WIDTH[-dark].png. The page itself stays as it is.
   */
  async look(name, { page = this.page, full = true, except } = {}) {
    for (const [width, height, colorScheme] of looks) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      await this.accessible(page, except);
      await this.fits(page);
      await this.#picture([name, width, colorScheme === 'dark' && 'dark'], page, full);
    }
    await page.setViewportSize(devices[this.device].viewport);
    await page.emulateMedia({ colorScheme: this.options.dark ? 'dark' : 'light' });
  }

  /** Lets the network of a page be that of a phone far from the mast: 400 kbit/s, 400 ms. */
  async slow(page = this.page) {
    const cdp = await this.context.newCDPSession(page);
    await cdp.send('Network.enable');
    await cdp.send('Network.emulateNetworkConditions', {
      offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000,
    });
  }

  /** Cuts the network, or brings it back. */
  async offline(yes = true) {
    await this.context.setOffline(yes);
  }

  /** Checks that pages behaved, and closes all. The test's end does it, too. */
  async leave() {
    if (this.#left) return;
    this.#left = true;
    try {
      await this.behaved();
    } finally {
      await this.context.close();
    }
  }
}
