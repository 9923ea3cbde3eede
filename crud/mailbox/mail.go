package mailbox

import (
	"bytes"
	"mime"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"

	letters "lodestone/crud/mail"
)

// Mail is one mail, as /dev/mailbox.json shows it.
type Mail struct {
	ID         string    `json:"id"`
	ReceivedAt time.Time `json:"received_at"`
	From       string    `json:"from"`
	To         string    `json:"to"` // whom it was delivered to
	Subject    string    `json:"subject"`
	MessageID  string    `json:"message_id"`
	Text       string    `json:"text"`
	HTML       string    `json:"html"`
	Links      []string  `json:"links"` // of the text, each once
	Headers    []Header  `json:"headers"`
}

// Header is a field of a mail's header.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// URLs end where a text goes on.
var link = regexp.MustCompile(`https?://[^\s<>"']+`)

// view returns how a mail is shown.
func view(id string, r letters.Rendered) Mail {
	m := Mail{ID: id, To: r.To, Text: r.Text, HTML: r.HTML, Links: []string{}, Headers: []Header{}}
	if when, _, found := strings.Cut(id, "-"); found {
		m.ReceivedAt, _ = time.Parse(idTime, when) // an id has this form
	}
	if message, err := mail.ReadMessage(bytes.NewReader(r.Source)); err == nil {
		for name, values := range message.Header {
			for _, value := range values {
				m.Headers = append(m.Headers, Header{name, decode(value)})
			}
		}
		slices.SortStableFunc(m.Headers, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
		h := message.Header
		m.From, m.Subject, m.MessageID = decode(h.Get("From")), decode(h.Get("Subject")), h.Get("Message-Id")
	}
	for _, l := range link.FindAllString(m.Text, -1) {
		if l = strings.TrimRight(l, ".,;:!?)"); !slices.Contains(m.Links, l) {
			m.Links = append(m.Links, l)
		}
	}
	return m
}

func decode(text string) string {
	if decoded, err := new(mime.WordDecoder).DecodeHeader(text); err == nil {
		return decoded
	}
	return text
}
