package webhook

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"lodestone/crud/mail"
	"lodestone/pkg/api"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
)

// Format is the format of an endpoint: events as JSON, or the notices of the account for the
// incoming webhooks of a chat program.
type Format string

// The formats.
const (
	JSON    Format = "json"
	Slack   Format = "slack"
	Teams   Format = "teams"
	Discord Format = "discord"
)

// Formats returns every format.
func Formats() []Format { return []Format{JSON, Slack, Teams, Discord} }

// EnumValues implements jsonschema.Enum.
func (Format) EnumValues() []string { return jsonschema.Values(Formats()) }

// Kinds returns the kinds that an endpoint of the format can ask for.
func (f Format) Kinds() []Kind {
	if f == JSON {
		return eventKinds
	}
	return noticeKinds
}

// check returns what is wrong with the kinds of an endpoint.
func (f Format) check(kinds []Kind) (wrong []problem.Field) {
	for i, k := range kinds {
		if first := slices.Index(kinds, k); first < i {
			wrong = append(wrong, problem.Field{Field: fmt.Sprintf("kinds[%d]", i),
				Message: fmt.Sprintf("is the same as kinds[%d]", first)})
		} else if !slices.Contains(f.Kinds(), k) {
			wrong = append(wrong, problem.Field{Field: fmt.Sprintf("kinds[%d]", i),
				Message: fmt.Sprintf("is not sent in the format %s", f)})
		}
	}
	return wrong
}

// encode returns the bytes of a message. Texts may have been typed by visitors: in a chat program
// nothing in them is markup, mentions anyone, or becomes a link.
func (f Format) encode(e Event, at time.Time) (string, error) {
	var m any
	switch f {
	case Slack:
		m = slack(wordsOf(e))
	case Teams:
		m = teams(wordsOf(e))
	case Discord:
		m = discord(wordsOf(e))
	default:
		m = message{e.kind(), api.TimeOf(at), e}
	}
	text, err := json.Marshal(m, json.FormatNilSliceAsNull(false),
		json.FormatNilMapAsNull(false), json.Deterministic(true))
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", e.kind(), err)
	}
	return string(text), nil
}

// message is a message in JSON.
type message struct {
	Type      Kind     `json:"type"`
	Timestamp api.Time `json:"timestamp"`
	Data      Event    `json:"data"`
}

// wordsOf returns what a chat program shows of an event, which is a notice or a test.
func wordsOf(e Event) mail.Words {
	n, ok := e.(Notice)
	if !ok {
		return mail.Words{Subject: "Lodestone", Before: []string{testMessage}}
	}
	n.Words.Facts = n.Words.Facts[:min(len(n.Words.Facts), maxFacts)]
	return n.Words
}

// Lengths that the programs take, in characters; Slack's and Discord's own documents name them.
const (
	maxHeading   = 150
	maxParagraph = 2000
	maxValue     = 900
	maxFacts     = 10 // Slack's fields of a section
)

type object = map[string]any

// slack uses text of the type plain_text, in which nothing is markup, for all but the link and the
// preview of the notification.
func slack(w mail.Words) object {
	plain := func(text string) object { return object{"type": "plain_text", "text": text, "emoji": false} }
	blocks := []object{{"type": "header", "text": plain(cut(w.Subject, maxHeading))}}
	for _, p := range w.Before {
		blocks = append(blocks, object{"type": "section", "text": plain(cut(p, maxParagraph))})
	}
	if len(w.Facts) > 0 {
		fields := make([]object, len(w.Facts))
		for i, f := range w.Facts {
			fields[i] = plain(f.Name + "\n" + cut(f.Value, maxValue))
		}
		blocks = append(blocks, object{"type": "section", "fields": fields})
	}
	for _, p := range w.After {
		blocks = append(blocks, object{"type": "section", "text": plain(cut(p, maxParagraph))})
	}
	if w.URL != "" {
		link := "<" + slackEscape.Replace(w.URL) + "|" + slackEscape.Replace(w.Button) + ">"
		blocks = append(blocks, object{"type": "section", "text": object{"type": "mrkdwn", "text": link}})
	}
	return object{"text": slackEscape.Replace(cut(w.Subject, maxHeading)), "blocks": blocks, "unfurl_links": false}
}

// slackEscape is all that Slack's markup needs: mentions and links are in angle brackets.
var slackEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// teams uses text runs, which have no markup.
func teams(w mail.Words) object {
	rich := func(runs ...object) object { return object{"type": "RichTextBlock", "inlines": runs} }
	run := func(text string) object { return object{"type": "TextRun", "text": text} }
	heading := run(cut(w.Subject, maxHeading))
	heading["weight"], heading["size"] = "Bolder", "Large"
	content := []object{rich(heading)}
	for _, p := range w.Before {
		content = append(content, rich(run(cut(p, maxParagraph))))
	}
	for _, f := range w.Facts {
		name := run(f.Name + ": ")
		name["isSubtle"] = true
		content = append(content, rich(name, run(cut(f.Value, maxValue))))
	}
	for _, p := range w.After {
		content = append(content, rich(run(cut(p, maxParagraph))))
	}
	card := object{"type": "AdaptiveCard", "version": "1.4", "body": content, "msteams": object{"width": "Full"}}
	if w.URL != "" {
		card["actions"] = []object{{"type": "Action.OpenUrl", "title": w.Button, "url": w.URL}}
	}
	return object{"type": "message",
		"attachments": []object{{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}}}
}

// discord escapes markup, and allows no mentions.
func discord(w mail.Words) object {
	embed := object{"title": discordEscape(cut(w.Subject, maxHeading/2))}
	if paragraphs := append(append([]string{}, w.Before...), w.After...); len(paragraphs) > 0 {
		embed["description"] = discordEscape(cut(strings.Join(paragraphs, "\n\n"), maxParagraph))
	}
	var fields []object
	for _, f := range w.Facts {
		fields = append(fields, object{"name": discordEscape(f.Name),
			"value": discordEscape(cut(f.Value, maxValue/2)), "inline": true})
	}
	if fields != nil {
		embed["fields"] = fields
	}
	if w.URL != "" {
		embed["url"] = w.URL
	}
	return object{"embeds": []object{embed}, "allowed_mentions": object{"parse": []string{}}}
}

// discordEscape puts a backslash before punctuation, which so is shown as it is. It also keeps
// addresses from becoming links.
func discordEscape(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < utf8.RuneSelf && r > ' ' && strings.ContainsRune("\\*_~`|>#-+.![](){}<:@/", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// cut shortens a text to so many characters.
func cut(text string, most int) string {
	if text == "" {
		return "–" // an empty text is refused
	}
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
