// Counts views of the page that this script stands on:
//
//   <script async src="https://collector.example/v1/beacon.js" data-token="TOKEN"></script>
//
// The collector has it under the names beacon.js and lodestone.js. It stores nothing, sets nothing on the page, and sends nothing if the
// visitor's browser asks for privacy (Global Privacy Control, Do Not Track). No error of it reaches the page.

// A module or an optimiser of scripts leaves no trace of which tag is running.
const tag = (document.currentScript ?? document.querySelector("script[src][data-token]")) as HTMLScriptElement | null;

/** Strips an address: no query except the campaign's, no fragment. They may contain secrets. */
function bare(address: string): string {
  try {
    const url = new URL(address);
    const campaign = new URLSearchParams();
    url.searchParams.forEach((value, name) => {
      if (/^utm_(source|medium|campaign|term|content)$/.test(name)) campaign.append(name, value);
    });
    // An app has no origin; a file, which has none either, says where it lies.
    const page = url.protocol == "android-app:" ? address.replace(/[?#].*/, "") : url.origin == "null" ? "" : url.origin + url.pathname;
    return page + (page && `${campaign}` && `?${campaign}`);
  } catch {
    return "";
  }
}

function send(body: string, wait: number): void {
  fetch(new URL("link-views", tag!.src), {
    method: "POST",
    body, // text, which needs no permission asked for in advance
    keepalive: true, // the page may be left now
    credentials: "omit",
    referrerPolicy: "no-referrer",
  }).then((answer) => {
    if (answer.status == 429 || answer.status >= 500) throw 0;
  }).catch(() => {
    // The event id stays the same: if only the answer got lost, nothing is counted twice.
    if (wait < 2e5) setTimeout(send, wait, body, wait * 6);
  });
}

const privacy = navigator as { globalPrivacyControl?: boolean; doNotTrack?: string | null };

let counted = ""; // the page whose view was sent last
let from = document.referrer;

/** Sends a view unless that of this page is sent. Any event may call it. */
function look(): void {
  const page = location.origin + location.pathname;
  const token = tag!.dataset.token;
  if (
    page == counted ||
    document.visibilityState == "hidden" || // in the background, or prerendered: not seen yet
    privacy.globalPrivacyControl || privacy.doNotTrack == "1" ||
    // An application took the tag away, or has two of them: the first one counts.
    document.querySelector(`script[data-token="${token}"]`) != tag
  ) return;
  const referrer = bare(from);
  counted = from = page;
  // crypto.randomUUID exists on https only.
  const event_id = "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (digit) =>
    (+digit ^ (crypto.getRandomValues(new Uint8Array(1))[0]! & (15 >> (+digit / 4)))).toString(16));
  send(JSON.stringify({ token, event_id, referrer, url: bare(location.href) }), 5e3);
}

if (tag) {
  look();
  addEventListener("visibilitychange", look, true);
  addEventListener("popstate", look);
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    counted = from = ""; // the visitor came back to a page from the browser's cache
    look();
  });
  const navigation = (window as { navigation?: EventTarget }).navigation;
  if (navigation) {
    navigation.addEventListener("currententrychange", look);
  } else {
    for (const name of ["pushState", "replaceState"] as const) {
      const original = history[name];
      history[name] = function (...args) {
        original.apply(this, args);
        look();
      };
    }
  }
}
