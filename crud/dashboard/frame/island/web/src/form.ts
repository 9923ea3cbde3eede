// Forms: what was typed is not lost by leaving the screen, nor a chosen file by the end of the session.
import { ask, warning } from "./screen.ts";
import { word } from "./words.ts";

const fileForm = "multipart/form-data";
const unsaved = new Set<HTMLFormElement>();
const asking = new WeakSet<HTMLFormElement>();
const checked = new WeakSet<HTMLFormElement>();

const soon = 3000; // ms

/** startForms warns before unsaved input is left, and asks for the session before a file or input is sent. */
export function startForms(): void {
  document.addEventListener("input", (e) => {
    const form = (e.target as HTMLInputElement).form;
    if (form?.method === "post") unsaved.add(form);
  });
  document.addEventListener("reset", (e) => unsaved.delete(e.target as HTMLFormElement));
  document.addEventListener("submit", (e) => {
    const form = e.target as HTMLFormElement;
    if (e.defaultPrevented || form.method !== "post") return;
    if ((form.enctype === fileForm || unsaved.has(form)) && !checked.delete(form) && !answersForm()) {
      e.preventDefault();
      if (asking.has(form)) return; // pressed twice
      asking.add(form);
      void send(form, e.submitter).finally(() => asking.delete(form));
      return;
    }
    unsaved.delete(form);
  });
  addEventListener("beforeunload", (e) => {
    if (unsavedInput()) e.preventDefault();
  });
}

/** unsavedInput reports whether a form of the screen has input that was not sent. Then the browser loads other pages, and asks before it does. */
export function unsavedInput(): boolean {
  return [...unsaved].some((form) => form.isConnected);
}

/** send submits a form if there is a session, with the token of that. Without one the form stays as it is, and signing in opens beside it. */
async function send(form: HTMLFormElement, submitter: HTMLElement | null): Promise<void> {
  form.querySelector(".ended")?.remove();
  const here = location.pathname + location.search;
  const asked = new URL(here, location.href).href;
  const answer = await ask(asked, form.enctype === fileForm ? undefined : AbortSignal.timeout(soon)).catch(() => undefined);
  if (answer?.ended) {
    ended(form, answer.ended);
    return;
  }
  if (answer?.ok) renew(form, answer.page?.querySelector<HTMLInputElement>("input[name=csrf]")?.value);
  checked.add(form); // without an answer the browser says what is wrong
  form.requestSubmit(submitter);
}

/**
 * answersForm reports whether the screen came as the answer to a form that was not taken. Its address is then that of the form, which no one
 * can ask for.
 */
function answersForm(): boolean {
  const [load] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return load !== undefined && load.responseStatus >= 400 && new URL(load.name).pathname === location.pathname;
}

/** renew puts the token of the session into a form: the person may have signed in again in another tab. */
function renew(form: HTMLFormElement, token: string | undefined): void {
  if (!token) return;
  const field = form.querySelector<HTMLInputElement>("input[name=csrf]");
  if (field) field.value = token;
  const action = new URL(form.action);
  if (action.searchParams.has("csrf")) {
    action.searchParams.set("csrf", token);
    form.action = action.href;
  }
}

function ended(form: HTMLFormElement, signIn: string): void {
  const link = document.createElement("a");
  link.href = signIn;
  link.target = "_blank";
  link.textContent = word("sign_in");
  form.append(warning("ended", word("ended"), link));
  link.focus();
}
