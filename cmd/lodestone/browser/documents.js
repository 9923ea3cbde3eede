// Documents of the kinds that people upload, as small as a kind can be.
import { deflateSync } from 'node:zlib';

const latin = (text) => Buffer.from(text, 'latin1');

/**
 * Returns the bytes of a PDF of objects, of which the first is its catalogue; null leaves an object
 * out of the file.
 */
export function assemble(objects) {
  const parts = [latin('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n')];
  let size = parts[0].length;
  const add = (part) => {
    const bytes = Buffer.isBuffer(part) ? part : latin(part);
    parts.push(bytes);
    size += bytes.length;
  };
  const rows = objects.map((body, i) => {
    if (body === null) return '0000000000 00001 f \n';
    const row = `${String(size).padStart(10, '0')} 00000 n \n`;
    add(`${i + 1} 0 obj\n`);
    add(body);
    add('\nendobj\n');
    return row;
  });
  const start = size;
  add(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows.join('')}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`);
  return new Uint8Array(Buffer.concat(parts));
}

/** Returns an object with a stream. */
export function stream(content, entries = '') {
  const bytes = Buffer.isBuffer(content) ? content : latin(content);
  return Buffer.concat([latin(`<< /Length ${bytes.length} ${entries} >>\nstream\n`), bytes, latin('\nendstream')]);
}

/**
 * Fonts that are not embedded: objects 3 to 5 of every document. Object 1 is its catalogue, 2 its
 * pages.
 */
const fonts = ['Helvetica', 'Times-Roman', 'Courier-Bold'];

/**
 * Returns a document of pages.
 * @param {{size?: [number, number], content?: string, entries?: string, fonts?: string}[]} pages size in points, operators of the page, and
 *   further entries of its dictionary
 *   and of its fonts
 * @param {object} [o]
 * @param {(string | Buffer)[]} [o.objects] further objects; the first has the number that `objectBehind` returns for 0
 * @param {string} [o.catalogue] further entries of the catalogue
 * @param {number} [o.padding] further bytes on each page, so that the document comes in parts
 * @param {(objects: (string | Buffer | null)[]) => void} [o.damage] changes objects; the first page is objects[5]
 */
export function document(pages, { objects: further = [], catalogue = '', padding = 0, damage } = {}) {
  const first = 3 + fonts.length; // number of the first page
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R ${catalogue} >>`,
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, i) => `${first + i} 0 R`).join(' ')}] >>`,
    ...fonts.map((name) => `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`),
  ];
  for (const [i, { size: [width, height] = [595, 842], entries = '', fonts: more = '' }] of pages.entries()) {
    objects.push(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents ${first + pages.length + i} 0 R`
      + ` /Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R ${more} >> >> ${entries} >>`);
  }
  for (const { content = '' } of pages) objects.push(stream(`${content}\n${padding ? `%${'x'.repeat(padding)}\n` : ''}`));
  objects.push(...further);
  damage?.(objects);
  return assemble(objects);
}

/** Returns the number of a page, or of the object behind the pages and what is on them, from 0. */
export const pageObject = (n) => 2 + fonts.length + n;
export const objectBehind = (pages, i) => 3 + fonts.length + 2 * pages + i;

/** Operators for a page that differs from others, in its picture and its text. */
export function marked(n, [width, height] = [595, 842], words = `Page ${n}`) {
  const size = Math.min(width, height) / 8;
  return `0.${(n * 3) % 10} 0.${(n * 7) % 10} 0.${9 - (n % 8)} rg ${width * 0.1} ${height * (0.1 + 0.05 * (n % 5))} ${width * 0.5} ${height * 0.3} re f`
    + ` 0 g BT /F1 ${size} Tf ${width * 0.1} ${height * 0.75} Td (${words}) Tj ET`;
}

/** Returns a document of pages of these sizes. */
export const sized = (sizes, o) => document(sizes.map((size, i) => ({ size, content: marked(i + 1, size) })), o);

/**
 * Returns the entries and the objects of a picture of black bands, one bit a pixel, as a scanner
 * makes it.
 */
export function scan(pixels, lines) {
  const row = Math.ceil(pixels / 8);
  const bits = Buffer.alloc(row * lines, 0xff);
  for (let y = 0; y < lines; y++) if (Math.floor((y * 12) / lines) % 2 === 1) bits.fill(0, y * row + (row >> 3), y * row + row - (row >> 2));
  return stream(deflateSync(bits), `/Type /XObject /Subtype /Image /Width ${pixels} /Height ${lines} /BitsPerComponent 1 /ColorSpace /DeviceGray /Filter /FlateDecode`);
}

/**
 * Returns objects of a font of Chinese, Japanese or Korean that is not embedded; the first of them
 * has a number.
 */
export function distantFont(number, name, encoding, ordering) {
  return [
    `<< /Type /Font /Subtype /Type0 /BaseFont /${name} /Encoding /${encoding} /DescendantFonts [${number + 1} 0 R] >>`,
    `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /${name} /CIDSystemInfo << /Registry (Adobe) /Ordering (${ordering}) /Supplement 2 >> /DW 1000 /FontDescriptor ${number + 2} 0 R >>`,
    `<< /Type /FontDescriptor /FontName /${name} /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 700 /StemV 80 >>`,
  ];
}

const lines = (font) => Array.from({ length: 20 }, (_, i) => `BT /${font} 24 Tf 50 ${780 - i * 37} Td (The quick brown fox jumps over WAVE.) Tj ET`).join('\n');

/** One page of each kind that readers show in different ways, if they show it at all. */
export function gallery() {
  const kinds = (at) => [
    { content: lines('F1') }, { content: lines('F2') }, { content: lines('F3') }, // fonts that no reader has to be sent
    { content: lines('C1'), fonts: `/C1 ${at} 0 R` }, // a font that the reader lacks
    { content: 'BT /C2 90 Tf 60 500 Td <041604140042> Tj ET', fonts: `/C2 ${at + 2} 0 R` }, // an encoding of which the reader needs the table
    { content: '0 0 1 RG 8 w 40 40 515 762 re S', entries: `/Annots [${at + 5} 0 R ${at + 6} 0 R]` }, // fields, filled in
    { content: marked(4, [612, 792]), size: [612, 792], entries: '/Rotate 90 /CropBox [50 100 500 700]' },
    { content: marked(5), entries: '/CropBox [-80 90 512 750] /MediaBox [-100 0 595 842]' },
    { content: marked(6, [7200, 5000]), size: [7200, 5000], entries: '/UserUnit 2.5' },
    { content: 'q 842 0 0 1191 0 0 cm /Im Do Q', size: [842, 1191], fonts: `>> /XObject << /Im ${at + 8} 0 R` }, // A3 at 600 dots an inch
  ];
  const count = kinds(0).length, at = objectBehind(count, 0);
  const field = (rect, value, entries = '') => `<< /Type /Annot /Subtype /Widget /FT /Tx /T (${value}) /V (${value}) /DA (/Helv 30 Tf 0 g) /F 4 /Rect [${rect}] ${entries} >>`;
  return document(kinds(at), {
    catalogue: `/AcroForm << /Fields [${at + 5} 0 R ${at + 6} 0 R] /NeedAppearances true /DA (/Helv 30 Tf 0 g) /DR << /Font << /Helv 3 0 R >> >> >>`,
    objects: [
      `<< /Type /Font /Subtype /TrueType /BaseFont /Calibri /Encoding /WinAnsiEncoding /FirstChar 32 /LastChar 126 /Widths [${Array(95).fill(500).join(' ')}] /FontDescriptor ${at + 1} 0 R >>`,
      '<< /Type /FontDescriptor /FontName /Calibri /Flags 32 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 700 /StemV 80 >>',
      ...distantFont(at + 2, 'STSong-Light', 'UniGB-UCS2-H', 'GB1'),
      field('60 500 540 650', 'Ada Lovelace', `/AP << /N ${at + 7} 0 R >>`), field('60 200 540 350', 'Without an appearance'),
      stream('0.8 0.9 1 rg 0 0 480 150 re f 0 g BT /Helv 30 Tf 2 65 Td (Ada Lovelace) Tj ET', '/Type /XObject /Subtype /Form /BBox [0 0 480 150] /Resources << /Font << /Helv 3 0 R >> >>'),
      scan(7016, 9921),
    ],
  });
}
