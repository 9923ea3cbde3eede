// One chart to explore, over the picture that the server drew: zoom by dragging, by keys and by buttons. Its numbers are those of the table.
import uPlot from "uplot";

import { step } from "./nearest.ts";
import { closer, days, including, within, type Range } from "./range.ts";
import { adopt } from "./style.ts";
import { label, rows, values } from "./table.ts";
import { say, word } from "./words.ts";

const css = `.uplot,.uplot *{box-sizing:border-box}.u-wrap{position:relative;user-select:none}.u-over,.u-under,.u-axis,.u-select,.u-cursor-x,.u-cursor-pt{position:absolute}
.u-under{overflow:hidden}.uplot canvas{display:block;width:100%;height:100%}.u-select{background:var(--accent);opacity:.15}.u-select,.u-cursor-x,.u-cursor-pt{pointer-events:none}
.u-cursor-x,.u-cursor-pt{left:0;top:0}.u-cursor-x{height:100%;border-right:1px dashed var(--soft)}.u-cursor-pt{border-radius:50%;background-clip:padding-box!important}.u-off{display:none}
.explore{position:relative;z-index:1;background:var(--ground)}.explore p{display:flex;flex-wrap:wrap;align-items:center;gap:0 var(--s16);margin:0}
.explore span{flex:1 1 100%;display:flex;flex-wrap:wrap;gap:0 var(--s12)}.explore b{font-weight:550;color:var(--soft)}
.explore .now{color:var(--accent)}.explore .second{color:var(--ink)}
.explore :is(button,a){min-width:24px;min-height:var(--touch);display:inline-flex;align-items:center;justify-content:center}
.explore [hidden]{display:none}.explore [aria-disabled=true]{opacity:.5}.explore~.explore-this,.chart:has(>.explore)>.at{display:none}
@media print{.explore{display:none}}`;
let adopted = false;

/** start draws the chart in an element beside the picture, and returns what ends it. */
export function start(root: HTMLElement): () => void {
  const figure = root.parentElement as HTMLElement;
  const picture = figure.querySelector<SVGSVGElement>(":scope > svg");
  const lines = picture ? rows(picture) : [];
  if (!picture || lines.length < 2) return () => {};
  if (!adopted) adopt(css);
  adopted = true;
  const count = lines.length;
  const { kinds = "", step: unit = "", first = "", partial } = picture.dataset;
  const named = (i: number) => label(lines[i] as HTMLTableRowElement);
  const column = (c: number) => lines.map((row) => (row.cells[c]?.dataset.value ? Number(row.cells[c]?.dataset.value) : null));
  const names = kinds.split(" ");
  const sample = lines.map((row) => row.cells[1]?.textContent ?? "").find((s) => /\d/.test(s)) ?? "";

  const box = document.createElement("div");
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", `${picture.querySelector("title")?.textContent ?? ""}. ${word("explore_keys")}`);
  const bar = document.createElement("p");
  bar.className = "small";
  const words = document.createElement("span");
  const button = (name: string, act: () => void, text = name) => {
    const b = document.createElement("button");
    b.type = "button";
    b.className = "link";
    b.textContent = text;
    b.title = name;
    b.setAttribute("aria-label", name);
    b.addEventListener("click", act);
    return b;
  };
  const link = document.createElement("a");
  link.textContent = word("these_days");
  let range: Range = { first: 0, last: count - 1 };
  let at = count - 1;
  let zooming = false;
  const [inward, outward, whole] = [
    button(word("zoom_in"), () => show(closer(range, at, 0.5, count)), "+"),
    button(word("zoom_out"), () => show(closer(range, at, 2, count)), "−"),
    button(word("reset"), () => show({ first: 0, last: count - 1 })),
  ];
  const close = button(word("close"), () => {
    root.remove();
    document.dispatchEvent(new Event("drawn")); // which ends this
    figure.querySelector<HTMLElement>(".explore-this")?.focus();
  });
  bar.append(words, inward, outward, whole, link, close);
  root.append(box, bar);

  const colour = (name: string) => getComputedStyle(root).getPropertyValue(name).trim();
  const tokens = { now: "--accent", before: "--edge", second: "--ink" };
  const token = (kind: string) => tokens[kind as keyof typeof tokens] ?? "--ink";
  const axis = { stroke: () => colour("--soft"), font: `12px ${getComputedStyle(root).fontFamily}`, ticks: { show: false } };
  root.style.marginTop = `-${picture.getBoundingClientRect().height}px`;
  const size = () => ({ width: root.clientWidth, height: picture.getBoundingClientRect().height });
  const plot = new uPlot({
    ...size(),
    legend: { show: false },
    cursor: { y: false, drag: { x: true, y: false, setScale: false } },
    scales: { x: { time: false, range: () => [range.first, range.last] }, y: { range: (_, __, highest) => [0, highest > 0 ? highest * 1.1 : 1] } },
    axes: [
      { ...axis, size: 26, gap: 8, grid: { show: false }, incrs: [1, 2, 5, 7, 10, 14, 20, 50, 100], space: 90, values: (_, splits) => splits.map((i) => (lines[i] ? named(i).split(" · ")[0] ?? "" : "")) },
      { ...axis, size: 52, gap: 8, grid: { stroke: () => colour("--line"), width: 1 }, space: 50, values: (_, splits) => splits.map((v) => written(v, sample)) },
    ],
    series: [{}, ...names.map((kind): uPlot.Series => ({
      stroke: () => colour(token(kind)), width: 2, points: { size: 5, fill: () => colour("--ground") },
      ...(kind === "before" && { dash: [5, 5] }), ...(kind === "now" && { fill: () => `${colour("--accent")}1a` }),
    }))],
    hooks: {
      setCursor: [(u) => {
        if (zooming || u.cursor.idx == null || u.cursor.idx === at) return;
        at = u.cursor.idx;
        tell();
      }],
      setSelect: [(u) => {
        const { left, width } = u.select;
        if (width <= 0) return;
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        show(within(u.posToVal(left, "x"), u.posToVal(left + width, "x"), count));
      }],
    },
  }, [lines.map((_, i) => i), ...names.map((_, i) => column(i + 1))], box);

  /** tell writes the values at the cursor, each in the colour of its line, and returns them. */
  function tell(): string {
    const parts = values(lines[at] as HTMLTableRowElement, picture ?? undefined);
    if (partial && at === count - 1) parts.push(word("partial"));
    words.replaceChildren(...parts.map((part, i) => {
      const b = document.createElement("b");
      b.className = names[i - 1] ?? "";
      b.textContent = part;
      return b;
    }));
    return parts.join(", ");
  }

  const point = () => plot.setCursor({ left: plot.valToPos(at, "x"), top: 0 });

  function show(next: Range): void {
    range = next;
    plot.setScale("x", { min: next.first, max: next.last });
    if (at < next.first || at > next.last) at = next.last;
    zooming = true; // the cursor stays at its interval, not at its place
    queueMicrotask(() => {
      zooming = false;
      point();
    });
    const all = next.first === 0 && next.last === count - 1;
    const chosen = all ? undefined : days(next, unit, first);
    link.hidden = !chosen;
    if (chosen) {
      const to = new URL(location.href);
      to.searchParams.delete("days");
      to.searchParams.set("from", chosen.from);
      to.searchParams.set("to", chosen.to);
      link.href = to.search;
    }
    for (const [b, off] of [[whole, all], [outward, all], [inward, next.last - next.first < 2]] as const) b.setAttribute("aria-disabled", String(off));
    tell();
    say(`${named(next.first)} – ${named(next.last)}`);
  }

  const end = new AbortController();
  box.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const to = step(e.key, at, count);
    if (to !== undefined) {
      at = to;
      if (to < range.first || to > range.last) show(including(range, to, count));
      point();
      say(tell());
    } else if (e.key === "+" || e.key === "=") inward.click();
    else if (e.key === "-") outward.click();
    else if (e.key === "0" || (e.key === "Escape" && whole.getAttribute("aria-disabled") === "false")) whole.click();
    else if (e.key === "Escape") close.click();
    else return;
    e.preventDefault();
  }, { signal: end.signal });
  const resized = new ResizeObserver(() => plot.setSize(size()));
  resized.observe(root);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plot.redraw(false), { signal: end.signal });
  show(range);
  box.focus({ preventScroll: true });
  return () => {
    end.abort();
    resized.disconnect();
    plot.destroy();
  };
}

/** written writes a value of an axis as the table writes that kind: a share, a time, or a number. */
function written(v: number, sample: string): string {
  if (sample.endsWith("%")) return `${Math.round(v * 100)} %`;
  if (/[a-z]$/.test(sample)) return v < 60_000 ? `${v / 1000} s` : v < 3_600_000 ? `${Math.round(v / 60_000)} min` : `${Math.round(v / 3_600_000)} h`;
  return v.toLocaleString(document.documentElement.lang);
}
