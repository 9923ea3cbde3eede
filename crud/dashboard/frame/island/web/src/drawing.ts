// What the drawing of a page and a mail shows, as crud/dashboard/setting/preview.go draws it.

/** Logo is a picture in its own size. */
export interface Logo {
  url: string;
  width: number;
  height: number;
}

const maxName = 26; // characters that fit
const edge = 24;
const logoHeight = 16;
const maxLogo = 100;

/** shorten returns as much of a name as fits. */
export function shorten(name: string): string {
  const letters = [...name];
  return letters.length > maxName ? `${letters.slice(0, maxName - 1).join("")}…` : name;
}

/** place returns where a logo and the name stand. A wide logo says the name. */
export function place(logo: Logo | undefined): { width: number; nameAt: number; worded: boolean } {
  if (!logo || logo.height <= 0) return { width: 0, nameAt: edge, worded: false };
  const width = Math.min(Math.floor((logo.width * logoHeight) / logo.height), maxLogo);
  return { width, nameAt: edge + width + 6, worded: logo.width >= 2 * logo.height };
}
