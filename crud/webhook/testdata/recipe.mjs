// Runs the code of a recipe of docs/recipes.md over messages that a webhook got, and prints what comes of each. What stands for Apps Script,
// n8n and Zapier has the part of their interface that the recipes use.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [recipe, code] = [process.argv[2], readFileSync(process.argv[3], 'utf8')];
const messages = JSON.parse(readFileSync(0, 'utf8'));
const require = createRequire(import.meta.url);
const AsyncFunction = (async () => {}).constructor;

const rows = [];
const sheet = {
  getLastRow: () => rows.length,
  appendRow: (row) => rows.push(row),
  getRange: (range) => ({ createTextFinder: (text) => ({ matchEntireCell: () => ({ findNext: () => (range === 'A:A' && rows.some((r) => r[0] === text) ? {} : null) }) }) }),
};
let locked = 0;
const google = {
  HtmlService: { createHtmlOutput: (text) => ({ html: text }) },
  PropertiesService: { getScriptProperties: () => ({ getProperty: (name) => (name === 'TOKEN' ? 'right' : null) }) },
  LockService: { getScriptLock: () => ({ waitLock: () => { locked++; }, releaseLock: () => { locked--; } }) },
  SpreadsheetApp: { getActiveSpreadsheet: () => ({ getSheets: () => [sheet] }) },
  Utilities: {
    DigestAlgorithm: { SHA_256: 'sha256' }, Charset: { UTF_8: 'utf8' },
    computeDigest: (algorithm, text, charset) => createHash(algorithm).update(text, charset).digest(), base64Encode: (bytes) => Buffer.from(bytes).toString('base64'),
  },
};

const run = {
  sheets({ body, token }) {
    const doPost = new Function(...Object.keys(google), `${code}\nreturn doPost;`)(...Object.values(google));
    const answer = doPost({ parameter: { token }, postData: { contents: body } });
    if (answer.html === undefined || locked !== 0) throw new Error('the answer is no page, or the lock was kept');
    return rows.length;
  },
  n8n({ headers, body }) {
    const helpers = { getBinaryDataBuffer: async (item, name) => (item === 0 && name === 'data' ? Buffer.from(body) : undefined) };
    return new AsyncFunction('$input', 'require', code).call({ helpers }, { first: () => ({ json: { headers } }) }, require);
  },
  zapier({ headers, body }) {
    const inputData = { body, id: headers['webhook-id'], time: headers['webhook-timestamp'], signature: headers['webhook-signature'] };
    return new AsyncFunction('inputData', 'require', `let output;\n${code}\nreturn output;`)(inputData, require);
  },
}[recipe];

const results = [];
for (const message of messages) {
  try {
    results.push({ ok: await run(message) });
  } catch (error) {
    results.push({ error: error.message });
  }
}
console.log(JSON.stringify({ results, rows }));
