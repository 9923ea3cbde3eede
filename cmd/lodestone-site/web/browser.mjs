// The site in Chromium: every page on a phone, main pages in all looks, the search by keyboard, without scripts, and from a disk.
// It is run by TestBrowser, which names the site and the tools in variables.
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";

const { CHROMIUM, TOOLS, SITE, FILES, ARTEFACTS } = process.env;
const tools = createRequire(path.join(TOOLS, "x.js"));
const { chromium } = tools("playwright-core");
const axe = tools("axe-core").source;
await mkdir(ARTEFACTS, { recursive: true });

const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };
const desktop = { viewport: { width: 1440, height: 900 } };
const looked = ["index", "start", "concepts", "api", "endpoints", "endpoints/generic-links", "sql", "cli", "configuration", "errors", "operations", "decisions/001-lists-without-caches"];

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"] });

/** A visitor whose pages must report nothing and ask no other host. */
async function visitor(options, visit) {
  const context = await browser.newContext({ bypassCSP: false, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && wrong.push(m.text()));
  page.on("pageerror", (e) => wrong.push(String(e)));
  page.on("request", (r) => { if (!r.url().startsWith(SITE) && !r.url().startsWith(FILES)) wrong.push(`request to ${r.url()}`); });
  page.on("response", (r) => { if (r.status() >= 400) wrong.push(`${r.status()} of ${r.url()}`); });
  await visit(page);
  assert.deepEqual(wrong, []);
  assert.deepEqual(await context.cookies(), []);
  await context.close();
}

/** The page fits the window, and is accessible. */
async function check(page, what) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${what} is ${wide} px wider than the window`);
  const { violations } = await page.evaluate(`${axe}; axe.run({ resultTypes: ["violations"] })`);
  assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html).join(" ")}`), [], what);
}

for (const colorScheme of ["light", "dark"]) {
  for (const [name, device] of Object.entries({ phone, desktop })) {
    await visitor({ ...device, colorScheme }, async (page) => {
      for (const one of looked) {
        await page.goto(`${SITE}${one}.html`);
        await check(page, `${one} on a ${colorScheme} ${name}`);
        await page.screenshot({ path: path.join(ARTEFACTS, `${one.replace("/", "-")}-${name}-${colorScheme}.png`) });
      }
      await page.getByRole("button", { name: "Search" }).click();
      await page.getByRole("combobox").fill("kafka tls");
      await page.getByRole("option").first().waitFor();
      await check(page, `the search on a ${colorScheme} ${name}`);
      await page.screenshot({ path: path.join(ARTEFACTS, `search-${name}-${colorScheme}.png`) });
    });
  }
}

// Every page fits a phone.
await visitor(phone, async (page) => {
  await page.goto(`${SITE}index.html`);
  const links = await page.locator(".sections a").evaluateAll((all) => all.map((a) => a.href));
  assert.ok(links.length > 35);
  await page.goto(`${SITE}endpoints.html`);
  const groups = await page.locator(".menu ul ul a").evaluateAll((all) => all.map((a) => a.href));
  assert.ok(groups.length > 5);
  links.push(...groups);
  for (const link of links) {
    await page.goto(link, { waitUntil: "domcontentloaded" });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, `${link} is ${wide} px wider than a phone`);
  }
  // The contents open, and lead on.
  await page.locator("summary").click();
  await page.getByRole("navigation", { name: "Documentation" }).getByRole("link", { name: "Quickstart" }).click();
  await page.waitForURL(/start\.html$/);
});

// The search by keyboard alone, from a server and from a disk.
for (const from of [SITE, FILES]) {
  await visitor(desktop, async (page) => {
    await page.goto(`${from}decisions/001-lists-without-caches.html`);
    assert.equal(await page.evaluate(() => window.lodestoneIndex), undefined, "the index is loaded before it is needed");
    await page.keyboard.press("/");
    await page.keyboard.type("slug already in use");
    await page.getByRole("option", { selected: true }).filter({ hasText: "slug_taken" }).waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await page.getByRole("dialog").count(), 0);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("--kafka-sasl-user");
    const chosen = page.getByRole("option", { selected: true });
    await chosen.filter({ hasText: "--kafka-sasl-user" }).waitFor();
    const first = await chosen.getAttribute("id");
    await page.keyboard.press("ArrowDown");
    assert.notEqual(await chosen.getAttribute("id"), first);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${from}configuration.html#kafka-sasl-user`);
    await page.keyboard.press("/");
    await page.getByRole("combobox").fill("button_text");
    await page.getByRole("option").filter({ hasText: "Create a generic link" }).click();
    await page.waitForURL(`${from}endpoints/generic-links.html#create-a-generic-link`);
    await page.keyboard.press("/");
    await page.getByRole("combobox").fill("qwertyuiop");
    await page.getByText("Nothing has “qwertyuiop”").waitFor();
  });
}

// Without scripts everything but the search is there.
await visitor({ ...desktop, javaScriptEnabled: false }, async (page) => {
  await page.goto(`${SITE}start.html`);
  await page.getByRole("heading", { name: "Quickstart", level: 1 }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Search" }).count(), 0);
  await page.getByRole("navigation", { name: "Documentation" }).getByRole("link", { name: "Concepts" }).click();
  await page.waitForURL(/concepts\.html$/);
});

await browser.close();
