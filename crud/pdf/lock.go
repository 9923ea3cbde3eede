package pdf

import (
	"bytes"
	"io"
	"regexp"
	"slices"
)

// What a dictionary says of a lock. It is never compressed or locked itself.
var (
	lockOf    = regexp.MustCompile(`/Encrypt\s*(?:(\d+)\s+(\d+)\s+R|<<)`)
	bytesOf   = regexp.MustCompile(`(?s)\((?:\\.|[^\\()])*\)`)
	handlerOf = regexp.MustCompile(`/Filter\s*` + nameOf)
	versionOf = regexp.MustCompile(`/V\s+(\d+)`)
	rulesOf   = regexp.MustCompile(`/R\s+(\d+)`)
	filtersOf = regexp.MustCompile(`/CF\s*<<`)
	streamsOf = regexp.MustCompile(`/StmF\s*` + nameOf)
	stringsOf = regexp.MustCompile(`/StrF\s*` + nameOf)
	methodOf  = regexp.MustCompile(`/CFM\s*` + nameOf)
)

const nameOf = `/([^\s/<>()\[\]{}%]+)`

// Ways to lock a file that PDFium and browsers know.
var (
	knownVersions = []string{"1", "2", "4", "5"}
	knownRules    = []string{"2", "3", "4", "5", "6"}
	knownMethods  = []string{"V2", "AESV2", "AESV3"}
)

// maxLock is more than the length of a dictionary of a lock, in bytes.
const maxLock = 16 << 10

// isStrange reports whether a file that is locked says that it is locked in a way that its readers
// do not know. PDFium takes such a file for one with a password, without pages, or with pages of
// nothing. A lock that is not found is not strange.
func isStrange(file io.ReaderAt, size int64) bool {
	found := findLast(file, size, lockOf)
	if found == nil {
		return false
	}
	if object := lockOf.FindSubmatch(found); object[1] != nil {
		if found = findLast(file, size,
			regexp.MustCompile(string(object[1])+`\s+`+string(object[2])+`\s+obj`)); found == nil {
			return false
		}
	}
	lock := bytesOf.ReplaceAll(found, nil)
	says := func(what *regexp.Regexp) string {
		if value := what.FindSubmatch(lock); value != nil {
			return string(value[1])
		}
		return ""
	}
	version := says(versionOf)
	if says(handlerOf) != "Standard" || !slices.Contains(knownVersions, version) ||
		!slices.Contains(knownRules, says(rulesOf)) {
		return true
	}
	if version < "4" || !filtersOf.Match(lock) {
		return false
	}
	filter := says(streamsOf)
	if filter == "Identity" && filter == says(stringsOf) {
		return false // its attachments alone are locked
	}
	method := regexp.MustCompile(`/` + regexp.QuoteMeta(filter) + `\s*<<[^>]*?` + methodOf.String())
	return filter != says(stringsOf) || !slices.Contains(knownMethods, says(method))
}

// findLast returns the last match of a pattern in a file, and what follows it in the same object. A
// match is not in the middle of a number.
func findLast(file io.ReaderAt, size int64, pattern *regexp.Regexp) []byte {
	const step = 1 << 20
	for end := size; end > 0; end -= step {
		begin := max(end-step, 0)
		part := make([]byte, min(end+maxLock, size)-begin)
		if n, _ := file.ReadAt(part, begin); n < len(part) {
			return nil
		}
		for _, match := range slices.Backward(pattern.FindAllIndex(part, -1)) {
			at := match[0]
			if at > 0 && '0' <= part[at-1] && part[at-1] <= '9' {
				continue
			}
			found, _, _ := bytes.Cut(part[at:min(at+maxLock, len(part))], []byte("endobj"))
			return found
		}
	}
	return nil
}
