// Shows the form of a generic link on the page that this script stands on:
//
//   <script src="https://links.example.com/embed.js" data-link="guide" async></script>
//
// The form is a custom element after the tag, or in the element that data-target selects. It takes the font and the colour of the page,
// and its parts can be styled: lodestone-form::part(button). It stores nothing, and sends neither a view nor where the visitor came
// from if the browser asks for privacy (Global Privacy Control, Do Not Track). No error of it reaches the page.

type Config = {
  token: string; visit: string; tracking_token: string; views: string | null; page: string; title: string;
  language: string; words: Record<string, string>; // texts, by their keys in the catalogue
  name: boolean; fields: Asked[]; hidden: string[]; consent: string | null; consent_version: string; passcode: boolean; agreement: { title: string; text: string; accept: string; version: string } | null; privacy_url: string | null; button: string; note: string;
};
/** A field that the owner added. */
type Asked = { name: string; label: string; type: string; mode: string; fill: string; max: number; options: string[]; words?: string[]; missing: string };
type Answer = { state?: "verify" | "redirect" | "ready"; url?: string; errors?: Record<string, string>; message?: string };
type Field = HTMLElement & { box: HTMLInputElement; say: (text: string) => void; check: () => string };

/** The words of the link that stands for a form that did not come: the build takes them from the catalogue, by language. */
declare const OPEN: Record<string, string>;

const tag = (document.currentScript ?? document.querySelector('script[src*="/embed.js"][data-link]')) as HTMLScriptElement | null;
const privacy = navigator as { globalPrivacyControl?: boolean; doNotTrack?: string | null };
const withheld = privacy.globalPrivacyControl || privacy.doNotTrack == "1";

const css = `:host{display:block}
*{box-sizing:border-box;font:inherit;color:inherit}
form{display:grid;gap:1em;margin:0}p{margin:0}
label{display:block;margin:0 0 .25em}
input,select{width:100%;min-height:44px;padding:.5em .75em;border:1px solid;border-radius:6px;background:none}
input[type=checkbox]{flex:none;width:20px;min-height:20px;margin:.15em .5em 0 0;padding:0;accent-color:currentColor}
option{color:CanvasText;background:Canvas}
.check{display:flex;align-items:flex-start}.check label{margin:0}
button{min-height:44px;padding:.5em 1em;border:2px solid;border-radius:6px;background:none;font-weight:600;cursor:pointer}
button[aria-disabled=true]{opacity:.7;cursor:progress}
:focus-visible{outline:2px solid;outline-offset:2px}
a{text-decoration:underline}a.go{display:inline-block;padding:10px 0;font-weight:600}
[aria-invalid=true]{outline:1px solid}
.wrong{margin:.25em 0 0;font-weight:600}.wrong::before{content:"! "}
[hidden]{display:none}
.terms{max-height:12em;overflow-y:auto;margin-top:.25em;padding:.5em .75em;border:1px solid;border-radius:6px;font-size:.875em;white-space:pre-wrap;overflow-wrap:anywhere}
.note{font-size:.875em}
.trap{position:absolute;left:-99999px}`;

/** Makes an element with properties, attributes (in lower case with a dash, or part, for, role, class) and children. */
function make<K extends keyof HTMLElementTagNameMap>(name: K, attributes: Record<string, string>, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(name);
  for (const a in attributes) e.setAttribute(a, attributes[a]!);
  e.append(...children);
  return e;
}

const link = (words: string, href: string, part = "link") => make("a", { part, href, class: "go" }, words);
const away = (words: string, href: string) => make("a", { part: "link", href, target: "_blank", rel: "noopener noreferrer" }, words);

/** Strips an address: no query except the campaign's, no fragment. They may contain secrets. */
function bare(address: string): string {
  try {
    const url = new URL(address);
    // An app has no origin; a file, which has none either, says where it lies.
    const page = url.protocol == "android-app:" ? address.replace(/[?#].*/, "") : url.origin == "null" ? "" : url.origin + url.pathname;
    return page && `${page}?${campaign(url)}`.replace(/\?$/, "");
  } catch {
    return "";
  }
}

function campaign(url: URL): URLSearchParams {
  const found = new URLSearchParams();
  url.searchParams.forEach((value, name) => {
    if (/^utm_(source|medium|campaign|term|content|id)$/.test(name)) found.append(name, value);
  });
  return found;
}

/** Sends a view until it is counted. Its id stays the same: if only an answer got lost, nothing is counted twice. */
function count(url: string, body: string, wait: number): void {
  fetch(url, { method: "POST", body, keepalive: true, credentials: "omit", referrerPolicy: "no-referrer" }).then((answer) => {
    if (answer.status == 429 || answer.status >= 500) throw 0;
  }).catch(() => {
    if (wait < 2e5) setTimeout(count, wait, url, body, wait * 6);
  });
}

/** Calls a function once the page is looked at: it may be in the background, or prerendered. */
function seen(call: () => void): void {
  if (document.visibilityState != "hidden") return call();
  document.addEventListener("visibilitychange", call, { once: true });
}

/** What the server answers to visitors, in their language. */
class Refusal extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

class Form extends HTMLElement {
  #url = "";
  #config!: Config;
  #root = this.attachShadow({ mode: "open" });
  #fields: Field[] = [];
  #alert = make("p", { part: "error", role: "alert", class: "wrong", hidden: "" });

  /** Loads the form of a link of an installation, and shows it. */
  async show(site: string, slug: string): Promise<void> {
    this.#url = `${site}/embed/${encodeURIComponent(slug)}`;
    this.#style();
    try {
      this.#config = await this.#load();
    } catch (error) {
      const refused = error instanceof Refusal;
      console.warn(`Lodestone: the form of ${slug} cannot be shown here.${refused ? "" : ` Is ${location.origin} one of the link's allowed_origins?`}`, error);
      if (refused) this.#root.append(make("p", { part: "message" }, error.message));
      if (!refused || error.status != 410) this.#root.append(link(OPEN[navigator.language.slice(0, 2)] ?? OPEN.en!, `${site}/l/${encodeURIComponent(slug)}`)); // never a dead end
      return;
    }
    this.lang = this.#config.language;
    this.#root.append(this.#form());
    if (!withheld) seen(() => this.#count());
  }

  #style(): void {
    try {
      const sheet = new CSSStyleSheet(); // a policy of the page does not refuse it
      sheet.replaceSync(css);
      this.#root.adoptedStyleSheets = [sheet];
    } catch {
      this.#root.append(make("style", {}, css));
    }
  }

  async #load(): Promise<Config> {
    const answer = await fetch(this.#url, { credentials: "omit", referrerPolicy: "no-referrer" });
    if (!answer.ok) throw new Refusal(answer.status, (await answer.json()).message);
    return answer.json();
  }

  #count(): void {
    const { views, visit, tracking_token } = this.#config;
    if (!views) return;
    count(views, JSON.stringify({ token: tracking_token, event_id: visit, referrer: bare(document.referrer), url: bare(location.href) }), 5e3);
  }

  #field(name: string, words: string, type: string, attributes: Record<string, string>, check: (box: HTMLInputElement) => string, options?: Node[]): Field {
    const tick = type == "checkbox";
    const described = { part: tick ? "checkbox" : "input", id: name, name, "aria-describedby": `${name}-wrong`, required: "", ...attributes };
    const box = (options ? make("select", described, ...options) : make("input", { type, ...described })) as HTMLInputElement;
    const wrong = make("p", { part: "error", class: "wrong", id: `${name}-wrong`, role: "alert", hidden: "" });
    const label = make("label", { part: tick ? "consent" : "label", for: name }, words);
    const line = tick ? make("div", { class: "check" }, box, label) : make("div", {}, label, box);
    const say = (text: string) => {
      wrong.textContent = text;
      wrong.hidden = !text;
      if (text) box.setAttribute("aria-invalid", "true");
      else box.removeAttribute("aria-invalid");
    };
    const field = Object.assign(make("div", { part: "field" }, line, wrong), { box, say, check: () => check(box) });
    box.addEventListener("input", () => box.hasAttribute("aria-invalid") && say(check(box)));
    this.#fields.push(field);
    return field;
  }

  #form(): HTMLFormElement {
    const c = this.#config, w = c.words;
    const button = make("button", { part: "button", type: "submit" }, c.button);
    const form = make("form", { part: "form", novalidate: "", "aria-label": c.title }, this.#alert,
      this.#field("email", w["landing.email"]!, "email", { autocomplete: "email", inputmode: "email", autocapitalize: "none", spellcheck: "false", maxlength: "254" }, ({ value }) =>
        !value.trim() ? w["wrong.email.empty"]! : /[@＠﹫]/.test(value) ? "" : w["wrong.email.form"]!));
    if (c.name) form.append(this.#field("name", w["landing.name"]!, "text", { autocomplete: "name", maxlength: "100" }, ({ value }) => value.trim() ? "" : w["wrong.name.empty"]!));
    for (const f of c.fields) {
      const options = f.options.length ? [make("option", { value: "" }, w["landing.choose"]!), ...f.options.map((value, i) => make("option", { value }, f.words?.[i] ?? value))] : undefined;
      const field = this.#field(f.name, f.label, f.type, { autocomplete: f.fill, inputmode: f.mode, maxlength: String(f.max) }, ({ value }) => value.trim() ? "" : f.missing, options);
      field.box.required = !!f.missing;
      form.append(field);
    }
    if (c.passcode) {
      const field = this.#field("passcode", w["landing.passcode"]!, "text", { autocomplete: "off", autocapitalize: "none", spellcheck: "false", maxlength: "100" }, ({ value }) => value.trim() ? "" : w["wrong.passcode.empty"]!);
      field.append(make("p", { part: "note", class: "note" }, w["landing.passcode.hint"]!));
      form.append(field);
    }
    if (c.agreement) {
      const { title, text, accept } = c.agreement;
      form.append(make("div", { part: "agreement" }, make("p", { part: "label" }, title), make("div", { class: "terms", role: "region", "aria-label": title, tabindex: "0" }, text)),
        this.#field("agreement", accept, "checkbox", { value: "yes" }, ({ checked }) => checked ? "" : w["wrong.consent.empty"]!));
    }
    if (c.consent) form.append(this.#field("consent", c.consent, "checkbox", { value: "yes" }, ({ checked }) => checked ? "" : w["wrong.consent.empty"]!));
    form.append(
      make("div", { class: "trap", "aria-hidden": "true" }, make("label", {}, w["landing.trap"]!, make("input", { name: "website", tabindex: "-1", autocomplete: "off" }))),
      button, make("p", { part: "note", class: "note" }, c.note));
    if (c.privacy_url) form.append(make("p", { part: "note", class: "note" }, away(`${w["landing.privacy"]} ${w.new_tab}`, c.privacy_url)));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#send(form, button);
    });
    return form;
  }

  async #send(form: HTMLFormElement, button: HTMLButtonElement): Promise<void> {
    if (button.getAttribute("aria-disabled") == "true") return;
    this.#complain(Object.fromEntries(this.#fields.map((f) => [f.box.name, f.check()])));
    if (this.#fields.some((f) => f.box.hasAttribute("aria-invalid"))) return;
    button.setAttribute("aria-disabled", "true");
    try {
      let answer = await this.#post(form);
      if (answer.status == 409) { // the page was open for long: the form is the same, with another token
        const fresh = await this.#load();
        this.#config.token = fresh.token;
        answer = await this.#post(form);
      }
      const reply: Answer = await answer.json();
      if (answer.ok) return this.#done(form, reply, String(new FormData(form).get("email")).trim());
      this.#complain(reply.errors ?? { website: reply.message ?? "" });
    } catch {
      this.#complain({ website: this.#config.words["embed.lost"]! });
    }
    button.removeAttribute("aria-disabled");
  }

  #post(form: HTMLFormElement): Promise<Response> {
    const body = withheld ? new URLSearchParams() : campaign(new URL(location.href));
    if (!withheld) {
      body.set("ref", bare(document.referrer));
      const given = new URLSearchParams(location.search);
      for (const name of this.#config.hidden) body.set(`hidden.${name}`, given.get(name) ?? "");
    }
    new FormData(form).forEach((value, name) => body.set(name, String(value)));
    body.set("consent_seen", this.#config.consent_version);
    if (this.#config.agreement) body.set("agreement_seen", this.#config.agreement.version);
    body.set("token", this.#config.token);
    return fetch(this.#url, { method: "POST", body, credentials: "omit", referrerPolicy: "no-referrer" });
  }

  /** Shows what is wrong beside the fields, and above them what belongs to none. */
  #complain(wrong: Record<string, string>): void {
    for (const f of this.#fields) f.say(wrong[f.box.name] ?? "");
    this.#alert.textContent = wrong.website ?? "";
    this.#alert.hidden = !wrong.website;
    this.#fields.find((f) => f.box.hasAttribute("aria-invalid"))?.box.focus();
  }

  #done(form: HTMLFormElement, { state, url }: Answer, email: string): void {
    if (state == "redirect") return location.assign(url!);
    const w = this.#config.words;
    const words = state == "verify"
      ? [make("p", {}, w["embed.verify"]!.replace("{email}", () => email)), link(w["embed.code"]!, url!)]
      : [make("p", {}, w["embed.ready"]!), link(w["landing.read"]!, url!)];
    const message = make("div", { part: "message", role: "status", tabindex: "-1" }, ...words);
    form.replaceWith(message);
    message.focus();
  }
}

function begin(script: HTMLScriptElement): void {
  if (!customElements.get("lodestone-form")) customElements.define("lodestone-form", Form);
  const element = document.createElement("lodestone-form") as Form;
  const target = script.dataset.target && document.querySelector(script.dataset.target);
  if (target) target.append(element);
  else if (document.head.contains(script)) document.body.append(element);
  else script.after(element);
  void element.show(script.src.replace(/\/embed\.js.*$/, ""), script.dataset.link ?? "");
}

if (tag && !tag.dataset.shown) {
  tag.dataset.shown = "";
  if (document.readyState == "loading" && (tag.dataset.target || document.head.contains(tag))) document.addEventListener("DOMContentLoaded", () => begin(tag));
  else begin(tag);
}
