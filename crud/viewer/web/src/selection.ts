// Where a selection by mouse or finger ends. The spans of a text layer lie apart, so a pointer
// between them is nowhere in the text, and browsers select up to the end of the page. An element
// behind the text, which takes the pointer there, moves to the end of the selection, and bounds it.
// After TextLayerBuilder of pdf.js (Apache 2.0, Copyright Mozilla Foundation).

const ends = new Map<HTMLElement, HTMLElement>(); // by text layer
let listening = false;

/** Lets selections in a text layer end at the line that they were drawn to. */
export function boundSelection(layer: HTMLElement): void {
  const end = document.createElement("div");
  end.className = "end-of-text";
  layer.append(end);
  layer.addEventListener("mousedown", () => layer.classList.add("selecting"));
  ends.set(layer, end);
  if (!listening) listen();
  listening = true;
}

function release(end: HTMLElement, layer: HTMLElement): void {
  if (layer.lastElementChild !== end) layer.append(end);
  layer.classList.remove("selecting");
  end.style.userSelect = "";
}

const releaseAll = () => ends.forEach(release);

function listen(): void {
  let down = false;
  let before: Range | undefined;
  document.addEventListener("pointerdown", () => (down = true));
  document.addEventListener("pointerup", () => {
    down = false;
    releaseAll();
  });
  addEventListener("blur", () => {
    down = false;
    releaseAll();
  });
  document.addEventListener("keyup", () => down || releaseAll());
  document.addEventListener("selectionchange", () => {
    const selection = getSelection();
    if (!selection || selection.rangeCount === 0) return releaseAll();
    const range = selection.getRangeAt(0);
    for (const [layer, end] of ends) {
      if ((down || !range.collapsed) && range.intersectsNode(layer)) layer.classList.add("selecting");
      else release(end, layer);
    }
    if (needsBound()) bound(range, before);
    before = range.cloneRange();
  });
}

/**
 * Whether the browser goes on to the end of the layer where the pointer is over what cannot be
 * selected. Firefox and newer Chromium do not.
 */
function needsBound(): boolean {
  return !CSS.supports("-moz-user-select", "none") && !(Number(/\bChrome\/(\d+)\b/.exec(navigator.userAgent)?.[1] ?? 0) >= 148);
}

/** Moves the end of a layer behind, or before, the piece of text at which a selection changes. */
function bound(range: Range, before: Range | undefined): void {
  const startMoves = before !== undefined
    && (range.compareBoundaryPoints(Range.END_TO_END, before) === 0 || range.compareBoundaryPoints(Range.START_TO_END, before) === 0);
  let piece: Node | null = startMoves ? range.startContainer : range.endContainer;
  if (piece.nodeType === Node.TEXT_NODE) piece = piece.parentNode;
  if (!startMoves && range.endOffset === 0) piece = previousWithText(piece);
  const layer = piece?.parentElement?.closest<HTMLElement>(".textLayer");
  const end = layer && ends.get(layer);
  if (!piece || !end || piece === end) return;
  end.style.userSelect = "text";
  piece.parentElement!.insertBefore(end, startMoves ? piece : piece.nextSibling);
}

/** Returns the last node before a node that has something in it. */
function previousWithText(node: Node | null): Node | null {
  while (node) {
    while (node && !node.previousSibling) node = node.parentNode;
    node = node?.previousSibling ?? null;
    if (node && node.childNodes.length > 0) return node;
  }
  return null;
}
