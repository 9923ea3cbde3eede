// Which links and forms lead to another state of the same screen. Only those are drawn in place: another screen has other styles, which
// the policy of this page does not take.

/** sameScreen returns the address that a link leads to if it is another state of the screen at here. */
export function sameScreen(href: string, here: string): URL | undefined {
  const from = new URL(here);
  let to: URL;
  try {
    to = new URL(href, here);
  } catch {
    return undefined;
  }
  if (to.origin !== from.origin || to.pathname !== from.pathname) return undefined;
  if (to.hash !== "" && to.search === from.search) return undefined; // a place on this page
  return to;
}

/** formAddress returns the address that a form with the method get leads to. The fields replace the query of its action. */
export function formAddress(action: string, fields: Iterable<[string, unknown]>): string {
  const to = new URL(action);
  const query = new URLSearchParams();
  for (const [name, value] of fields) {
    if (typeof value === "string") query.append(name, value);
  }
  to.search = query.toString();
  to.hash = "";
  return to.href;
}

/** signedOut reports whether an answer is not of the screen that was asked for: the session has ended. */
export function signedOut(asked: string, answer: { status: number; redirected: boolean; url: string }): boolean {
  return answer.status === 401 || (answer.redirected && new URL(answer.url).pathname !== new URL(asked).pathname);
}
