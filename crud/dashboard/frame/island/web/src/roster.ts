// Who reads now, from what the server drew and what the stream of events adds. It knows nothing of the page.

/** Person is a reader, or a bot, as the server writes it into the screen. */
export interface Person {
  id: string; // of the access link
  bot: boolean;
  name: string;
  title: string;
  url: string;
  page: number; // seen last; 0: not known
  pages: number; // of the document; 0: not known
  cells: boolean[] | null; // of each page: whether it was read
  since: string; // when the session began
  seen: string;
}

/** Snapshot is the state of a screen. */
export interface Snapshot {
  readers: number; // people, also those who are not listed
  people: Person[];
  as_of: string;
  window: number; // ms after which one who was not seen has left
}

/** Reader is a person of the roster; at is when they were seen last, by the clock of the server, in ms. */
export interface Reader extends Person {
  key: string;
  at: number;
}

/** leaves is how long one who has left is still shown, in ms. */
export const leaves = 30_000;

/** keyOf tells readers apart: a link may be opened by a person and by a bot. */
export const keyOf = (id: string, bot: boolean): string => (bot ? "bot " : "") + id;

/** Roster is who is known, people before bots, and in both the newest first. It keeps its order, so that no one jumps while they read. */
export class Roster {
  readers: Reader[] = [];
  hidden = 0; // people who are not listed

  constructor(private window: number) {}

  /** merge takes a state of the server, and returns who is new. Cells that a stream filled stay: the state may be older. */
  merge(state: Snapshot): Reader[] {
    const known = new Map(this.readers.map((r) => [r.key, r]));
    const fresh: Reader[] = [];
    for (const person of state.people) {
      const key = keyOf(person.id, person.bot);
      const at = Date.parse(person.seen);
      const old = known.get(key);
      const next: Reader = { ...person, key, at };
      if (!old) {
        fresh.push(next);
        continue;
      }
      if (old.at > at) [next.at, next.page] = [old.at, old.page];
      if (old.since === person.since && old.cells?.length === person.cells?.length) next.cells = person.cells?.map((on, i) => on || old.cells?.[i] === true) ?? null;
      known.set(key, next);
    }
    const stay = this.readers.map((r) => known.get(r.key) ?? r);
    this.readers = [...fresh, ...stay].sort((a, b) => Number(a.bot) - Number(b.bot));
    this.hidden = Math.max(state.readers - state.people.filter((p) => !p.bot).length, 0);
    return fresh;
  }

  /** view marks a page that someone has viewed, and reports whether they are known. */
  view(key: string, page: number, now: number): boolean {
    const at = this.readers.findIndex((r) => r.key === key);
    const reader = this.readers[at];
    if (!reader) return false;
    const cells = reader.cells && page >= 1 && page <= reader.cells.length ? reader.cells.with(page - 1, true) : reader.cells;
    this.readers = this.readers.with(at, { ...reader, cells, page: page || reader.page, at: Math.max(now, reader.at) });
    return true;
  }

  /** left reports whether a reader has left. */
  left(reader: Reader, now: number): boolean {
    return now - reader.at >= this.window;
  }

  /** tidy removes those who left some time ago. */
  tidy(now: number): void {
    if (this.readers.some((r) => now - r.at >= this.window + leaves)) this.readers = this.readers.filter((r) => now - r.at < this.window + leaves);
  }

  /** count is how many people read now. */
  count(now: number): number {
    return this.readers.filter((r) => !r.bot && !this.left(r, now)).length + this.hidden;
  }
}

/** spell writes a time in ms as the charts do: 5 s, 1 min 5 s. */
export function spell(ms: number): string {
  const s = Math.floor(ms / 1000);
  if (s < 60) return `${s} s`;
  return `${Math.floor(s / 60)} min` + (s % 60 ? ` ${s % 60} s` : "");
}
