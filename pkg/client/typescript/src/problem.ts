import type { components } from "./schema.js";

type Problem = components["schemas"]["Problem"];

/** Stable name of the kind of problem. */
export type Code = Problem["code"];

/** A field or parameter with an error. */
export type FieldProblem = components["schemas"]["Field"];

/** LodestoneError is an answer of the API that reports a problem, of the form of RFC 9457. */
export class LodestoneError extends Error {
  override readonly name = "LodestoneError";

  constructor(
    /** The HTTP status. */
    readonly status: number,
    /** Stable name of the kind of problem; undefined if the answer did not come from Lodestone's API. */
    readonly code: Code | undefined,
    /** What went wrong in this case, and the remedy. */
    readonly detail: string,
    /** The fields with errors. */
    readonly fields: readonly FieldProblem[],
    /** Names the request in Lodestone's log. */
    readonly requestId: string | undefined,
  ) {
    super(detail);
  }

  /** The first field with an error. */
  get field(): string | undefined {
    return this.fields[0]?.field;
  }
}

/** problemOf reads the problem of an answer, or derives one from its status if the answer is not Lodestone's. */
export async function problemOf(answer: Response): Promise<LodestoneError> {
  const id = answer.headers.get("X-Request-Id") ?? undefined;
  if (answer.headers.get("Content-Type")?.startsWith("application/problem+json")) {
    const p = (await answer.json().catch(() => undefined)) as Problem | undefined;
    if (p?.code) return new LodestoneError(answer.status, p.code, p.detail, p.errors ?? [], id);
  }
  await answer.body?.cancel().catch(() => undefined); // the connection can be used again
  return new LodestoneError(answer.status, undefined, `The answer did not come from Lodestone's API: ${answer.status} ${answer.statusText}`, [], id);
}
