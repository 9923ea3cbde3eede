// The stream of events of the API. It goes on behind the last event after a lost connection, and ends with the screen. An event may come twice.

/** Source is what of an EventSource is used. */
export interface Source {
  readyState: number;
  onopen: ((e: Event) => void) | null;
  onerror: ((e: Event) => void) | null;
  addEventListener(type: string, listener: (e: MessageEvent<string>) => void): void;
  close(): void;
}

const closed = 2; // EventSource.CLOSED
const first = 5_000; // ms until a refused connection is tried again; twice as long each time
const longest = 60_000;

/** Stream follows events of one type. */
export class Stream {
  private source: Source | undefined;
  private last = ""; // id of the last event
  private retry: ReturnType<typeof setTimeout> | undefined;
  private pause = first;

  /** got gets the data of each event. connected is called when the connection is there or lost: events may be missing after that. */
  constructor(
    private url: string,
    private on: { type: string; got(data: string): void; connected(yes: boolean): void },
    private make: (url: string) => Source = (u) => new EventSource(u),
  ) {}

  /** open connects, if it is not. */
  open(): void {
    if (this.source) return;
    clearTimeout(this.retry);
    const url = this.last ? `${this.url}${this.url.includes("?") ? "&" : "?"}last_event_id=${encodeURIComponent(this.last)}` : this.url;
    const source = this.make(url);
    this.source = source;
    source.addEventListener(this.on.type, (e) => {
      this.last = e.lastEventId;
      this.on.got(e.data);
    });
    source.onopen = () => {
      this.pause = first;
      this.on.connected(true);
    };
    source.onerror = () => {
      this.on.connected(false);
      if (source.readyState !== closed) return; // the browser connects again, and says where it was
      this.close();
      this.last = ""; // it may be what was refused
      this.retry = setTimeout(() => this.open(), this.pause);
      this.pause = Math.min(this.pause * 2, longest);
    };
  }

  /** close ends the connection and everything that waits. open goes on behind the last event. */
  close(): void {
    clearTimeout(this.retry);
    this.source?.close();
    this.source = undefined;
  }
}
