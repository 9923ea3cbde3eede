package frame

import (
	"html/template"
	"slices"

	"lodestone/crud/web"
)

// functions returns the functions of templates: t writes a text, and rich one with markup. Its
// values come from to, number, when and strong.
func functions(texts *web.Texts) template.FuncMap {
	return template.FuncMap{
		"t": texts.Say, "rich": texts.HTML, "strong": texts.Strong, "to": to, "number": Figure.HTML, "when": Instant.HTML,
	}
}

func to(url, words string) web.Link { return web.Link{URL: url, Words: words} }

// HTML draws the number for a text with markup.
func (f Figure) HTML() template.HTML {
	return template.HTML(`<span data-metric="` + template.HTMLEscapeString(f.Metric) + `" data-value="` + f.Exact() + `">` + template.HTMLEscapeString(f.Text()) + `</span>`) //nolint:gosec // everything is escaped
}

// HTML draws the time for a text with markup.
func (w Instant) HTML() template.HTML {
	return template.HTML(`<time datetime="` + template.HTMLEscapeString(w.Exact) + `">` + template.HTMLEscapeString(w.Text) + `</time>`) //nolint:gosec // everything is escaped
}

// Say returns a text of the dashboard in the language of the visit. args are the names and values
// of its placeholders; the number called n chooses the plural form.
func (v *Visit) Say(key string, args ...any) string { return v.texts.Say(key, args...) }

// Forms returns a text in all its plural forms, by their CLDR names, with its placeholders: for
// scripts, which fill them.
func (v *Visit) Forms(key string) map[string]string { return v.texts.Forms(key) }

// Sentence is a text with numbers in it, which "sentence" of web/parts.html draws.
type Sentence []web.Part

// Sentence returns a text whose values may be of type *Figure.
func (v *Visit) Sentence(key string, args ...any) Sentence { return v.texts.Parts(key, args...) }

// Then adds another part of the same sentence.
func (s Sentence) Then(more Sentence) Sentence { return append(slices.Clip(s), more...) }
