package mail

import (
	"bytes"
	"mime"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"
)

// mailView is one mail, as /dev/mailbox.json shows it.
type mailView struct {
	ID         string        `json:"id"`
	ReceivedAt time.Time     `json:"received_at"`
	From       string        `json:"from"`
	To         string        `json:"to"` // the receiver's address
	Subject    string        `json:"subject"`
	MessageID  string        `json:"message_id"`
	Text       string        `json:"text"`
	HTML       string        `json:"html"`
	Links      []string      `json:"links"` // of the text, each once
	Headers    []headerField `json:"headers"`
}

// headerField is a field of a mail's header.
type headerField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// URLs end where a text goes on.
var urlForm = regexp.MustCompile(`https?://[^\s<>"']+`)

// viewOf returns how a mail is shown.
func viewOf(id string, r RenderedMail) mailView {
	m := mailView{ID: id, To: r.To, Text: r.Text, HTML: r.HTML, Links: []string{}, Headers: []headerField{}}
	if when, _, found := strings.Cut(id, "-"); found {
		m.ReceivedAt, _ = time.Parse(mailboxTime, when) // an id has this form
	}
	if message, err := mail.ReadMessage(bytes.NewReader(r.Source)); err == nil {
		for name, values := range message.Header {
			for _, value := range values {
				m.Headers = append(m.Headers, headerField{name, decodeHeader(value)})
			}
		}
		slices.SortStableFunc(m.Headers, func(a, b headerField) int { return strings.Compare(a.Name, b.Name) })
		h := message.Header
		m.From, m.Subject, m.MessageID = decodeHeader(h.Get("From")), decodeHeader(h.Get("Subject")), h.Get("Message-Id")
	}
	for _, l := range urlForm.FindAllString(m.Text, -1) {
		if l = strings.TrimRight(l, ".,;:!?)"); !slices.Contains(m.Links, l) {
			m.Links = append(m.Links, l)
		}
	}
	return m
}

func decodeHeader(text string) string {
	if decoded, err := new(mime.WordDecoder).DecodeHeader(text); err == nil {
		return decoded
	}
	return text
}
