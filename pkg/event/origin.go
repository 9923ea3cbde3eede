package event

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
)

// Origin is the little that is known of where a visitor is from. Zero values mean that it is not
// known.
type Origin struct {
	Language Language
	Country  Country
}

// String returns both codes as they are stored, the country first and a slash between them, or
// nothing if neither is known.
func (o *Origin) String() string {
	if *o == (Origin{}) {
		return ""
	}
	return string(o.Country.Text()) + "/" + string(o.Language.Text())
}

// Language is a language subtag of two or three letters, in lower case, such as "de". A zero byte
// ends one of two.
type Language [3]byte

// Country is a country code of ISO 3166-1, two letters in upper case, such as "DE".
type Country [2]byte

// ParseLanguage returns the language of a subtag in any case, or false if it is none.
func ParseLanguage(subtag []byte) (l Language, ok bool) {
	if len(subtag) < 2 || len(subtag) > len(l) {
		return Language{}, false
	}
	for i, c := range subtag {
		l[i] = c | ' ' // a letter in lower case
	}
	if !lettersFrom(l[:len(subtag)], 'a') {
		return Language{}, false
	}
	return l, true
}

// FirstLanguage returns the language of the first tag of an Accept-Language header, which browsers
// order by preference, without its region, script and variants: that of "de-AT,de;q=0.9,en;q=0.8"
// is de. It returns zero if the header does not begin with a language.
func FirstLanguage(header []byte) Language {
	tag, _, _ := bytes.Cut(header, []byte{','})
	tag, _, _ = bytes.Cut(tag, []byte{';'})
	subtag, _, _ := bytes.Cut(bytes.TrimSpace(tag), []byte{'-'})
	language, _ := ParseLanguage(subtag)
	return language
}

// CountryHeader is the header in which a server that sends its visitors' events to a collector
// states a visitor's country.
const CountryHeader = "Lodestone-Country"

// ParseCountry returns the country of a code, or false if it is none.
func ParseCountry(code string) (Country, bool) {
	letters := []byte(code)
	if len(letters) != len(Country{}) || !lettersFrom(letters, 'A') {
		return Country{}, false
	}
	return Country(letters), true
}

// Text returns the letters, none if the language is not known. It aliases the language.
func (l *Language) Text() []byte {
	switch {
	case l[0] == 0:
		return nil
	case l[2] == 0:
		return l[:2]
	}
	return l[:]
}

// Text returns the letters, none if the country is not known. It aliases the country.
func (c *Country) Text() []byte {
	if c[0] == 0 {
		return nil
	}
	return c[:]
}

// lettersFrom reports whether a text has nothing but the 26 letters from the first one on.
func lettersFrom(text []byte, first byte) bool {
	for _, c := range text {
		if c-first >= 26 {
			return false
		}
	}
	return true
}

// valid reports whether both are codes, or not known.
func (o *Origin) valid() bool {
	return (o.Language == Language{} || o.Language[0] != 0 && lettersFrom(o.Language.Text(), 'a')) &&
		(o.Country == Country{} || o.Country[0] != 0 && lettersFrom(o.Country.Text(), 'A'))
}

// append appends the fields to a record.
func (o *Origin) append(b []byte) []byte {
	b = appendBytes(b, fieldLanguage, o.Language.Text())
	return appendBytes(b, fieldCountry, o.Country.Text())
}

// set sets a field from a record, and reports an error if the bytes cannot be its value. Other
// fields are left alone.
func (o *Origin) set(num protowire.Number, v []byte) error {
	switch num {
	case fieldLanguage:
		language := Language{}
		if len(v) < 2 || copy(language[:], v) != len(v) {
			return invalid("language", "is not a subtag of two or three letters")
		}
		o.Language = language
	case fieldCountry:
		if len(v) != len(o.Country) {
			return invalid("country", "is not a code of two letters")
		}
		o.Country = Country(v)
	}
	return nil
}
