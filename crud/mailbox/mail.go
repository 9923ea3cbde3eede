package mailbox

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
	"time"
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

// parse reads a mail. It is total: what cannot be read is shown as it is.
func parse(id string, raw []byte) Mail {
	m := Mail{ID: id, Links: []string{}, Headers: []Header{}}
	if when, _, found := strings.Cut(id, "-"); found {
		m.ReceivedAt, _ = time.Parse(idTime, when) // an id has this form
	}
	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		m.Text = string(raw)
		return m
	}
	h := message.Header
	m.From, m.To, m.Subject, m.MessageID = decode(h.Get("From")), strings.Join(h["Delivered-To"], ", "), decode(h.Get("Subject")), h.Get("Message-Id")
	m.Headers = headers(raw)
	m.read(textproto.MIMEHeader(h), message.Body, 0)
	for _, l := range link.FindAllString(m.Text, -1) {
		if l = strings.TrimRight(l, ".,;:!?)"); !slices.Contains(m.Links, l) {
			m.Links = append(m.Links, l)
		}
	}
	return m
}

// headers returns the fields in their order, each on one line.
func headers(raw []byte) []Header {
	list := []Header{}
	head, _, _ := strings.Cut(strings.ReplaceAll(string(raw), "\r\n", "\n"), "\n\n")
	for line := range strings.SplitSeq(head, "\n") {
		if line == "" {
			continue
		}
		if (line[0] == ' ' || line[0] == '\t') && len(list) > 0 {
			list[len(list)-1].Value += " " + strings.TrimSpace(line)
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		list = append(list, Header{name, strings.TrimSpace(value)})
	}
	for i := range list {
		list[i].Value = decode(list[i].Value)
	}
	return list
}

func decode(text string) string {
	if decoded, err := new(mime.WordDecoder).DecodeHeader(text); err == nil {
		return decoded
	}
	return text
}

// maxDepth bounds parts within parts.
const maxDepth = 5

// read takes the first text and the first HTML of a part and those within.
func (m *Mail) read(h textproto.MIMEHeader, body io.Reader, depth int) {
	kind, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		kind = "text/plain"
	}
	if strings.HasPrefix(kind, "multipart/") && depth < maxDepth {
		parts := multipart.NewReader(body, parameters["boundary"])
		for {
			part, err := parts.NextRawPart()
			if err != nil {
				return // the end, or what cannot be read
			}
			m.read(part.Header, part, depth+1)
		}
	}
	switch strings.ToLower(h.Get("Content-Transfer-Encoding")) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	text, _ := io.ReadAll(body) // up to where it cannot be read
	switch {
	case kind == "text/html" && m.HTML == "":
		m.HTML = string(text)
	case kind == "text/plain" && m.Text == "":
		m.Text = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
}
