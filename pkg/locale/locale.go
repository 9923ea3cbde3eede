// Package locale knows the languages that visitors' pages and mails are in.
package locale

import (
	"slices"

	"golang.org/x/text/language"
)

// Language is a language of pages and mails, as the tag of its HTML.
type Language string

// English is the language of everything that has no other.
const English Language = "en"

// languages lists all of them. The first one stands for what none of them is.
var languages = []Language{English, "de", "fr", "es", "it", "pt", "nl", "pl"}

var matcher = language.NewMatcher(func() []language.Tag {
	tags := make([]language.Tag, len(languages))
	for i, l := range languages {
		tags[i] = l.Tag()
	}
	return tags
}())

// Languages returns every language.
func Languages() []Language { return slices.Clone(languages) }

// EnumValues implements jsonschema.Enum.
func (Language) EnumValues() []string {
	names := make([]string, len(languages))
	for i, l := range languages {
		names[i] = string(l)
	}
	return names
}

// Tag returns the language's tag.
func (l Language) Tag() language.Tag { return language.Make(string(l)) }

// Known reports whether pages and mails exist in a language.
func (l Language) Known() bool { return slices.Contains(languages, l) }

// Match returns the language that suits a reader best who sent this Accept-Language.
func Match(accept string) Language {
	wanted, _, err := language.ParseAcceptLanguage(accept)
	if err != nil || len(wanted) == 0 {
		return English
	}
	_, at, confidence := matcher.Match(wanted...)
	if confidence == language.No {
		return English
	}
	return languages[at]
}

// Or returns the language that was chosen, or else the one that suits a reader best who sent this
// Accept-Language.
func Or(chosen *string, accept string) Language {
	if chosen != nil && Language(*chosen).Known() {
		return Language(*chosen)
	}
	return Match(accept)
}
