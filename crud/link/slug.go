package link

import (
	"crypto/rand"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	minSlug       = 3
	slugWords     = "3 to 64 characters of a-z, 0-9 and -, without a - at an end or two in a row"
	suffixLength  = 6
	maxSlugStem   = MaxSlug - 1 - suffixLength
	fallbackStem  = "guide"
	slugReserved  = "is reserved: choose another slug"
	reservedWords = " about account accounts admin administrator analytics api app assets auth billing blog cdn contact " +
		"dashboard demo docs download downloads email events favicon health help home index info legal link links login " +
		"logout lodestone mail me metrics new news null oauth openapi password pixel preview pricing privacy public " +
		"register robots root search security settings signin signout signup sitemap static status submissions support " +
		"system team terms test undefined user users verify webhook webhooks well-known www "
)

// MaxSlug is the greatest length of a slug.
const MaxSlug = 64

// SlugForm is the form of a slug, whatever its length.
var SlugForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// reserved reports whether a slug is kept for pages of our own, or would mislead.
func reserved(slug string) bool { return strings.Contains(reservedWords, " "+slug+" ") }

const (
	// plainSlugs is how many slugs are tried without a random end: the words alone, then with a 2 and
	// a 3.
	plainSlugs = 3
	// slugAttempts bounds the search for a free slug; each random end has 30 bits.
	slugAttempts = 5
)

// slugsOf returns the slugs that a link with a title may get, the best first.
func slugsOf(title string) (list []string) {
	if stem := slugStem(title); len(stem) >= minSlug && !reserved(stem) {
		list = append(list, stem)
		for n := 2; n <= plainSlugs; n++ {
			list = append(list, stem+"-"+strconv.Itoa(n))
		}
	}
	for range slugAttempts {
		list = append(list, newSlug(title))
	}
	return list
}

// newSlug returns a slug of a title and a short random suffix.
func newSlug(title string) string {
	stem := slugStem(title)
	if stem == "" {
		stem = fallbackStem
	}
	return stem + "-" + strings.ToLower(rand.Text()[:suffixLength])
}

// slugStem returns what of a title can stand in a slug: letters without their marks, and digits,
// with a hyphen for what lies between. It is cut at a word where that leaves enough.
func slugStem(title string) string {
	var out strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(title) {
		r = unicode.ToLower(r)
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			if gap && out.Len() > 0 {
				out.WriteByte('-')
			}
			gap = false
			out.WriteRune(r)
		case r == 'ß':
			out.WriteString("ss")
		case unicode.Is(unicode.Mn, r) || r == '\'' || r == '’':
		default:
			gap = true
		}
		if out.Len() > maxSlugStem {
			break
		}
	}
	stem := out.String()
	if len(stem) > maxSlugStem {
		stem = stem[:maxSlugStem]
		if i := strings.LastIndexByte(stem, '-'); i > maxSlugStem/2 {
			stem = stem[:i]
		}
	}
	return strings.Trim(stem, "-")
}
