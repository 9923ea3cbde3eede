// The API as a client uses it, to make what pages show and to see what came of a visit.
import { readFile } from 'node:fs/promises';

import { setting, site, eventually } from './suite.js';
import { pdf } from './pdf.js';

/** Sends a request to the API and returns the answer's body, parsed. */
export async function api(method, path, body, headers = {}) {
  const binary = body instanceof Uint8Array;
  const answer = await fetch(site + path, {
    method,
    headers: {
      authorization: `Bearer ${setting('LODESTONE_API_KEY')}`,
      ...body === undefined ? {} : { 'content-type': binary ? 'application/pdf' : 'application/json' },
      ...headers,
    },
    body: body === undefined || binary ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}

/** Creates a lead magnet with a PDF: that of `file`, or one of `pages` pages. */
export async function newMagnet({ title = 'Worth the email', description, pages = 4, file = pdf({ pages }) } = {}) {
  const magnet = await api('POST', '/api/v1/lead-magnets', { title, description });
  return api('PUT', `/api/v1/lead-magnets/${magnet.id}/file`, file);
}

/** The demo's document, of twelve pages. */
export const guide = new Uint8Array(await readFile(new URL('../demo/guide.pdf', import.meta.url)));

let shared;

/** Returns the lead magnet of the demo's document, which tests share: a document costs time. */
export const guideMagnet = () => (shared ??= newMagnet({ title: 'The guide to good guides', file: guide }));

/** Creates a generic link, of the shared lead magnet if none is given. */
export async function newLink(fields = {}) {
  const lead_magnet_id = fields.lead_magnet_id ?? (await guideMagnet()).id;
  return api('POST', '/api/v1/generic-links', { title: 'The guide to good guides', ...fields, lead_magnet_id });
}

/** Creates an access link, of the shared lead magnet if none is given. */
export async function newAccessLink(fields = {}) {
  const lead_magnet_id = fields.lead_magnet_id ?? (await guideMagnet()).id;
  return api('POST', '/api/v1/access-links', { email: 'ada@example.com', ...fields, lead_magnet_id });
}

/** Returns up to 100 events of a filter, the oldest first. */
export async function events(filter) {
  const { data } = await api('GET', `/api/v1/analytics?${new URLSearchParams({ per_page: 100, ...filter })}`);
  return data.reverse();
}

/** Waits until a filter gives exactly so many events, and returns them, the oldest first. */
export function eventsOf(filter, count) {
  return eventually(async () => {
    const found = await events(filter);
    if (found.length === count) return found;
    throw new Error(`${found.length} events instead of ${count}: ${JSON.stringify(found.map((e) => [e.event_type, e.event_data]))}`);
  }, `${count} events`);
}

/** Asks ClickHouse, and returns the rows. */
export async function sql(query) {
  const url = new URL(setting('LODESTONE_CLICKHOUSE_HTTP_URL'));
  const who = Buffer.from(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`).toString('base64');
  url.username = url.password = '';
  const answer = await fetch(url, { method: 'POST', headers: { authorization: `Basic ${who}` }, body: `${query} FORMAT JSON` });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return JSON.parse(text).data;
}
