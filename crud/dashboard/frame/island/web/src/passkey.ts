// Passkeys: an authenticator fills the field "credential" of a form, which then is sent like any other. The sign-in page has such a form, and
// so have the settings, where it adds a passkey.

interface Descriptor {
  id: string;
  type: "public-key";
  transports?: AuthenticatorTransport[];
}

/** Options as the server writes them, with binary values in base64url. */
interface Options extends Omit<PublicKeyCredentialCreationOptions & PublicKeyCredentialRequestOptions, "challenge" | "user"> {
  challenge: string;
  user?: { id: string; name: string; displayName: string };
}

/** start follows the form within root, and returns what ends that. */
export function start(root: Element): () => void {
  const form = root.querySelector<HTMLFormElement>("form");
  const credential = form?.querySelector<HTMLInputElement>("[name=credential]");
  const wrong = form?.querySelector<HTMLElement>("p.wrong");
  const button = form?.querySelector<HTMLButtonElement>("button");
  if (!form || !credential || !wrong || !button || !window.PublicKeyCredential) return () => {};

  const end = new AbortController();
  const ask = async () => {
    wrong.hidden = true;
    button.disabled = true;
    try {
      credential.value = await answer(form, end.signal);
    } catch (e) {
      const name = (e as Error).name;
      wrong.textContent = (name === "NotAllowedError" ? form.dataset.cancelled : name === "InvalidStateError" ? form.dataset.exists : undefined)
        ?? form.dataset.failed ?? "";
      wrong.hidden = end.signal.aborted;
    } finally {
      button.disabled = false;
    }
    if (credential.value !== "") form.requestSubmit(button);
  };
  form.addEventListener("submit", (e) => {
    if (credential.value !== "") return;
    e.preventDefault();
    void ask();
  }, { signal: end.signal });
  // A form that the browser shows again after it went back has an answer that was used.
  addEventListener("pageshow", () => (credential.value = ""), { signal: end.signal });
  for (const without of root.querySelectorAll<HTMLElement>(".without")) without.hidden = true;
  form.hidden = false;
  return () => end.abort();
}

/** answer returns what the authenticator answers to a challenge of the server, as JSON. */
async function answer(form: HTMLFormElement, signal: AbortSignal): Promise<string> {
  const token = form.querySelector<HTMLInputElement>("[name=csrf]")?.value ?? "";
  const response = await fetch(`${form.action}/challenge`, { method: "POST", headers: { "X-CSRF-Token": token }, signal });
  if (response.status === 401) location.reload(); // the session is over
  if (!response.ok) throw new Error(`status ${response.status}`);
  const { publicKey: o } = (await response.json()) as { publicKey: Options };
  const keys = (list: unknown) => ((list ?? []) as Descriptor[]).map((k) => ({ ...k, id: decode(k.id) }));
  const challenge = decode(o.challenge);
  const found = o.user
    ? await navigator.credentials.create({ signal, publicKey: { ...o, challenge, user: { ...o.user, id: decode(o.user.id) }, excludeCredentials: keys(o.excludeCredentials) } })
    : await navigator.credentials.get({ signal, publicKey: { ...o, challenge, allowCredentials: keys(o.allowCredentials) } });
  if (!found) throw new Error("no credential");
  return write(found as PublicKeyCredential);
}

function write(c: PublicKeyCredential): string {
  const r = c.response as Partial<AuthenticatorAttestationResponse & AuthenticatorAssertionResponse>;
  const text = (bytes: ArrayBuffer | null | undefined) => (bytes ? encode(bytes) : undefined);
  return JSON.stringify({
    id: c.id, rawId: encode(c.rawId), type: c.type, authenticatorAttachment: c.authenticatorAttachment ?? undefined, clientExtensionResults: {},
    response: {
      clientDataJSON: text(r.clientDataJSON), attestationObject: text(r.attestationObject), transports: r.getTransports?.(),
      authenticatorData: text(r.authenticatorData), signature: text(r.signature), userHandle: text(r.userHandle),
    },
  });
}

function decode(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
}

function encode(bytes: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// The sign-in page loads this script by itself.
for (const root of document.querySelectorAll("[data-passkey]")) start(root);
