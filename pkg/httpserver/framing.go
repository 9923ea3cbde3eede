package httpserver

import (
	"bytes"
	"strconv"
	"strings"
)

// framing follows the requests of one HTTP/1 connection, and finds those whose end two servers can
// see at different places: with a length and a transfer coding, with two lengths, with a coding in
// HTTP/1.0 or another than chunked, with a header that goes on in the next line, or with a line
// that ends without a carriage return. net/http takes most of them, and shows handlers nothing of
// it. What a server before this one took for the body of a request, this one could take for the
// next request.
//
// For net/http, such a request ends with refusedEnd where it is found. So net/http refuses it
// itself, in its turn, with 400, and closes the connection. The zero value is at the beginning of a
// connection.
type framing struct {
	part    part
	refused string // what was wrong with the request that was cut off
	last    byte   // that was taken
	line    []byte // beginning of the line of a header, or end of the request line
	name    string // of the header whose value is read, in lower case: one of the two that say where a request ends, or ""
	old     bool   // HTTP/1.0
	lengths int
	codings int
	chunked bool
	unknown bool   // a length that net/http refuses
	left    uint64 // bytes until the end of the body, or of the chunk
}

// part is the part of a request that comes next.
type part int

const (
	requestStart part = iota
	requestLine
	headerStart
	headerName
	headerValue
	wholeBody
	chunkSize
	chunkBody
	chunkEnd
	trailer
	unknownPart // net/http refuses the request, and ends the connection
)

const (
	maxVersion = len(" HTTP/1.0\r")
	// maxFramingLine is how much of a header is looked at. A longer length or coding is refused.
	maxFramingLine = 128

	// refusedEnd is a line that no header may have, at the beginning of a line or within one.
	refusedEnd = "\x00\r\n:\x00\r\n\r\n"

	contentLength    = "content-length"
	transferEncoding = "transfer-encoding"
)

// check follows the bytes that were read next, and returns how many of them come before a request
// is refused.
func (f *framing) check(b []byte) int {
	for i := 0; i < len(b) && f.part != unknownPart; {
		if f.part == wholeBody || f.part == chunkBody {
			n := min(uint64(len(b)-i), f.left)
			i += int(n) // at most len(b)
			if f.left -= n; f.left == 0 && f.part == wholeBody {
				f.next(requestStart)
			} else if f.left == 0 {
				f.next(chunkEnd)
			}
			continue
		}
		if wrong := f.take(b[i]); wrong != "" {
			f.part, f.refused = unknownPart, wrong
			return i
		}
		f.last = b[i]
		i++
	}
	return len(b)
}

func (f *framing) next(p part) {
	f.part, f.line = p, f.line[:0]
}

// take follows one byte outside of bodies, and returns why its request must be refused, or "".
func (f *framing) take(c byte) (wrong string) {
	if c == '\n' && f.last != '\r' && f.part >= requestLine && f.part <= headerValue {
		return "A line of the headers must end with a carriage return and a line feed."
	}
	switch f.part {
	case requestStart:
		if c != '\r' && c != '\n' { // some clients send an empty line after a body
			*f = framing{part: requestLine, line: append(f.line[:0], c)}
		}
	case requestLine:
		if c == '\n' {
			f.old = bytes.HasSuffix(bytes.TrimSuffix(f.line, []byte("\r")), []byte(" HTTP/1.0"))
			f.next(headerStart)
			return ""
		}
		f.line = append(f.line, c)
		f.line = f.line[max(0, len(f.line)-maxVersion):]
	case headerStart, headerName:
		return f.takeName(c)
	case headerValue:
		return f.takeValue(c)
	case chunkSize:
		f.takeSize(c)
	case chunkEnd:
		if c == '\n' {
			f.next(chunkSize)
		}
	case trailer:
		f.takeTrailer(c)
	case wholeBody, chunkBody, unknownPart: // not here
	}
	return ""
}

func (f *framing) takeName(c byte) (wrong string) {
	switch {
	case f.part == headerStart && (c == ' ' || c == '\t'):
		return "A header must not continue in the next line."
	case c == '\n' && len(bytes.TrimSuffix(f.line, []byte("\r"))) == 0:
		f.endHeaders()
		return ""
	case c == '\n': // no header: net/http refuses it
		f.part = unknownPart
		return ""
	case c != ':':
		f.part = headerName
		if len(f.line) < maxFramingLine {
			f.line = append(f.line, c)
		}
		return ""
	}
	f.name = strings.ToLower(strings.TrimSpace(string(f.line)))
	switch f.name {
	case contentLength:
		f.lengths++
	case transferEncoding:
		f.codings++
	default:
		f.name = ""
	}
	f.next(headerValue)
	switch {
	case f.lengths > 0 && f.codings > 0:
		return "Content-Length and Transfer-Encoding must not be sent together."
	case f.lengths > 1:
		return "Content-Length must not be sent twice."
	case f.codings > 1:
		return "Transfer-Encoding must not be sent twice."
	case f.codings > 0 && f.old:
		return "Transfer-Encoding must not be sent in HTTP/1.0."
	default:
		return ""
	}
}

func (f *framing) takeValue(c byte) (wrong string) {
	if c != '\n' {
		if f.name == "" {
			return ""
		}
		if len(f.line) == maxFramingLine {
			return "Content-Length or Transfer-Encoding is too long."
		}
		f.line = append(f.line, c)
		return ""
	}
	value := strings.Trim(strings.TrimSuffix(string(f.line), "\r"), " \t")
	switch f.name {
	case contentLength:
		n, err := strconv.ParseUint(value, 10, 63)
		f.left, f.unknown = n, f.unknown || err != nil
	case transferEncoding:
		if f.chunked = strings.EqualFold(value, "chunked"); !f.chunked {
			return "The header Transfer-Encoding can be chunked only."
		}
	}
	f.next(headerStart)
	return ""
}

func (f *framing) endHeaders() {
	switch {
	case f.unknown:
		f.part = unknownPart
	case f.chunked:
		f.next(chunkSize)
	case f.left > 0:
		f.next(wholeBody)
	default:
		f.next(requestStart)
	}
}

// takeSize reads the size of a chunk: what follows it in its line has no meaning.
func (f *framing) takeSize(c byte) {
	if c != '\n' {
		if len(f.line) <= 16 { // more digits than any size has
			f.line = append(f.line, c)
		}
		return
	}
	digits := bytes.IndexFunc(append(f.line, '\n'), func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) })
	size, err := strconv.ParseUint(string(f.line[:digits]), 16, 64)
	switch {
	case err != nil:
		f.part = unknownPart
	case size == 0:
		f.next(trailer)
	default:
		f.next(chunkBody)
		f.left = size
	}
}

func (f *framing) takeTrailer(c byte) {
	switch {
	case c != '\n':
		if len(f.line) < 2 {
			f.line = append(f.line, c)
		}
	case len(bytes.TrimSuffix(f.line, []byte("\r"))) == 0:
		f.next(requestStart)
	default:
		f.next(trailer)
	}
}
