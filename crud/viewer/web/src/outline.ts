import type { PDFDocumentProxy } from "pdfjs-dist";

type Entry = Awaited<ReturnType<PDFDocumentProxy["getOutline"]>>[number];

/** Entries beyond this are left out. */
const MAX_ENTRIES = 500;
const MAX_LEVEL = 3;

/** Fills a list with a document's table of contents, and returns whether there is one. chosen gets the destination of an entry. */
export async function outline(pdf: PDFDocumentProxy, list: HTMLElement, chosen: (dest: unknown) => void): Promise<boolean> {
  let entries: Entry[];
  try {
    entries = (await pdf.getOutline()) ?? [];
  } catch {
    return false; // a document without a table of contents is still a document
  }
  // The only entry of the first level is the document itself.
  if (entries.length === 1 && (entries[0]!.items as Entry[]).length > 0) entries = entries[0]!.items as Entry[];
  let left = MAX_ENTRIES;
  const add = (parent: HTMLElement, of: Entry[], level: number) => {
    for (const entry of of) {
      const title = entry.title.replace(/\s+/g, " ").trim();
      if (!title || left-- <= 0) continue;
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = title;
      button.disabled = !entry.dest;
      button.addEventListener("click", () => chosen(entry.dest));
      item.append(button);
      const children = entry.items as Entry[];
      if (children.length > 0 && level < MAX_LEVEL) {
        const sublist = document.createElement("ol");
        add(sublist, children, level + 1);
        item.append(sublist);
      }
      parent.append(item);
    }
  };
  add(list, entries, 1);
  return list.childElementCount > 1;
}
