import { problemOf } from "./problem.js";

const attempts = 4;
const firstWait = 100; // ms; doubled with each attempt

/** Settings of repeated requests. */
export interface Retry {
  /** Sends a request. Default: the fetch of the platform. */
  fetch?: (request: Request) => Promise<Response>;
  /** Waits before a request is repeated. Default: a timer. */
  sleep?: (ms: number) => Promise<void>;
  /** The longest wait that Retry-After may ask for, in ms; for a longer one the problem is thrown at once. Default: 60,000. */
  maxWait?: number;
}

/**
 * retrying returns a fetch that throws problems, and repeats requests while that may help. A creation has an Idempotency-Key, so
 * it happens once however often it is sent. Changes and deletions whose answer was lost may have happened and are not
 * repeated; those refused with 429 have not, and are.
 */
export function retrying(config: Retry): (request: Request) => Promise<Response> {
  const send = config.fetch ?? ((request: Request) => globalThis.fetch(request));
  const sleep = config.sleep ?? ((ms: number) => new Promise<void>((done) => setTimeout(done, ms)));
  const maxWait = config.maxWait ?? 60_000;
  return async (request) => {
    const repeatable = request.method === "GET" || request.method === "POST";
    if (request.method === "POST" && !request.headers.has("Idempotency-Key")) {
      request.headers.set("Idempotency-Key", crypto.randomUUID());
    }
    for (let attempt = 1; ; attempt++) {
      const backoff = firstWait * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
      let answer: Response;
      try {
        answer = await send(request.clone()); // a body can be sent only once
      } catch (error) {
        if (!repeatable || attempt === attempts || request.signal.aborted) throw error;
        await sleep(backoff);
        continue;
      }
      if (answer.ok || answer.status === 304) return answer;
      const after = Number(answer.headers.get("Retry-After") ?? 0) * 1000;
      const problem = await problemOf(answer);
      // 409 with Retry-After: the request before this one is still being answered.
      const transient = answer.status === 429 || (repeatable && (answer.status === 503 || (answer.status === 409 && after > 0)));
      if (!transient || attempt === attempts || after > maxWait) throw problem;
      await sleep(Math.max(after, backoff));
    }
  };
}
