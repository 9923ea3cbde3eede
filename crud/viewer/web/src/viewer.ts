// The page on which a recipient reads a document: it opens a session, shows the pages, and tells the
// collector how long each was seen.
import "./older.ts";
import type { PDFDocumentLoadingTask, PDFDocumentProxy } from "pdfjs-dist";
import { isDark } from "./dark.ts";
import { scaleOf, within, type Zoom } from "./layout.ts";
import { Notice } from "./notice.ts";
import { outline } from "./outline.ts";
import { print } from "./print.ts";
import { Queue } from "./queue.ts";
import { Rail } from "./rail.ts";
import { Reader } from "./reader.ts";
import { Search } from "./search.ts";
import { keep, open, retryAfter, seen, stored, type Session } from "./session.ts";
import { Source } from "./source.ts";
import { uuidv7 } from "./uuid.ts";
import { Visits } from "./visits.ts";
import { figure, say } from "./words.ts";

/** Files up to this size come in one piece. */
const FETCH_ALL_BYTES = 384 * 1024;
/** Files up to this size are fetched completely, besides the parts that are needed first. */
const STREAM_BYTES = 8 * 1024 * 1024;
const CHUNK_BYTES = 128 * 1024;

const find = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const root = find("pages");
const bar = find("bar");
const notice = new Notice(find("notice"));
const { path = "", preview = "", assets = "" } = root.dataset;

let session: Session;
/** Whether someone used a pointer, a wheel, a key or a finger since the page was opened. Scripts do not count. */
let touched = false;

function newQueue(collector: string, token: string): Queue {
  const url = `${collector}/v1/events`;
  const type = "text/plain;charset=UTF-8"; // needs no preflight request, so it can be sent at the last moment
  return new Queue(token, () => session.session_id, {
    async post(body) {
      const response = await fetch(url, { method: "POST", body, keepalive: true, credentials: "omit", headers: { "Content-Type": type } });
      const wait = retryAfter(response);
      return wait === undefined ? { status: response.status } : { status: response.status, retryAfter: wait };
    },
    beacon: (body) => navigator.sendBeacon?.(url, new Blob([body], { type })) ?? false,
    later: (run, ms) => void setTimeout(run, ms),
    now: () => Date.now(),
  });
}

let complete = false; // all of the document is here

async function begin(): Promise<void> {
  history.scrollRestoration = "manual";
  if (stored().dark) darken(true);
  addEventListener("offline", () => complete || notice.trouble("offline"));
  addEventListener("online", () => notice.trouble(null));
  await seen();
  const pdfjs = await import("pdfjs-dist"); // before a session, which spends a view: a browser that cannot run it gets another way to read
  delete document.documentElement.dataset.starting;
  session = await open(path, preview, (why) => notice.trouble(why));
  const queue = newQueue(session.collector, session.tracking_token);
  offerDownload(queue);

  pdfjs.GlobalWorkerOptions.workerSrc = `${assets}worker.mjs`;
  const source = new Source(session.file, renew, (why) => notice.trouble(why));
  const fetchAll = session.size <= FETCH_ALL_BYTES;
  const at = (folder: string) => new URL(`${assets}${folder}/`, location.origin).href;
  const options = {
    cMapUrl: at("cmaps"), standardFontDataUrl: at("standard_fonts"), wasmUrl: at("wasm"), iccUrl: at("iccs"),
    // Fonts that a document lacks are ours: systems have none of their names, or others of their
    // names.
    useSystemFonts: false, enableXfa: false, verbosity: pdfjs.VerbosityLevel.ERRORS,
  };
  let task: PDFDocumentLoadingTask;
  if (fetchAll) {
    const data = await source.read();
    complete = true;
    task = pdfjs.getDocument({ ...options, data });
  } else {
    class Parts extends pdfjs.PDFDataRangeTransport {
      override requestDataRange(first: number, last: number): void {
        void source.read(first, last).then((bytes) => this.onDataRange(first, bytes));
      }
      override abort(): void {
        source.close();
      }
    }
    const parts = new Parts(session.size, null);
    const saving = (navigator as Navigator & { connection?: { saveData?: boolean } }).connection?.saveData ?? false;
    const stream = session.size <= STREAM_BYTES && !saving;
    task = pdfjs.getDocument({ ...options, range: parts, rangeChunkSize: CHUNK_BYTES, disableAutoFetch: true, disableStream: !stream });
    if (stream) void source.stream((bytes) => parts.onDataProgressiveRead(bytes), session.size).then(() => {
      complete = true;
      parts.onDataProgressiveDone();
    });
  }
  task.onPassword = () => failed(say(session.download ? "password" : "closed"));
  try {
    await show(pdfjs, await task.promise, fetchAll, queue);
  } catch {
    unreadable();
  }
}

/** Says that the document cannot be shown, to the reader and to its owner. */
function unreadable(): void {
  failed(say(session.download ? "unreadable" : "closed"));
  report(0);
}

let reported = false;

/**
 * Tells the server that a page cannot be shown, or with 0 the document. One is enough for its owner
 * to look.
 */
function report(page: number): void {
  if (reported || !session.failure) return;
  reported = true;
  const body = JSON.stringify({ page });
  void fetch(session.failure, { method: "POST", headers: { "Content-Type": "application/json" }, body, credentials: "omit" }).catch(() => undefined);
}

/** Asks for another pass when the one for the file is over, and reloads the page with another document. */
async function renew(): Promise<string> {
  const before = session;
  session = await open(path, preview, (why) => notice.trouble(why));
  if (session.size !== before.size) location.reload();
  return session.file;
}

function failed(words: string): void {
  notice.say(null);
  notice.say(words);
  root.querySelector(".waiting")?.classList.remove("waiting");
}

function offerDownload(queue: Queue): void {
  if (!session.download) return; // the document is for reading only
  const link = find<HTMLAnchorElement>("download");
  const prepare = () => (link.href = `${session.download}&d=${uuidv7()}`);
  prepare();
  link.removeAttribute("role");
  link.removeAttribute("tabindex");
  link.title = say("download", { size: bytes(session.size) });
  link.setAttribute("aria-label", link.title);
  const clicked = (event: MouseEvent) => {
    if (event.type === "auxclick" && event.button !== 1) return;
    queue.add({ event_type: "download_started" }, Date.now());
    queue.flush();
    setTimeout(prepare); // the next click is another download
  };
  link.addEventListener("click", clicked);
  link.addEventListener("auxclick", clicked);
}

function bytes(size: number): string {
  return size < 1e6 ? say("kb", { n: figure(Math.max(1, Math.round(size / 1e3))) }) : say("mb", { n: figure(size / 1e6, 1) });
}

async function show(pdfjs: typeof import("pdfjs-dist"), pdf: PDFDocumentProxy, fetchAll: boolean, queue: Queue): Promise<void> {
  const number = find<HTMLInputElement>("number");
  const announce = find("announce");
  let announced = 0;
  let timer = 0;
  let rail: Rail | null = null;
  const visits = new Visits({ now: () => performance.now(), wall: () => Date.now() }, (visit) => {
    const seen = { page: visit.page, duration_ms: visit.durationMs };
    queue.add({ event_type: "page_viewed", event_data: touched ? seen : { ...seen, input: 0 } }, visit.startedAt);
  });
  const changed = (page: number | null) => {
    visits.see(page);
    if (page === null) return;
    if (document.activeElement !== number) number.value = String(page);
    find<HTMLButtonElement>("previous").disabled = page === 1;
    find<HTMLButtonElement>("next").disabled = page === pdf.numPages;
    find("zoom-level").textContent = `${Math.round(reader.level * 100)}%`;
    find("zoom-level").setAttribute("aria-label", say("zoom", { n: Math.round(reader.level * 100) }));
    rail?.mark(page);
    progress();
    if (page !== announced) {
      announced = page;
      clearTimeout(timer);
      timer = window.setTimeout(() => (announce.textContent = say("place", { n: page, total: pdf.numPages })), 600);
    }
    clearTimeout(saving);
    saving = window.setTimeout(() => keep({ page, top: reader.place(), zoom: String(reader.zoom) }), 400);
  };
  let saving = 0;
  const reader = new Reader(pdfjs, pdf, root, bar, fetchAll, changed, report);
  find("count").textContent = String(pdf.numPages);
  const before = stored();
  if (before.zoom) reader.zoom = before.zoom === "auto" || before.zoom === "width" || before.zoom === "page" ? before.zoom : Number(before.zoom) || "auto";
  if (!await reader.begin(find("first"))) return unreadable();

  rail = new Rail(find("rail"), find("thumbnails"), find("rail-toggle"), reader, (page) => reader.go(page));
  rail.refresh();
  addEventListener("resize", () => rail?.refresh());
  const asked = Number(/page=(\d+)/.exec(location.hash)?.[1] ?? 0);
  if (before.page && before.top) reader.restore(before.page, before.top);
  else if (asked) reader.go(asked);
  else reader.look();
  reader.writeAll();

  watch(visits, queue);
  steer(reader, rail, new Search(pdf, reader, find));
  void outline(pdf, find("contents"), (dest) => {
    rail!.done();
    void reader.follow({ dest });
  }).then((there) => {
    find("rail-tabs").hidden = find("menu-contents").hidden = !there;
  });
  const end = document.getElementById("end");
  if (end) {
    end.hidden = false;
    document.getElementById("again")?.addEventListener("click", () => reader.go(1));
    document.getElementById("end-download")?.addEventListener("click", () => find("download").click());
  }
  document.documentElement.dataset.ready = "";
}

/** Shows how far the reader is. */
function progress(): void {
  const way = root.offsetTop + root.offsetHeight - innerHeight;
  find("progress").style.transform = `scaleX(${way > 0 ? Math.min(1, Math.max(0, scrollY / way)).toFixed(4) : 1})`;
}

/** Tells the visits who is there, and the queue when to leave. */
function watch(visits: Visits, queue: Queue): void {
  const visible = () => {
    const shown = document.visibilityState === "visible";
    visits.show(shown);
    if (!shown) queue.hide();
    else queue.flush();
  };
  document.addEventListener("visibilitychange", visible);
  addEventListener("pagehide", () => {
    visits.show(false);
    queue.hide();
  });
  addEventListener("pageshow", visible);
  addEventListener("online", () => queue.online());
  for (const kind of ["pointerdown", "pointermove", "keydown", "wheel", "scroll", "touchstart"]) {
    addEventListener(kind, (event) => {
      touched ||= event.isTrusted && kind !== "scroll"; // a script scrolls as well
      visits.input();
    }, { passive: true, capture: true });
  }
  visible();
}

function steer(reader: Reader, rail: Rail, search: Search): void {
  const on = (id: string, run: () => void) => find(id).addEventListener("click", run);
  const turn = (by: number) => reader.go(reader.current + by);
  const other = (): Zoom => (reader.zoom === "width" ? "page" : "width");
  const paper = () => void print(reader.pages, find("paper"), notice);
  const full = () => void (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen?.())?.catch(() => undefined);
  const panel = (what: string) => {
    rail.choose(what);
    rail.show(true);
  };
  const keys = find<HTMLDialogElement>("keys");
  const menu = find<HTMLDialogElement>("menu");
  on("previous", () => turn(-1));
  on("next", () => turn(1));
  on("zoom-in", () => reader.bigger(1));
  on("zoom-out", () => reader.bigger(-1));
  on("zoom-level", () => reader.resize(other()));
  on("find", () => search.open());
  const paint = () => {
    darken(!isDark());
    reader.look();
  };
  on("dark", paint);
  document.getElementById("print")?.addEventListener("click", paper);
  on("full", full);
  on("help", () => keys.showModal());
  on("more", () => menu.showModal());
  find("full").hidden = !document.fullscreenEnabled;
  for (const dialog of [keys, menu]) {
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close()); // beside it
  }
  menu.addEventListener("close", () => {
    const chosen: Record<string, () => void> = {
      search: () => search.open(), pages: () => panel("pages"), contents: () => panel("contents"), fit: () => reader.resize("width"),
      dark: paint, print: paper,
    };
    chosen[menu.returnValue]?.();
    menu.returnValue = "";
  });
  const number = find<HTMLInputElement>("number");
  reader.actions.Find = () => search.open();
  reader.actions.GoToPage = () => number.focus();
  number.addEventListener("change", () => {
    const page = Number.parseInt(number.value, 10);
    if (page > 0) reader.go(page);
    number.value = String(reader.current);
  });
  number.addEventListener("keydown", (event) => event.key === "Enter" && number.blur());
  number.addEventListener("focus", () => number.select());

  addEventListener("keydown", (event) => {
    const control = event.ctrlKey || event.metaKey;
    const typing = event.target instanceof HTMLInputElement || document.querySelector("dialog[open]");
    if (control && event.key.toLowerCase() === "p") {
      event.preventDefault();
      if (session.download) paper();
      return;
    }
    const asked = control && event.key.toLowerCase() === "f" && !event.shiftKey && !event.altKey;
    if (asked && !search.typing && !document.querySelector("dialog[open]")) { // once more, and it is the browser's own search
      event.preventDefault();
      search.open();
      return;
    }
    if (search.shown && (event.key === "F3" || (control && event.key.toLowerCase() === "g"))) {
      event.preventDefault();
      search.step(event.shiftKey ? -1 : 1);
      return;
    }
    if (control && (event.key === "+" || event.key === "=" || event.key === "-")) return; // the browser's own zoom
    if (typing || control || event.altKey) return;
    const below = reader.pages[reader.current - 1]!.element.getBoundingClientRect();
    const run: Record<string, (() => void) | undefined> = {
      ArrowLeft: sideways() ? undefined : () => turn(-1),
      ArrowRight: sideways() ? undefined : () => turn(1),
      PageUp: below.top < bar.offsetHeight - 8 ? undefined : () => turn(-1),
      PageDown: below.bottom > innerHeight + 8 ? undefined : () => turn(1),
      Home: () => reader.go(1),
      End: () => reader.go(reader.pages.length),
      "+": () => reader.bigger(1),
      "=": () => reader.bigger(1),
      "-": () => reader.bigger(-1),
      "0": () => reader.resize(other()),
      "/": () => search.open(),
      d: paint,
      f: full,
      t: () => rail.show(!rail.shown),
      Escape: search.shown ? () => search.close() : matchMedia("(min-width: 1100px)").matches || !rail.shown ? undefined : () => rail.show(false),
      "?": () => keys.showModal(),
    };
    const action = run[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  // Ctrl and the wheel, which is also what a touchpad sends for a pinch. A pinch of fingers is the
  // browser's own; the pages are drawn again for it.
  let turned = 0;
  addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    turned += event.deltaY;
    const page = reader.pages[reader.current - 1]!;
    const now = page.scale / scaleOf(1, page.size, reader.area);
    if (Math.abs(turned) < 4) return;
    const by = Math.exp(-Math.max(-60, Math.min(60, turned)) / 200);
    turned = 0;
    reader.resize(within(now * by, now), event.clientX, event.clientY);
  }, { passive: false });
  hideBar(reader);
}

const searching = () => "search" in document.documentElement.dataset;

/** Shows light pages with dark paper, or as they are; remembered like the place, for as long as the tab has the document. */
function darken(yes: boolean): void {
  document.documentElement.toggleAttribute("data-dark", yes);
  for (const id of ["dark", "menu-dark"]) find(id).setAttribute("aria-pressed", String(yes));
  keep({ dark: yes });
}

/** Whether the page is wider than the window, so that arrows should move it. */
function sideways(): boolean {
  return document.documentElement.scrollWidth > document.documentElement.clientWidth + 4;
}

/** On phones the bar goes while someone reads on, and comes back with a move up, or a tap. */
function hideBar(reader: Reader): void {
  const small = matchMedia("(max-width: 767px)");
  let last = scrollY;
  let turned = scrollY;
  addEventListener("scroll", () => {
    const y = Math.max(0, scrollY);
    if (Math.sign(y - last) !== Math.sign(last - turned)) turned = last;
    const away = y - turned;
    if (!small.matches || y < 80 || away < -24) bar.classList.remove("away");
    else if (away > 32 && !bar.contains(document.activeElement) && !searching()) bar.classList.add("away");
    last = y;
  }, { passive: true });
  bar.addEventListener("focusin", () => bar.classList.remove("away"));
  root.addEventListener("click", (event) => {
    if (!small.matches || (event.target as HTMLElement).closest("a, button") || !(getSelection()?.isCollapsed ?? true)) return;
    bar.classList.toggle("away", !bar.classList.contains("away") && scrollY > 80 && !searching());
  });
  bar.addEventListener("transitionend", () => reader.look());
}

void begin();
