import { pause, retryAfter } from "./session.ts";

export type Trouble = "offline" | "busy" | "slow" | null;

/** A request that takes longer than this gets a notice. */
const SLOW_MS = 6_000;

/**
 * Source fetches parts of the document, as often as it takes: a part that got lost on a train comes
 * when the network does. If the pass ran out, it asks for another one.
 */
export class Source {
  private waiting = 0;
  private closed = false;

  constructor(
    private url: string,
    private readonly renew: () => Promise<string>,
    private readonly trouble: (why: Trouble) => void,
  ) {}

  close(): void {
    this.closed = true;
  }

  /** Passes on the file as it arrives, and resumes where it stopped. */
  async stream(each: (bytes: Uint8Array) => void, size: number): Promise<void> {
    let at = 0;
    for (let failures = 0; at < size && !this.closed; failures++) {
      try {
        const response = await fetch(this.url, { headers: at > 0 ? { Range: `bytes=${at}-` } : {}, credentials: "omit" });
        if (response.body && response.status === (at > 0 ? 206 : 200)) {
          const reader = response.body.getReader();
          for (;;) {
            const { done, value } = await reader.read();
            if (done) break;
            if (this.closed) return void reader.cancel();
            at += value.length;
            if (failures > 0) this.trouble(null);
            failures = 0;
            each(value);
          }
        }
      } catch {
        this.trouble("offline");
      }
      if (at < size) await pause(Math.min(15_000, 400 * 2 ** failures));
    }
  }

  /** Returns the bytes from begin up to, and without, end; all of the file without them. */
  async read(begin?: number, end?: number): Promise<Uint8Array> {
    for (let failures = 0; ; failures++) {
      let wait = Math.min(15_000, 400 * 2 ** failures);
      const slow = setTimeout(() => this.trouble("slow"), SLOW_MS);
      this.waiting++;
      try {
        const headers: Record<string, string> = end === undefined ? {} : { Range: `bytes=${begin}-${end - 1}` };
        const response = await fetch(this.url, { headers, credentials: "omit" });
        if (response.ok) {
          const bytes = new Uint8Array(await response.arrayBuffer());
          const wanted = end === undefined || response.status === 206 ? bytes : bytes.subarray(begin, end);
          if (end === undefined || wanted.length === end - begin!) {
            if (this.waiting === 1) this.trouble(null);
            return wanted;
          }
        } else if (response.status === 410 || response.status === 404) {
          this.url = await this.renew();
        } else {
          wait = Math.max(wait, (retryAfter(response) ?? 0) * 1_000);
          this.trouble("busy");
        }
      } catch {
        this.trouble("offline");
      } finally {
        this.waiting--;
        clearTimeout(slow);
      }
      if (this.closed) return await new Promise<never>(() => undefined);
      await pause(wait);
    }
  }
}
