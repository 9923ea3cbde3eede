package link

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/recipient"
	"lodestone/crud/view"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/chart"
	"lodestone/pkg/contact"
	"lodestone/pkg/problem"
)

// recipientsPerPage is how many recipients a page of the list has.
const recipientsPerPage = 50

// importBounds are those of the API, with what a form adds to a list.
var importBounds = web.Transfer{MaxBytes: 24 << 20, Timeout: 5 * time.Minute}

// recipientForms are those of the screen that were sent.
type recipientForms struct {
	add, send, remind frame.Form
	preview           *importPreview
}

type recipientsData struct {
	Link       *genericLink
	Self       string
	Note       string // what was just done
	Counts     recipient.Counts
	States     []stateChoice
	All        string // address of the list without filters
	Q          string
	Keep       url.Values // of the address, what the search does not have
	Rows       []recipientRow
	Total      int64 // that the list's filters choose
	Prev, Next string
	Add        frame.Form
	Import     string // address that takes lists
	Preview    *importPreview
	Send       frame.Form
	Remind     frame.Form
	Rule       bool // there is one
	Once       string
}

// stateChoice is a state, with how many recipients are in it.
type stateChoice struct {
	frame.Option
	N   string
	URL string
}

type recipientRow struct {
	recipient.Recipient
	Words, Tone  string
	Screen       string
	Sent, Opened frame.Instant
	Page         string
	Asked        frame.Instant // when the reminder was sent
}

// importPreview says what would become of a list.
type importPreview struct {
	recipient.Import
	Added   int
	List    string // the contacts of it
	Left    []leftOut
	Ignored string
}

// leftOut is the rows that add no one, for one reason.
type leftOut struct {
	Words string
	Rows  []recipient.ImportRow
}

var stateTones = map[recipient.State]string{recipient.Opened: "good", recipient.Finished: "good",
	recipient.Bounced: "bad"}

// showRecipients lists the recipients of a link.
func (s *Screens) showRecipients(v *frame.Visit) error {
	return s.drawRecipients(v, http.StatusOK, recipientForms{})
}

func (s *Screens) drawRecipients(v *frame.Visit, status int, sent recipientForms) error {
	l, err := frame.Get[genericLink](v, path(v), nil)
	if err != nil {
		return err
	}
	asked, here := v.R.URL.Query(), v.Path(self(v)+"/recipients")
	if v.R.Method == http.MethodGet { // a form that was sent shows the whole list
		err = v.Narrow(view.Recipients, frame.ByInvited)
	} else {
		asked = url.Values{}
	}
	if err != nil {
		return err
	}
	query := chosenRecipients(v)
	if page := asked.Get("page"); page != "" {
		query.Set("page", page)
	}
	query.Set("per_page", strconv.Itoa(recipientsPerPage))
	found, err := frame.Get[api.Page[recipient.Recipient]](v, path(v)+"/recipients", query)
	if err != nil {
		return missing(err)
	}
	d := recipientsData{Link: &l, Self: self(v), All: here, Q: query.Get("q"), Keep: view.Beginning(asked),
		Total: found.Pagination.Total, Add: sent.add, Import: v.UploadTo(self(v) + "/recipients"), Preview: sent.preview,
		Send: sent.send, Remind: sent.remind, Once: newKey()}
	if d.Counts, err = frame.Get[recipient.Counts](v, path(v)+"/recipients/counts", nil); err != nil {
		return err
	}
	d.Keep.Del("q")
	d.States = d.choices(v)
	for _, one := range found.Data {
		d.Rows = append(d.Rows, newRecipientRow(v, one))
	}
	at := func(page int) string {
		q := view.Beginning(asked)
		q.Set("page", strconv.Itoa(page))
		return here + "?" + q.Encode()
	}
	if v.Bar != nil {
		v.Bar.CSV = here + ".csv?" + chosenRecipients(v).Encode()
	}
	if page := found.Pagination.Page; page > 1 {
		d.Prev = at(page - 1)
	}
	if page := found.Pagination.Page; int64(page) < found.Pagination.TotalPages {
		d.Next = at(page + 1)
	}
	for _, done := range []string{"added", "queued", "reminded", "rule", "off"} {
		if n, err := strconv.Atoi(asked.Get(done)); err == nil {
			d.Note = v.Say("recipient.done."+done, "n", n)
		}
	}
	if err := d.fillWords(v, l.Name()); err != nil {
		return err
	}
	return v.ShowStatus(s.recipients, status, frame.Screen{Title: v.Say("recipient.title"), Nav: frame.Links, Data: d})
}

// choices are the states that recipients are in.
func (d *recipientsData) choices(v *frame.Visit) (list []stateChoice) {
	for _, state := range recipient.State("").EnumValues() {
		if n := d.Counts.States[state]; n > 0 {
			q := view.Beginning(v.R.URL.Query())
			q.Set("state", state)
			list = append(list, stateChoice{
				frame.Option{Words: v.Say("recipient.state." + state), Chosen: v.Filters.Get(frame.ByInvited) == state},
				chart.Count(float64(n)), d.All + "?" + q.Encode(),
			})
		}
	}
	return list
}

// fillWords fills the forms of mails that were not sent: with the rule, or with words to begin
// with.
func (d *recipientsData) fillWords(v *frame.Visit, title string) error {
	rule, err := frame.Get[recipient.ReminderRule](v, path(v)+"/recipients/reminder", nil)
	d.Rule = err == nil
	if err != nil && !problem.Is(err, problem.NotFound) {
		return err
	}
	if d.Send.Values == nil {
		d.Send.Values = url.Values{"subject": {title}, "text": {wordsOf(v, "recipient.send.first")}}
	}
	if d.Remind.Values == nil && d.Rule {
		d.Remind.Values = url.Values{"subject": {rule.Subject}, "text": {rule.Text},
			"after_days": {strconv.Itoa(int(rule.AfterDays))}}
		if rule.BeforePage != nil {
			d.Remind.Values.Set("before_page", strconv.Itoa(int(*rule.BeforePage)))
		}
	} else if d.Remind.Values == nil {
		d.Remind.Values = url.Values{"subject": {title}, "text": {wordsOf(v, "recipient.remind.first")},
			"after_days": {"3"}}
	}
	d.Add.ID, d.Send.ID, d.Remind.ID = "add", "send", "remind"
	return nil
}

// wordsOf returns a text of a mail with its placeholders.
func wordsOf(v *frame.Visit, key string) string {
	return v.Say(key, "name", "{name}", "link", "{link}")
}

func newRecipientRow(v *frame.Visit, r recipient.Recipient) recipientRow {
	row := recipientRow{Recipient: r, Words: v.Say("recipient.state." + string(r.State)), Tone: stateTones[r.State],
		Screen: v.Path("/dashboard/readers/" + r.ID.String()), Sent: v.WhenOf(r.SentAt), Opened: v.WhenOf(r.OpenedAt),
		Asked: v.WhenOf(r.RemindedAt), Page: chart.None}
	if r.FurthestPage != nil {
		row.Page = strconv.Itoa(int(*r.FurthestPage))
	}
	return row
}

// addRecipients shows what would become of a list, and adds its contacts once that was confirmed.
func (s *Screens) addRecipients(v *frame.Visit) error {
	list, confirmed, err := listOf(v)
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"text/csv"}}
	to := path(v) + "/recipients/import"
	if !confirmed {
		to += "?dry_run=true"
	} else if key := v.R.PostFormValue("once"); key != "" {
		header.Set("Idempotency-Key", key)
	}
	made, err := frame.Upload[recipient.Import](v, http.MethodPost, to, header, bytes.NewReader(list))
	if f, ok := frame.Rejected(url.Values{"list": {v.R.PostFormValue("list")}}, err); ok {
		if wrong := f.Any(); len(f.Wrong) > 0 {
			f.Detail, f.Wrong = v.Say("recipient.refused", "why", strings.ToLower(wrong[:1])+wrong[1:]), nil
		}
		return s.drawRecipients(v, http.StatusUnprocessableEntity, recipientForms{add: f})
	}
	if err != nil {
		return err
	}
	preview := importPreview{Import: made, Added: made.Outcomes[string(recipient.Add)],
		Ignored: strings.Join(made.IgnoredColumns, ", ")}
	if confirmed {
		return v.Redirect(self(v) + "/recipients?added=" + strconv.Itoa(preview.Added))
	}
	if preview.List, err = contactsOf(list); err != nil {
		return err
	}
	for _, outcome := range recipient.Outcome("").EnumValues() {
		n := made.Outcomes[outcome]
		if n == 0 || outcome == string(recipient.Add) {
			continue
		}
		left := leftOut{Words: v.Say("recipient.left."+outcome, "n", n)}
		for _, row := range made.Details {
			if string(row.Outcome) == outcome {
				left.Rows = append(left.Rows, row)
			}
		}
		preview.Left = append(preview.Left, left)
	}
	return s.drawRecipients(v, http.StatusOK, recipientForms{preview: &preview})
}

// listOf returns the list that a form has, as a file or as text, and whether its preview was
// confirmed.
func listOf(v *frame.Visit) (list []byte, confirmed bool, err error) {
	if !strings.HasPrefix(v.R.Header.Get("Content-Type"), "multipart/") {
		if err := v.R.ParseForm(); err != nil {
			return nil, false, web.BadForm(err)
		}
		return []byte(v.R.PostForm.Get("list")), v.R.PostForm.Get("confirmed") != "", nil
	}
	form, file, err := web.OpenUpload(v.R)
	if file == nil || err != nil {
		return nil, false, err
	}
	if list, err = io.ReadAll(file); err != nil {
		return nil, false, web.BadForm(err)
	}
	return list, false, form.Drain()
}

// contactsOf returns the contacts of a list in a form that a page can carry: its preview, which
// sends them again.
func contactsOf(list []byte) (string, error) {
	var out strings.Builder
	w := csv.NewWriter(&out)
	_ = w.Write([]string{"email", "name"}) // to memory
	_, err := contact.Read(bytes.NewReader(list), func(row contact.Row) error {
		if row.Wrong != "" {
			return nil
		}
		return w.Write([]string{row.Address.Text, row.Name})
	})
	w.Flush()
	if err != nil {
		return "", fmt.Errorf("read list: %w", err)
	}
	return out.String(), nil
}

// sendToRecipients sends the mail to those who have not got it.
func (s *Screens) sendToRecipients(v *frame.Visit) error {
	return s.mailRecipients(v, "/send", "queued", func(f frame.Form) recipientForms { return recipientForms{send: f} })
}

// remindRecipients sends a reminder, or changes the rule by which they are sent.
func (s *Screens) remindRecipients(v *frame.Visit) error {
	again := func(f frame.Form) recipientForms { return recipientForms{remind: f} }
	switch v.R.PostFormValue("do") {
	case "off":
		if _, err := frame.Send[frame.Nothing](v, http.MethodDelete, path(v)+"/recipients/reminder", nil, nil); err != nil {
			return err
		}
		return v.Redirect(self(v) + "/recipients?off=1")
	case "rule":
		return s.mailRecipients(v, "/reminder", "rule", again)
	default:
		return s.mailRecipients(v, "/remind", "reminded", again)
	}
}

// mailRecipients sends a form with words to an operation of the API, and shows what was done.
func (s *Screens) mailRecipients(v *frame.Visit, to, done string, again func(frame.Form) recipientForms) error {
	typed, err := read(v)
	if err != nil {
		return err
	}
	body := map[string]any{"subject": typed.Get("subject"), "text": typed.Get("text")}
	for _, name := range []string{"after_days", "before_page"} {
		if text := strings.TrimSpace(typed.Get(name)); text != "" {
			body[name] = text // which the API refuses
			if n, err := strconv.Atoi(text); err == nil {
				body[name] = n
			}
		}
	}
	method, header := http.MethodPost, once(typed)
	if done == "rule" {
		method, header = http.MethodPut, nil
	}
	// The rule's answer has no number: it is 1, of a rule that is on.
	type answer struct {
		Queued *int `json:"queued"`
	}
	made, err := frame.Send[answer](v, method, path(v)+"/recipients"+to, body, header)
	if f, ok := frame.Rejected(typed, err); ok {
		return s.drawRecipients(v, http.StatusUnprocessableEntity, again(f))
	}
	if err != nil {
		return err
	}
	n := 1
	if made.Queued != nil {
		n = *made.Queued
	}
	return v.Redirect(self(v) + "/recipients?" + done + "=" + strconv.Itoa(n))
}

// exportRecipients passes the file of the recipients on. The address holds the list's filters.
func (s *Screens) exportRecipients(v *frame.Visit) error {
	v.ReadFilters(frame.ByInvited)
	query := chosenRecipients(v)
	query.Set("format", "csv")
	query.Set("bom", "true") // a person opens the file, in Excel
	return v.Pass(path(v)+"/recipients/export", query)
}

// chosenRecipients is the question for the recipients that the address asks for.
func chosenRecipients(v *frame.Visit) url.Values {
	query := v.Filters.Query()
	if q := v.R.URL.Query().Get("q"); q != "" && v.R.Method == http.MethodGet {
		query.Set("q", q)
	}
	return query
}
