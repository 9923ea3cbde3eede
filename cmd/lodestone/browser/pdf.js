// PDFs as tests need them, written by hand so that a test can put anything into one.

/**
 * Returns a PDF with a line of text on each page.
 * @param {object} [o]
 * @param {number} [o.pages]
 * @param {string} [o.title] of the document
 * @param {string} [o.author] of the document
 * @param {string[]} [o.outline] chapters, each of the page of its place
 * @param {(page: number) => string} [o.text] printable ASCII
 * @param {string} [o.script] JavaScript that runs when the document opens, in a reader that runs any
 * @param {string} [o.link] address that the first page links to
 * @param {number} [o.padding] further bytes on each page
 * @param {[number, number]} [o.size] of each page, in points
 * @param {string} [o.fill] operators before the text of each page
 */
export function pdf({ pages = 1, title = 'Test', author, outline = [], text = (n) => `This is page ${n} of ${pages}.`, script, link, padding = 0, size = [595, 842], fill = '' } = {}) {
  const objects = []; // object n is objects[n - 1]
  const add = (body) => objects.push(body);
  const string = (s) => `(${s.replace(/[\\()]/g, '\\$&')})`;
  add(''); // catalogue
  add(''); // pages
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
  add(`<< /Title ${string(title)}${author ? ` /Author ${string(author)}` : ''} >>`);
  // Pages first, then what is on them, so that a reader finds all pages in one part of the file.
  const firstPage = objects.length + 1;
  const kids = [];
  for (let n = 1; n <= pages; n++) {
    const annotation = link && n === 1
      ? ` /Annots [<< /Type /Annot /Subtype /Link /Rect [50 650 400 740] /Border [0 0 0] /A << /S /URI /URI ${string(link)} >> >>]` : '';
    kids.push(`${add(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${size[0]} ${size[1]}] /Contents ${firstPage + pages + n - 1} 0 R`
      + ` /Resources << /Font << /F1 3 0 R >> >>${annotation} >>`)} 0 R`);
  }
  for (let n = 1; n <= pages; n++) {
    const content = `${fill} BT /F1 28 Tf 60 ${Math.round(size[1] * 0.83)} Td ${string(text(n))} Tj ET\n${padding ? `%${'x'.repeat(padding)}\n` : ''}`;
    add(`<< /Length ${content.length} >>\nstream\n${content}endstream`);
  }
  // The root of the outline, and then its chapters.
  const root = objects.length + 1, chapter = (i) => `${root + 1 + i} 0 R`;
  if (outline.length) add(`<< /Type /Outlines /First ${chapter(0)} /Last ${chapter(outline.length - 1)} /Count ${outline.length} >>`);
  for (const [i, words] of outline.entries()) {
    add(`<< /Title ${string(words)} /Parent ${root} 0 R /Dest [${firstPage + i} 0 R /Fit]${i ? ` /Prev ${chapter(i - 1)}` : ''}${i < outline.length - 1 ? ` /Next ${chapter(i + 1)}` : ''} >>`);
  }
  const contents = outline.length ? ` /Outlines ${root} 0 R` : '';
  const action = script ? ` /OpenAction << /S /JavaScript /JS ${string(script)} >>`
    + ` /Names << /JavaScript << /Names [(a) << /S /JavaScript /JS ${string(script)} >>] >> >>` : '';
  objects[0] = `<< /Type /Catalog /Pages 2 0 R /Lang (en)${contents}${action} >>`;
  objects[1] = `<< /Type /Pages /Count ${pages} /Kids [${kids.join(' ')}] >>`;
  let out = '%PDF-1.7\n';
  const offsets = objects.map((body, i) => {
    const at = out.length;
    out += `${i + 1} 0 obj\n${body}\nendobj\n`;
    return at;
  });
  const start = out.length;
  out += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`
    + offsets.map((o) => `${String(o).padStart(10, '0')} 00000 n \n`).join('')
    + `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info 4 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return new TextEncoder().encode(out);
}
