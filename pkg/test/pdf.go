package test

import (
	"bytes"
	"fmt"
)

// PDF returns a PDF with so many pages, each with one line of text that says its number. Padding
// is the length of a comment that makes the file longer.
func PDF(pages, padding int) []byte { return pdfDocument(pages, padding, 792) }

// StripPDF is PDF with pages so low that their pictures take a tenth of the time.
func StripPDF(pages, padding int) []byte { return pdfDocument(pages, padding, 96) }

func pdfDocument(pages, padding, height int) []byte {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"}
	var kids bytes.Buffer
	for n := 1; n <= pages; n++ {
		page := len(objects) + 1
		fmt.Fprintf(&kids, "%d 0 R ", page)
		text := fmt.Sprintf("BT /F1 24 Tf 72 %d Td (Page %d) Tj ET", height-92, n)
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 %d] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>", height, page+1),
			fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(text), text))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", pages, kids.String())
	return AssemblePDF(objects, padding)
}

// AuthoredPDF returns a PDF of one empty page whose metadata has an author, written as a string of
// a PDF.
func AuthoredPDF(author string) []byte {
	file := AssemblePDF([]string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 96] >>", "<< /Author " + author + " >>",
	}, 0)
	return bytes.Replace(file, []byte("/Root 1 0 R >>"), []byte("/Root 1 0 R /Info 4 0 R >>"), 1)
}

// AssemblePDF returns a PDF of the given objects. The first is the catalog.
func AssemblePDF(objects []string, padding int) []byte {
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	if padding > 0 {
		out.WriteString("%" + string(bytes.Repeat([]byte("x"), padding)) + "\n")
	}
	offsets := make([]int, len(objects))
	for i, object := range objects {
		offsets[i] = out.Len()
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return out.Bytes()
}
