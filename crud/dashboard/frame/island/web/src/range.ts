// Which intervals of a chart are shown, and which days those are.

/** Range is the first and the last interval that are shown, both included. */
export interface Range {
  first: number;
  last: number;
}

/** within returns a range that lies in a chart of count intervals and has two of them at least. */
export function within(first: number, last: number, count: number): Range {
  const end = count - 1;
  let [a, b] = [Math.round(Math.min(first, last)), Math.round(Math.max(first, last))];
  a = Math.min(Math.max(a, 0), end);
  b = Math.min(Math.max(b, 0), end);
  if (a === b) b < end ? b++ : a > 0 && a--;
  return { first: a, last: b };
}

/** closer returns a range of half as many intervals around one; factor 2: of twice as many. */
export function closer(r: Range, at: number, factor: number, count: number): Range {
  const size = Math.max(Math.round((r.last - r.first) * factor), factor > 1 ? r.last - r.first + 1 : 1);
  const before = Math.round(((Math.min(Math.max(at, r.first), r.last) - r.first) / Math.max(r.last - r.first, 1)) * size);
  return shift({ first: at - before, last: at - before + size }, count);
}

/** shift moves a range into a chart; one that is larger is all of it. */
function shift(r: Range, count: number): Range {
  const by = r.first < 0 ? -r.first : Math.min(count - 1 - r.last, 0);
  return within(r.first + by, r.last + by, count);
}

/** including returns a range of the same size that has an interval. */
export function including(r: Range, at: number, count: number): Range {
  if (at < r.first) return shift({ first: at, last: r.last - r.first + at }, count);
  if (at > r.last) return shift({ first: r.first - r.last + at, last: at }, count);
  return r;
}

/** days returns the first and the last day of a range, as the address of a screen has them; undefined if intervals are no days or weeks. */
export function days(r: Range, step: string, first: string): { from: string; to: string } | undefined {
  const size = { day: 1, week: 7 }[step];
  const begin = Date.parse(`${first}T00:00:00Z`);
  if (!size || Number.isNaN(begin)) return undefined;
  const day = (n: number) => new Date(begin + n * 86_400_000).toISOString().slice(0, 10);
  return { from: day(r.first * size), to: day((r.last + 1) * size - 1) };
}
