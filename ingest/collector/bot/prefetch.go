package bot

import "bytes"

// prefetch reports whether a browser loads a page ahead of need. The forms:
//
//   - Sec-Purpose: prefetch, prefetch;prerender, prefetch;anonymous-client-ip (Fetch standard and
//     the Prefetch and Prerendering drafts of the W3C's web incubator group; Chromium, Firefox).
//   - Purpose: prefetch (Chromium before that), X-Purpose: preview (Safari's Top Sites).
//   - X-Moz: prefetch (Firefox before 115).
func prefetch(q Request) bool {
	first, _, _ := bytes.Cut(q.SecPurpose, []byte{';'})
	return is(first, "prefetch") || is(q.Purpose, "prefetch") || is(q.Purpose, "preview") || is(q.XMoz, "prefetch")
}

func is(value []byte, word string) bool {
	value = bytes.TrimSpace(value)
	return len(value) == len(word) && bytes.EqualFold(value, []byte(word))
}
