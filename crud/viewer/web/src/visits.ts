/** One visit to a page: from the time when most of the window showed it until another page did, or none. */
export interface Visit {
  page: number;
  /** When it began, in milliseconds since 1970. */
  startedAt: number;
  /** How long the page was visible to a present reader, in milliseconds (an integer). */
  durationMs: number;
}

export interface Clock {
  /** Milliseconds that never go back. */
  now(): number;
  /** Milliseconds since 1970. */
  wall(): number;
}

/** After this time without any input the reader counts as absent. */
export const IDLE_AFTER_MS = 60_000;
/** A page that was passed quicker than this was not viewed. */
export const MIN_MS = 500;

/**
 * Visits measures how long each page is seen. It receives events, and reports each visit once,
 * when it is over: another page is mostly seen, or the browser shows something else.
 */
export class Visits {
  private page: number | null = null;
  private shown = false;
  private begun: { startedAt: number; counted: number } | null = null;
  private from = 0; // when counting was last brought up to date
  private lastInput: number;

  constructor(
    private readonly clock: Clock,
    private readonly done: (visit: Visit) => void,
  ) {
    this.lastInput = clock.now();
  }

  /** The page mostly seen, null if none is there to see. */
  see(page: number | null): void {
    if (page === this.page) return;
    this.end();
    this.page = page;
    this.begin();
  }

  /** Whether the browser shows the document. */
  show(shown: boolean): void {
    if (shown === this.shown) return;
    if (!shown) this.end();
    this.shown = shown;
    if (shown) {
      this.lastInput = this.clock.now(); // someone came back
      this.begin();
    }
  }

  /** Someone moved, pressed or touched something. */
  input(): void {
    this.settle();
    this.lastInput = this.clock.now();
  }

  private begin(): void {
    if (!this.shown || this.page === null || this.begun) return;
    this.begun = { startedAt: this.clock.wall(), counted: 0 };
    this.from = this.clock.now();
  }

  /** Counts the time up to now, except the time beyond IDLE_AFTER_MS after the last input. */
  private settle(): void {
    const now = this.clock.now();
    if (this.begun) this.begun.counted += Math.max(0, Math.min(now, this.lastInput + IDLE_AFTER_MS) - this.from);
    this.from = now;
  }

  private end(): void {
    this.settle();
    const { begun, page } = this;
    this.begun = null;
    if (!begun || page === null || begun.counted < MIN_MS) return;
    this.done({ page, startedAt: begun.startedAt, durationMs: Math.round(begun.counted) });
  }
}
