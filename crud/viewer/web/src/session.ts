import type { Place } from "./layout.ts";
import { uuidv7 } from "./uuid.ts";

/** The server's answer to the opening of a link. */
export interface Session {
  session_id: string;
  tracking_token: string;
  collector: string;
  file: string;
  /** Where the file can be downloaded; none for a document that is for reading only. */
  download?: string;
  file_name: string;
  size: number;
  pages: number;
  resumed: boolean;
  /** Where the page says that it cannot show the document, or a page of it. */
  failure?: string;
}

/** State in a history entry: it survives a reload and, unlike a cookie, is sent to no one. */
export interface Stored {
  session?: string;
  page?: number;
  /** What is at the top of the window. */
  top?: Place;
  zoom?: string;
  /** The paper is dark. */
  dark?: boolean;
}

export function stored(): Stored {
  return (history.state as Stored | null) ?? {};
}

export function keep(change: Stored): void {
  history.replaceState({ ...stored(), ...change }, "");
}

/** Resolves when someone can see the page: one that loads ahead, or behind, opens nothing. */
export async function seen(): Promise<void> {
  while ((document as Document & { prerendering?: boolean }).prerendering || document.visibilityState !== "visible") {
    await new Promise<void>((resolve) => {
      document.addEventListener("visibilitychange", () => resolve(), { once: true });
      document.addEventListener("prerenderingchange", () => resolve(), { once: true });
    });
  }
}

/** Resolves after a time, or when the network comes back. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener("online", done);
  });
}

/** Reads Retry-After, in seconds. */
export function retryAfter(response: Response): number | undefined {
  const seconds = Number(response.headers.get("Retry-After"));
  return seconds > 0 ? seconds : undefined;
}

/**
 * Opens the link, or goes on with the session of this history entry. The id is chosen here, so that a
 * request whose answer got lost is repeated without spending another opening. It gives up only when
 * the link cannot be opened: then the page goes where it says so.
 */
export async function open(path: string, preview: string, trouble: (why: "offline" | "busy" | null) => void): Promise<Session> {
  const id = stored().session ?? uuidv7();
  keep({ session: id });
  for (let failures = 0; ; failures++) {
    let wait = Math.min(30_000, 500 * 2 ** failures);
    try {
      const response = await fetch(`${path}/sessions`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ session_id: id, preview }),
        credentials: "omit",
      });
      if (response.status === 201) {
        const session = (await response.json()) as Session;
        keep({ session: session.session_id });
        trouble(null);
        return session;
      }
      if (response.status === 404 || response.status === 410 || response.status === 403) {
        location.replace(`${path}?closed`);
        return await new Promise<never>(() => undefined);
      }
      wait = Math.max(wait, (retryAfter(response) ?? 0) * 1_000);
      trouble("busy");
    } catch {
      trouble("offline");
    }
    await pause(wait);
  }
}
