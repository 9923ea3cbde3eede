// The mailbox of `lodestone up`.
import { eventually, setting, site } from './suite.js';

/** Returns the mails to an address so far, the newest first. */
export async function mailsTo(address) {
  const { mails } = await (await fetch(`${site}/dev/mailbox.json?${new URLSearchParams({ to: address })}`, { headers: { authorization: `Bearer ${setting('LODESTONE_DEV_SECRET')}` } })).json();
  return mails.filter((m) => m.to === address);
}

/** Waits until an address has so many mails, and returns the newest. */
export async function mailTo(address, count = 1) {
  const mails = await eventually(async () => {
    const found = await mailsTo(address);
    return found.length >= count && found;
  }, `mail number ${count} to ${address}`);
  return mails[0];
}

/** The link of a mail that leads to a page of ours. */
export function linkOf(mail, path) {
  const found = mail.links.find((l) => l.startsWith(site + path));
  if (!found) throw new Error(`no link to ${path} in: ${mail.text}`);
  return found;
}
