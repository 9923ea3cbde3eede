import { uuidv7 } from "./uuid.ts";

/** An event in the collector's form, without the fields that are added when it is sent. */
export interface Event {
  event_type: "page_viewed" | "download_started";
  event_data?: Record<string, number>;
  /** Created once, so that an event that is sent twice is one event. */
  event_id: string;
  created_at: string;
}

/** The collector's answer: none (it was not reached), or a status. */
export interface Answer {
  status: number;
  /** Seconds to wait, if the answer has them. */
  retryAfter?: number;
}

export interface Transport {
  /** Sends a body that outlives the page; rejects without an answer. */
  post(body: string): Promise<Answer>;
  /** Hands a body to the browser for sending at any time; false if it refused. */
  beacon(body: string): boolean;
  later(run: () => void, ms: number): void;
  now(): number;
}

/** Bytes that browsers let one page send beyond its end, with a margin for other requests. */
export const MAX_BYTES = 48 * 1024;
const MAX_EVENTS = 100;
const EVERY_MS = 2_000;
const LONGEST_WAIT_MS = 60_000;

/**
 * Queue holds events until the collector has them. They leave in batches while the page lives; when it
 * is hidden, all that are not acknowledged go by beacon, and again later if the page lives on: the ids
 * make them one. Events that the collector refuses for good are dropped.
 */
export class Queue {
  private readonly pending: Event[] = [];
  private sending = false;
  private scheduled = false;
  private failures = 0;
  private notBefore = 0;

  constructor(
    private readonly token: string,
    private readonly session: () => string,
    private readonly transport: Transport,
  ) {}

  /** How many events are not acknowledged yet. */
  get length(): number {
    return this.pending.length;
  }

  add(event: Omit<Event, "event_id" | "created_at">, at: number): void {
    if (!this.token) return; // a preview: nothing is recorded
    this.pending.push({ ...event, event_id: uuidv7(at), created_at: new Date(at).toISOString() });
    this.schedule(EVERY_MS);
  }

  /** Sends what there is as soon as it may be sent. */
  flush(): void {
    void this.send();
  }

  /** The network is back: what waits need not wait any longer. */
  online(): void {
    this.failures = 0;
    this.notBefore = 0;
    this.flush();
  }

  /** The page is hidden, perhaps for good. */
  hide(): void {
    for (let from = 0; from < this.pending.length; ) {
      const batch = this.batch(from);
      if (!this.transport.beacon(this.encode(batch))) break; // the rest stays for later
      from += batch.length;
    }
    // Handed over is not yet arrived: if the page lives on, it asks the collector itself.
    this.schedule(EVERY_MS);
  }

  private schedule(ms: number): void {
    if (this.scheduled || this.pending.length === 0) return;
    this.scheduled = true;
    this.transport.later(() => {
      this.scheduled = false;
      void this.send();
    }, Math.max(ms, this.notBefore - this.transport.now()));
  }

  private batch(from = 0): Event[] {
    const batch: Event[] = [];
    let bytes = 2;
    for (const event of this.pending.slice(from, from + MAX_EVENTS)) {
      bytes += this.encode([event]).length;
      if (batch.length > 0 && bytes > MAX_BYTES) break;
      batch.push(event);
    }
    return batch;
  }

  private encode(batch: Event[]): string {
    const common = { token: this.token, session_id: this.session(), sent_at: new Date(this.transport.now()).toISOString() };
    return JSON.stringify(batch.map((event) => ({ ...common, ...event })));
  }

  private async send(): Promise<void> {
    if (this.sending || this.pending.length === 0) return;
    if (this.transport.now() < this.notBefore) {
      this.schedule(EVERY_MS);
      return;
    }
    this.sending = true;
    const batch = this.batch();
    let answer: Answer;
    try {
      answer = await this.transport.post(this.encode(batch));
    } catch {
      answer = { status: 0 };
    }
    this.sending = false;
    if (answer.status === 202 || (answer.status >= 400 && answer.status < 500 && answer.status !== 429 && answer.status !== 408)) {
      this.pending.splice(0, batch.length); // stored, or refused for good
      this.failures = 0;
      this.schedule(0);
      return;
    }
    this.failures++;
    const backoff = Math.min(LONGEST_WAIT_MS, 1_000 * 2 ** Math.min(this.failures, 10));
    this.notBefore = this.transport.now() + Math.max(backoff, (answer.retryAfter ?? 0) * 1_000);
    this.schedule(EVERY_MS);
  }
}
