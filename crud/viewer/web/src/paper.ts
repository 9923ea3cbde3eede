export interface Size {
  width: number;
  height: number;
}

/** Pixels a point on paper: 150 an inch. */
const DENSITY = 150 / 72;
/** Pixels of one page at most, so that a poster is printed as well. */
const MAX_PIXELS = 8e6;

/** Returns how many pixels wide the picture of a page of a size in points is. */
export function printWidth({ width, height }: Size): number {
  return Math.max(1, Math.round(width * Math.min(DENSITY, Math.sqrt(MAX_PIXELS / (width * height)))));
}

/** Returns the name of the paper for pages of a size. */
export function paperOf({ width, height }: Size): string {
  return `p${Math.round(width)}x${Math.round(height)}`;
}

/** Returns rules of CSS by which each page is printed on paper of its own size. */
export function paperRules(sizes: readonly Size[]): string[] {
  const rules = new Map<string, string>();
  const first = sizes[0];
  if (first) rules.set("", `@page { size: ${first.width}pt ${first.height}pt; margin: 0; }`); // for browsers that know one size only
  for (const size of sizes) {
    const name = paperOf(size);
    if (!rules.has(name)) rules.set(name, `@page ${name} { size: ${size.width}pt ${size.height}pt; margin: 0; }`);
  }
  return [...rules.values()];
}
