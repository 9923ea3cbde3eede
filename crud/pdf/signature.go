package pdf

import (
	"bytes"
	"net/http"
	"os"
	"strings"
)

// signature is how a PDF begins. Readers also accept one that comes later, within the first 1024
// bytes; but what comes before it can be a script, which a browser or a system then takes the file
// for.
const signature = "%PDF-"

// foreign returns what is wrong with a file that does not begin as a PDF does, and what to do, and
// else "".
func foreign(file *os.File) string {
	head := make([]byte, 1024)
	n, _ := file.ReadAt(head, 0) // a file that cannot be read has no beginning
	head = head[:n]
	kind := http.DetectContentType(head)
	switch {
	case bytes.HasPrefix(head, []byte(signature)):
		return ""
	case bytes.Contains(head, []byte(signature)):
		return "has other bytes before its beginning: open it, save it as PDF again, and send that file"
	case kind == "application/zip":
		return "is not a PDF but an archive or a document of an office program: export the document as PDF, and send that file"
	case bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")): // the container of Word, PowerPoint and Excel until 2007
		return "is not a PDF but a document of an office program: export it as PDF, and send that file"
	case strings.HasPrefix(kind, "image/"):
		return "is not a PDF but a picture: save it as PDF, and send that file"
	case strings.HasPrefix(kind, "text/"):
		return "is not a PDF but text or a web page: print it as PDF, and send that file"
	default:
		return "is not a PDF: export or print the document as PDF, and send that file"
	}
}
