import type { PDFPageProxy } from "pdfjs-dist";

/** Roles of PDF's tags for screen readers; other tags are represented by their content. */
const ROLES: Record<string, string> = {
  H: "heading", H1: "heading", H2: "heading", H3: "heading", H4: "heading", H5: "heading", H6: "heading", Title: "heading",
  L: "list", LI: "listitem", Table: "table", TR: "row", TH: "columnheader", TD: "cell", Figure: "img", Formula: "math",
  BlockQuote: "blockquote", Note: "note",
};

interface Node {
  role?: string;
  alt?: string;
  lang?: string;
  type?: string;
  id?: string;
  children?: Node[];
}

/**
 * Returns elements that give the text of a tagged page its meaning: headings, lists, tables and what
 * pictures show. They own the pieces of the text layer, which lie in the order of drawing.
 */
export async function structure(page: PDFPageProxy, text: HTMLElement, number: number): Promise<HTMLElement | null> {
  const tree = (await page.getStructTree()) as Node | null;
  if (!tree?.children?.length) return null;
  const root = document.createElement("div");
  root.className = "structure";
  const prefix = `p${number}-`;
  const pieces = new Map<string, HTMLElement>();
  for (const piece of text.querySelectorAll<HTMLElement>(".markedContent[id]")) {
    const id = piece.id;
    piece.id = prefix + id; // ids are the page's own, and must be the document's
    pieces.set(id, piece);
  }
  for (const child of tree.children) append(root, child, pieces);
  return root.childElementCount > 0 ? root : null;
}

function append(parent: HTMLElement, node: Node, pieces: Map<string, HTMLElement>): void {
  if (node.type === "content") {
    const piece = node.id === undefined ? undefined : pieces.get(node.id);
    if (piece && piece.textContent) {
      const owned = parent.getAttribute("aria-owns");
      parent.setAttribute("aria-owns", owned ? `${owned} ${piece.id}` : piece.id);
    }
    return;
  }
  const role = node.role === undefined ? undefined : ROLES[node.role];
  const alt = node.alt?.trim();
  if ((role === "img" || role === "math") && !alt) return; // it has no text alternative
  let element = parent;
  if (role) {
    element = document.createElement("span");
    element.setAttribute("role", role);
    const level = /^H([1-6])$/.exec(node.role!)?.[1];
    if (role === "heading") element.setAttribute("aria-level", String(Math.min(6, 1 + Number(level ?? 1)))); // the page's own heading is above
    if (alt) element.setAttribute("aria-label", alt);
    if (node.lang) element.lang = node.lang;
  }
  if (role !== "img") for (const child of node.children ?? []) append(element, child, pieces);
  if (element !== parent && (alt || element.childElementCount > 0 || element.hasAttribute("aria-owns"))) parent.append(element);
}
