package collector

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// checkFraming returns why a request is refused whose end, or a header, another server can see at
// another place, or nil. fasthttp refuses most such requests by itself: two lengths, two codings, a
// space before a colon. It takes those that are looked for here.
func checkFraming(h *fasthttp.RequestHeader) *requestProblem {
	if version := h.Protocol(); !bytes.Equal(version, []byte("HTTP/1.1")) && !bytes.Equal(version, []byte("HTTP/1.0")) {
		return badFraming("This version of HTTP is not supported: use HTTP/1.1.")
	}
	lengths, codings := false, false
	for rest := h.RawHeaders(); len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 1 || rest[end-1] != '\r' {
			return badFraming("A line of the headers must end with a carriage return and a line feed.")
		}
		line := rest[:end-1]
		rest = rest[end+1:]
		if len(line) == 0 {
			continue
		}
		if line[0] == ' ' || line[0] == '\t' {
			return badFraming("A header must not continue in the next line.")
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.IndexByte(name, ' ') >= 0 {
			return badFraming("The name of a header must not have a space.")
		}
		switch len(name) {
		case len(fasthttp.HeaderContentLength):
			lengths = lengths || bytes.EqualFold(name, []byte(fasthttp.HeaderContentLength))
		case len(fasthttp.HeaderTransferEncoding):
			if !bytes.EqualFold(name, []byte(fasthttp.HeaderTransferEncoding)) {
				continue
			}
			codings = true
			if !bytes.EqualFold(bytes.Trim(value, " \t"), []byte("chunked")) {
				return badFraming("The header Transfer-Encoding can be chunked only.")
			}
		}
	}
	if lengths && codings {
		return badFraming("Content-Length and Transfer-Encoding must not be sent together.")
	}
	return nil
}

func badFraming(detail string) *requestProblem {
	return &requestProblem{fasthttp.StatusBadRequest, codeInvalidParameter, detail}
}
