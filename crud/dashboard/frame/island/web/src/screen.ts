// Screens as the server draws them, and notes about them.
import { signedOut } from "./address.ts";

/** Answer is what came for the address of a screen; ended is where to sign in, if the session has ended. */
export interface Answer {
  ok: boolean;
  status: number;
  ended?: string;
  page?: Document;
}

const leavingFor = 30_000; // ms; an address that is a download leaves nothing
const { dataset } = document.documentElement; // shared with scripts that come later and have a copy of this
addEventListener("beforeunload", () => {
  dataset.left = String(performance.now());
});

/** isLeaving reports whether the browser may be loading another page. */
export const isLeaving = (): boolean => performance.now() - Number(dataset.left ?? -Infinity) < leavingFor;

/** ask asks the server for a screen. */
export async function ask(address: string, signal?: AbortSignal): Promise<Answer> {
  const answer = await fetch(address, { credentials: "same-origin", headers: { Accept: "text/html" }, signal: signal ?? null });
  const { ok, status } = answer;
  if (signedOut(address, answer)) return { ok, status, ended: answer.redirected ? answer.url : address };
  // Styles are of this page already, and the policy of the page does not take those of another.
  const text = (await answer.text()).replace(/<style[^]*?<\/style>/g, "");
  return { ok, status, page: new DOMParser().parseFromString(text, "text/html") };
}

/** warning returns a note that is read out, with what one can do about it. */
export function warning(kind: string, words: string, act: HTMLElement): HTMLElement {
  const note = document.createElement("p");
  note.className = `note bad ${kind}`;
  note.setAttribute("role", "alert");
  note.append(words, " ", act);
  return note;
}
