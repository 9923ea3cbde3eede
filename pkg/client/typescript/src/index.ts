/**
 * Calls Lodestone's API. Paths, parameters, bodies and answers are typed by the API's description.
 *
 * @module
 */
import createFetchClient, { type FetchResponse, type MaybeOptionalInit } from "openapi-fetch";
import type { HttpMethod, MediaType, PathsWithMethod } from "openapi-typescript-helpers";
import { retrying, type Retry } from "./retry.js";
import type { components, paths } from "./schema.js";

export { LodestoneError, type Code, type FieldProblem } from "./problem.js";
export type { Retry } from "./retry.js";
export type { components, operations, paths } from "./schema.js";

/** A type of the API's description by its name, such as Schema<"LeadMagnet">. */
export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];

/** Config names an installation and an account. */
export interface Config extends Retry {
  /** Of the installation, such as http://127.0.0.1:8080. */
  url: string;
  /** An API key. */
  key: string;
}

type Required<T> = { [K in keyof T]-?: undefined extends T[K] ? never : K }[keyof T];
type InitOf<Init> = Required<Init> extends never ? [init?: Init & Record<string, unknown>] : [init: Init & Record<string, unknown>];
type Operation<Path extends keyof paths, Method extends HttpMethod> = paths[Path] extends Record<Method, infer O extends Record<string | number, unknown>> ? O : never;
type Data<Path extends keyof paths, Method extends HttpMethod, Init> = Exclude<FetchResponse<Operation<Path, Method>, Init, MediaType>["data"], undefined>;

/** Call sends a request of one method, and returns the content of the answer. It throws a LodestoneError if the API reports a problem. */
export type Call<Method extends HttpMethod> = <Path extends PathsWithMethod<paths, Method>, Init extends MaybeOptionalInit<paths[Path], Method>>(
  path: Path,
  ...init: InitOf<Init>
) => Promise<Data<Path, Method, Init>>;

/** Element is what a list has. */
export type Element<Page> = Page extends { data: (infer E)[]; pagination: unknown } ? E : never;

type Each = <Path extends PathsWithMethod<paths, "get">, Init extends MaybeOptionalInit<paths[Path], "get">>(
  path: Path,
  ...init: InitOf<Init>
) => AsyncGenerator<Element<Data<Path, "get", Init>>, void, undefined>;

/** Client calls one installation with one key. */
export interface Client {
  get: Call<"get">;
  /** Creates something, once, however often the request has to be sent until its answer arrives. */
  post: Call<"post">;
  put: Call<"put">;
  patch: Call<"patch">;
  delete: Call<"delete">;
  /** Yields the elements of a list, page after page: by cursor where the list has cursors. */
  each: Each;
  /** The client of openapi-fetch, whose answers have headers and status. It has the same key, retries and errors. */
  api: ReturnType<typeof createFetchClient<paths>>;
}

/** Of a page that is fetched by cursor, or by number. */
interface Page {
  data: unknown[];
  pagination: { page: number; total_pages: number; next_cursor?: string | null };
}

/** fileOf sends a file as it is, where openapi-fetch would write JSON. */
function fileOf(file: Blob): Record<string, unknown> {
  return { bodySerializer: (body: unknown) => body, headers: { "Content-Type": file.type } };
}

/** createClient returns a client. */
export function createClient(config: Config): Client {
  const api = createFetchClient<paths>({
    baseUrl: config.url.replace(/\/+$/, ""),
    fetch: retrying(config),
    headers: { Authorization: `Bearer ${config.key}` },
  });
  // openapi-fetch has its types for literals only, so those of Call are put over it below.
  const call = (method: HttpMethod) => async (path: string, init: Record<string, unknown> = {}) => {
    const answer = await api.request(method, path as never, (init.body instanceof Blob ? { ...init, ...fileOf(init.body) } : init) as never);
    return (answer as { data?: unknown }).data;
  };
  const get = call("get");
  async function* each(path: string, init: Record<string, unknown> = {}): AsyncGenerator {
    const params = (init.params ?? {}) as { query?: Record<string, unknown> };
    let next: Record<string, unknown> = {};
    for (;;) {
      const { page: _page, cursor: _cursor, ...filters } = params.query ?? {};
      const query = Object.keys(next).length > 0 ? { ...filters, ...next } : { ...params.query };
      const { data, pagination } = (await get(path, { ...init, params: { ...params, query } })) as Page;
      yield* data;
      if (pagination.next_cursor) next = { cursor: pagination.next_cursor };
      else if (pagination.next_cursor === undefined && pagination.page < pagination.total_pages) next = { page: pagination.page + 1 };
      else return;
    }
  }
  return {
    get: get as Call<"get">,
    post: call("post") as Call<"post">,
    put: call("put") as Call<"put">,
    patch: call("patch") as Call<"patch">,
    delete: call("delete") as Call<"delete">,
    each: each as Each,
    api,
  };
}
