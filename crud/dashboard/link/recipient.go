package link

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"lodestone/crud/dashboard/frame"
	"lodestone/pkg/client"
)

// recipient is someone who got a link of their own, without a form.
type recipient struct{ ID, Email, URL, Screen string }

// named matches an address with a name before it, as mail programs copy it.
var named = regexp.MustCompile(`(^|[\s,;])(?:"[^"\n]*"|[^,;<>"\n@]*)[ \t]*<([^<>\s]+)>`)

// addressesIn returns the addresses of a list, which blanks, commas, semicolons or lines part.
func addressesIn(list string) []string {
	bare := named.ReplaceAllString(list, "$1 $2 ")
	return strings.FieldsFunc(bare, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;，；、", r) })
}

// newKey returns a key by which the API knows a form again that is sent twice.
func newKey() string { return uuid.NewString() }

// once returns the header with the key of a form.
func once(typed url.Values) http.Header {
	if key := typed.Get("once"); key != "" {
		return http.Header{"Idempotency-Key": {key}}
	}
	return nil
}

// addRecipients makes an access link for each address of a list.
func (s *Screens) addRecipients(v *frame.Visit) error {
	typed, err := read(v)
	if err != nil {
		return err
	}
	l, err := frame.Get[genericLink](v, path(v), nil)
	if err != nil {
		return err
	}
	emails := addressesIn(typed.Get("emails"))
	body := map[string]any{"emails": append([]string{}, emails...)}
	wrong := map[string]string{}
	if text := strings.TrimSpace(typed.Get("max_views")); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			wrong["max_views"] = v.Say("link.recipients.views.wrong")
		}
		body["max_views"] = n
	}
	if text := typed.Get("expires_at"); text != "" {
		at, ok := v.EndOfDay(text)
		if !ok {
			wrong["expires_at"] = v.Say("link.recipients.day.wrong")
		}
		body["expires_at"] = at
	}
	if len(emails) == 0 {
		wrong["emails"] = v.Say("link.recipients.emails.none")
	}
	if len(wrong) > 0 {
		return s.draw(v, http.StatusUnprocessableEntity, forms{recipients: frame.Form{Values: typed, Wrong: wrong}})
	}
	type batch struct {
		Data []client.AccessLink `json:"data"`
	}
	made, err := frame.Send[batch](v, http.MethodPost, magnetsPath+"/"+url.PathEscape(l.LeadMagnetID)+
		"/bulk-links", body, once(typed))
	if f, ok := frame.Rejected(typed, err); ok {
		f.Wrong = byAddress(v, f.Wrong, emails)
		return s.draw(v, http.StatusUnprocessableEntity, forms{recipients: f})
	}
	if err != nil {
		return err
	}
	sent := forms{}
	for i := range made.Data {
		sent.added = append(sent.added, recipient{"l" + made.Data[i].ID, made.Data[i].Email, made.Data[i].URL,
			v.Path("/dashboard/readers/" + made.Data[i].ID)})
	}
	return s.draw(v, http.StatusCreated, sent)
}

// byAddress puts what is wrong with single addresses beside their list, with the addresses.
func byAddress(v *frame.Visit, wrong map[string]string, emails []string) map[string]string {
	out := map[string]string{}
	var about []string
	for i, email := range emails {
		if message, ok := wrong["emails["+strconv.Itoa(i)+"]"]; ok {
			about = append(about, email+": "+anyEmail.ReplaceAllLiteralString(message, v.Say("link.recipients.before")))
		}
	}
	for field, message := range wrong {
		if !strings.HasPrefix(field, "emails[") {
			out[field] = message
		}
	}
	if len(about) > 0 {
		out["emails"] = strings.Join(about[:min(len(about), maxAbout)], " ")
	}
	return out
}

// maxAbout is how many addresses a message names.
const maxAbout = 5

var anyEmail = regexp.MustCompile(`emails\[\d+\]`)
