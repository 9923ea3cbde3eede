// What a test file needs to declare tests and to wait.

/** @type {{name: string, run: (t: import('node:test').TestContext) => Promise<void>}[]} */
export const tests = [];

/** Whether every page is looked at in every way (`make browser`), or once on a phone and once at a desktop (`make test`). */
export const every = process.env.BROWSER_LOOKS === 'all';

/** Declares a test. All tests run in one process, some at the same time: each makes what it needs. */
export function test(name, run) {
  tests.push({ name, run });
}

/** Declares a test of `make browser` alone. */
export function longTest(name, run) {
  if (every) test(name, run);
}

/** Returns the looks of a page that this run takes: all, or a light phone and a dark desktop. */
export const taken = (looks) => (every ? looks
  : looks.filter(([device, o]) => o.scripts !== false && ((device === 'phone' && !o.dark) || (device === 'desktop' && o.dark))));

/** How long anything may take before it counts as not happening. It is no measure of speed. */
export const timeout = Number(process.env.BROWSER_TIMEOUT_MS ?? 180_000);

/**
 * Returns the first truthy value of look, which is called again and again, also after it threw.
 * @template T
 * @param {() => Promise<T>} look
 * @param {string} what is waited for, for the error
 */
export async function eventually(look, what = 'it') {
  const end = Date.now() + timeout;
  for (let last; ;) {
    try {
      const value = await look();
      if (value) return value;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`${what} does not happen`, { cause: last });
    await new Promise((resolve) => setTimeout(resolve, 200)); // most looks ask ClickHouse
  }
}

/** What a setting of lodestone.env says. */
export function setting(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: source lodestone.env`);
  return value;
}

/** The address of a page of `lodestone up` for the person who started it, with the secret that a browser shows once. */
export const devPage = (path) => `${site}${path}?secret=${setting('LODESTONE_DEV_SECRET')}`;

export const site = setting('LODESTONE_URL');
export const collector = setting('LODESTONE_COLLECTOR_URL');
