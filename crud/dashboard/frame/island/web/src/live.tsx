// Who reads now: the server's list, kept up to date by the stream of events. Cells fill as pages are read; those who leave turn grey, and go.
import { signal, effect, batch } from "@preact/signals-core";
import { render } from "preact";

import { fill } from "./fill.ts";
import { keyOf, Roster, spell, type Reader, type Snapshot } from "./roster.ts";
import { ask, isLeaving } from "./screen.ts";
import { Stream } from "./stream.ts";
import { say } from "./words.ts";

type Forms = Record<string, string>;

interface State extends Snapshot {
  compact: boolean;
  stream: string;
  screen: string;
  words: Record<"just_now" | "ago" | "left" | "page" | "page_of" | "none" | "then" | "began" | "bot" | "connected" | "lost" | "title", string> & Record<"heading" | "more", Forms>;
}

const tick = 1_000; // ms between two looks at the clock
const renew = 30_000; // ms between two states of the server
const soon = 700; // ms until someone new is asked for: others may come at the same time

/** start shows who reads now in place of the server's list, and returns what ends it. */
export function start(root: HTMLElement): () => void {
  const state = read(root);
  if (!state) return () => {};
  const { words, compact } = state;
  const limit = compact ? 6 : 60;
  const roster = new Roster(state.window);
  const plural = new Intl.PluralRules(document.documentElement.lang || "en");
  const counted = (forms: Forms, n: number) => forms[plural.select(n)] ?? forms.other ?? "";

  let offset = 0; // of the server's clock
  const clock = () => Date.now() + offset;
  const now = signal(0);
  const readers = signal<Reader[]>([]);
  const connection = signal<"" | "connected" | "lost">("");
  let fresh = new Set<string>();

  const take = (next: Snapshot, announce: boolean) => {
    offset = Date.parse(next.as_of) - Date.now();
    if (compact) next.people = next.people.filter((p) => !p.bot);
    const came = roster.merge(next);
    fresh = new Set(announce ? came.map((r) => r.key) : []);
    const people = came.filter((r) => !r.bot);
    if (announce && people.length > 0) say(people.slice(0, 3).map((r) => fill(words.began, { name: r.name, title: r.title })).join(". "));
    show();
  };
  const show = () => batch(() => {
    now.value = clock();
    roster.tidy(now.value);
    readers.value = roster.readers;
  });

  let due: ReturnType<typeof setTimeout> | undefined;
  let asking: AbortController | undefined;
  const fetchState = async () => {
    due = undefined;
    asking?.abort();
    asking = new AbortController();
    const answer = await ask(state.screen, asking.signal).catch(() => undefined);
    // It leads to the page for signing in, and that back. Whoever is signing out gets the page that says so instead.
    if (answer?.ended && !isLeaving()) location.reload();
    const next = answer?.page && read(answer.page);
    if (!next || !root.isConnected) return;
    take(next, true);
    const asOf = answer?.page?.querySelector(".asof");
    if (asOf && !compact) document.querySelector(".asof")?.replaceWith(asOf);
  };
  const later = (ms: number) => {
    due ??= setTimeout(() => void fetchState(), ms);
  };

  const follow = (bot: boolean) => new Stream(`${state.stream}?event_type=page_viewed${bot ? "&bot=true" : ""}`, {
    type: "page_viewed",
    got(data) {
      const event = JSON.parse(data) as { access_link_id: string; event_data?: { page?: number } };
      if (roster.view(keyOf(event.access_link_id, bot), event.event_data?.page ?? 0, clock())) show();
      else later(soon);
    },
    connected(yes) {
      if (bot) return; // the other one tells
      if (yes && connection.value !== "connected") later(0); // what happened before the stream began
      connection.value = yes ? "connected" : "lost";
    },
  });
  const streams = compact ? [follow(false)] : [follow(false), follow(true)]; // a browser has few connections

  let timers: ReturnType<typeof setInterval>[] = [];
  const pause = () => {
    for (const s of streams) s.close();
    timers.forEach(clearInterval);
    timers = [];
    clearTimeout(due);
    due = undefined;
    asking?.abort();
  };
  const look = () => {
    pause();
    if (document.hidden) return;
    for (const s of streams) s.open();
    timers = [setInterval(show, tick), setInterval(() => later(0), renew)];
    if (connection.value) later(0); // it was away
  };
  const offline = () => {
    for (const s of streams) s.close();
    connection.value = "lost";
  };
  const end = new AbortController();
  const on = (target: EventTarget, type: string, fn: (e: Event) => void) => target.addEventListener(type, fn, { signal: end.signal });
  on(document, "visibilitychange", look);
  on(window, "pagehide", pause);
  on(window, "pageshow", (e) => (e as PageTransitionEvent).persisted && look()); // the browser kept the page
  on(window, "offline", offline);
  on(window, "online", look);

  take(state, false);
  root.replaceChildren();
  const dispose = effect(() => {
    const [at, all] = [now.value, readers.value];
    const listed = all.slice(0, limit);
    const more = roster.hidden + all.slice(limit).filter((r) => !r.bot).length;
    const count = roster.count(at);
    const cards = listed.map((r) => <Card key={r.key} reader={r} at={at} left={roster.left(r, at)} fresh={fresh.has(r.key)} compact={compact} words={words} />);
    const heading = <Heading text={counted(words.heading, count)} count={count} />;
    const status = <span id="state" role="status">{connection.value && words[connection.value]}</span>;
    render(
      <>
        {compact ? <h2>{heading}</h2> : <><p class="kicker">{words.title} · {status}</p><h1>{heading}</h1></>}
        {compact
          ? cards.length > 0 ? cards : <p class="soft">{words.none}</p>
          : <ul class="live">{cards.length > 0 ? cards : <li class="soft none">{words.none} {words.then}</li>}</ul>}
        {more > 0 && <p class="soft small">{fill(counted(words.more, more), { n: more })}</p>}
        {compact && <p id="state" role="status" class="soft small">{connection.value === "lost" ? words.lost : ""}</p>}
      </>,
      root,
    );
  });
  look();
  return () => {
    pause();
    end.abort();
    dispose();
    render(null, root);
  };
}

function read(where: ParentNode): State | undefined {
  const text = where.querySelector('script[type="application/json"]:not([id])')?.textContent;
  return text ? JSON.parse(text) : undefined;
}

function Heading({ text, count }: { text: string; count: number }) {
  const [before, after] = text.split("{readers}");
  return <>{before}<span data-metric="readers_now" data-value={count}>{count.toLocaleString(document.documentElement.lang)}</span>{after}</>;
}

interface Shown { reader: Reader; at: number; left: boolean; fresh: boolean; compact: boolean; words: State["words"] }

function Card({ reader: r, at, left, fresh, compact, words }: Shown) {
  const kind = [compact ? "person" : "card", r.bot && "bot", left && "gone", fresh && "fresh"].filter(Boolean).join(" ");
  const where = r.page > 0 ? fill(r.pages > 0 ? words.page_of : words.page, { page: r.page, pages: r.pages }) : "";
  const age = at - r.at;
  const seen = left ? fill(words.left, { time: spell(age) }) : age < 2000 ? words.just_now : fill(words.ago, { time: spell(age) });
  const cells = r.cells && r.cells.length > 0 && <span class="cells" aria-hidden="true">{r.cells.map((read, i) => <i key={i} class={read ? "on" : ""} />)}</span>;
  const name = <a href={r.url}>{r.name}</a>;
  if (compact) return <p class={kind}>{name} <span class="soft">{[r.title, left ? seen : where].filter(Boolean).join(" · ")}</span>{cells}</p>;
  return <li class={kind}><p>{name}</p><p class="soft">{r.title}</p>{cells}<p class="small soft">{[where, seen].filter(Boolean).join(", ")}</p></li>;
}
