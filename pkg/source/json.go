package source

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
)

// JSON returns a valid JSON text as it is stored: with its names and strings in normal form C,
// whether their characters are escaped or not. What is in that form stays as it was written. A
// string with an escape that is no character is left alone.
//
// It returns the text itself if nothing had to be changed, and does not write to it.
func JSON(text []byte) []byte {
	if printable(text) && !bytes.Contains(text, []byte(`\u`)) {
		return text
	}
	var out []byte // nil as long as nothing is changed
	kept := 0      // up to here, the text is in out
	for at := bytes.IndexByte(text, '"'); at >= 0 && at < len(text); {
		end := stringEnd(text, at)
		if quoted, changed := composed(text[at:end]); changed {
			out = append(append(out, text[kept:at]...), quoted...)
			kept = end
		}
		next := bytes.IndexByte(text[end:], '"')
		if next < 0 {
			break
		}
		at = end + next
	}
	if kept == 0 {
		return text
	}
	return append(out, text[kept:]...)
}

// stringEnd returns where the string ends that begins at a quote.
func stringEnd(text []byte, at int) int {
	for at++; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(text)
}

// composed returns a string of JSON in normal form C, and whether it was in another one.
func composed(quoted []byte) ([]byte, bool) {
	plain := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(plain, '\\') >= 0 {
		var err error
		if plain, err = jsontext.AppendUnquote(nil, quoted); err != nil {
			return nil, false
		}
	}
	if norm.NFC.IsNormal(plain) {
		return nil, false
	}
	out, err := jsontext.AppendQuote(nil, norm.NFC.Bytes(plain))
	return out, err == nil
}
