package embed

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"lodestone/crud/capture"
	"lodestone/crud/field"
	"lodestone/crud/gate"
	"lodestone/crud/web"
	"lodestone/pkg/bot"
	"lodestone/pkg/locale"
	"lodestone/pkg/source"
	"lodestone/pkg/token"
)

const (
	// visitLasts is how long a page can be open before its form is sent.
	visitLasts = 24 * time.Hour
	visitGrant = "embedded form"
	fieldToken = "token"
)

// form is the content of the form that the script shows.
type form struct {
	Token          string            `json:"token"` // of the visit, for the form
	Visit          uuid.UUID         `json:"visit"` // id of the view
	TrackingToken  string            `json:"tracking_token"`
	Views          *string           `json:"views"` // where views are counted; nil: nowhere
	Page           string            `json:"page"`  // the landing page
	Language       locale.Language   `json:"language"`
	Words          map[string]string `json:"words"` // texts of the script, by their keys in the catalogue
	Title          string            `json:"title"`
	Name           bool              `json:"name"`
	Fields         []field.Input     `json:"fields"`
	Hidden         []string          `json:"hidden"` // parameters of the page's address that the form takes
	Consent        *string           `json:"consent"`
	ConsentVersion string            `json:"consent_version"`
	PrivacyURL     *string           `json:"privacy_url"`
	Passcode       bool              `json:"passcode"`
	Agreement      *agreement        `json:"agreement"`
	Button         string            `json:"button"`
	Note           string            `json:"note"`
}

// agreement is a text that visitors must accept.
type agreement struct {
	Title   string `json:"title"`
	Text    string `json:"text"`
	Accept  string `json:"accept"` // label of the box
	Version string `json:"version"`
}

func agreementOf(o offer) *agreement {
	g := o.GenericLink
	if g.AgreementText == nil {
		return nil
	}
	title := o.texts.Say("landing.agreement")
	if g.AgreementTitle != nil {
		title = *g.AgreementTitle
	}
	return &agreement{title, *g.AgreementText, o.texts.Say("landing.agreement.accept", "title", title),
		gate.AgreementVersion(g)}
}

// scriptWords are the texts that the script shows.
var scriptWords = []string{
	"landing.email", "landing.name", "landing.trap", "landing.privacy", "new_tab",
	"landing.choose", "wrong.email.empty", "wrong.email.form", "wrong.name.empty", "wrong.consent.empty",
	"landing.passcode", "landing.passcode.hint", "wrong.passcode.empty",
	"embed.lost", "embed.verify", "embed.code", "embed.ready", "landing.read",
}

// subject returns the bytes that the grant of a visit is bound to.
func subject(link uuid.UUID, origin string) []byte { return append(link[:], origin...) }

// load answers with the form of a link and a new visit.
func (f *Forms) load(w http.ResponseWriter, _ *http.Request, o offer) error {
	g := o.GenericLink
	fields, err := field.Decode(g.Fields)
	if err != nil {
		return err
	}
	visit, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make id of visit: %w", err)
	}
	shown := form{
		Token: f.deps.Tokens.Grant(visitGrant, subject(g.ID, o.origin), visit[:], f.deps.Now().Add(visitLasts)), Visit: visit,
		TrackingToken: f.deps.Tokens.Sign(token.Claims{AccountID: g.AccountID, LeadMagnetID: g.LeadMagnetID,
			GenericLinkID: g.ID, MagnetVersion: uint32(o.FileVersion)}),
		Page: f.deps.Site + web.LandingPath(g.Slug), Title: o.MagnetTitle, Name: g.CollectName,
		Fields: fields.Inputs(o.texts), Hidden: fields.HiddenKeys(),
		Consent: g.ConsentText, ConsentVersion: capture.ConsentVersion(g),
		PrivacyURL: g.PrivacyURL, Passcode: g.PasscodeHash != nil, Agreement: agreementOf(o),
		Language: o.texts.Language, Words: map[string]string{},
	}
	if g.Title != nil {
		shown.Title = *g.Title
	}
	if f.deps.Collector != "" {
		views := f.deps.Collector + "/v1/link-views"
		shown.Views = &views
	}
	for _, key := range scriptWords {
		shown.Words[key] = o.texts.Say(key)
	}
	shown.Button, shown.Note = words(o)
	return writeJSON(w, http.StatusOK, shown)
}

// words are those of the landing page: what the press does, and what follows.
func words(o offer) (button, note string) {
	t := o.texts
	switch {
	case o.GenericLink.RequireVerification:
		button, note = t.Say("landing.send"), t.Say("landing.after.verify")
	case capture.Redirect(o.GenericLink) != "":
		button, note = t.Say("landing.send"), t.Say("landing.after.away")
	default:
		button, note = t.Say("embed.get"), t.Say("embed.now")
	}
	if o.GenericLink.ButtonText != nil {
		button = *o.GenericLink.ButtonText
	}
	return button, note + " " + t.Say("landing.sees", "account", o.AccountName)
}

// outcome is the next step after a form.
type outcome struct {
	State string `json:"state"` // verify: a mail comes first; redirect: to a page of the owner's; ready: the document
	URL   string `json:"url"`
}

type fieldErrors struct {
	Errors map[string]string `json:"errors"`
}

// submit takes the form of a visit.
func (f *Forms) submit(w http.ResponseWriter, r *http.Request, o offer) error {
	if err := r.ParseForm(); err != nil {
		return &requestError{status: http.StatusBadRequest, keys: []string{"status.unreadable.1"}}
	}
	given := r.PostForm.Get(fieldToken)
	if _, err := f.deps.Tokens.OpenGrant(visitGrant, subject(o.GenericLink.ID, o.origin),
		given, f.deps.Now()); err != nil {
		return &requestError{status: http.StatusConflict, keys: []string{"embed.stale"}}
	}
	sent := capture.ReadForm(r.PostForm)
	sent.Language, sent.Bot = o.texts.Language, f.deps.Bots.Classify(bot.RequestOf(r)) != ""
	if source.Withheld(r.Header) {
		sent.Origin = capture.Origin{}
	}
	out, err := f.deps.Capture.Submit(r.Context(), o.GenericLink, sent, f.deps.Addresses.Client(r))
	if wrong, ok := errors.AsType[capture.Invalid](err); ok {
		fields, err := field.Decode(o.GenericLink.Fields)
		if err != nil {
			return err
		}
		return writeJSON(w, http.StatusUnprocessableEntity, fieldErrors{wrong.In(o.texts, o.GenericLink, fields)})
	}
	if limited, ok := errors.AsType[*capture.LimitError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(limited.Wait/time.Second)+1))
		return &requestError{status: http.StatusTooManyRequests, keys: []string{"status.too_many.1"}, wait: limited.Wait}
	}
	if capture.IsFull(err) {
		return full
	}
	if capture.IsGone(err) {
		return &requestError{status: http.StatusGone, keys: []string{"status.gone.1", "status.gone.2"}}
	}
	if err != nil {
		return fmt.Errorf("submit embedded form: %w", err)
	}
	switch {
	case out.Page != "":
		return writeJSON(w, http.StatusOK, outcome{"verify", f.deps.Site + web.SentPath(out.Page)})
	case out.Access == "":
		return writeJSON(w, http.StatusOK, outcome{"redirect", capture.Redirect(o.GenericLink)})
	default:
		return writeJSON(w, http.StatusOK, outcome{"ready", f.deps.Site + web.ReadingPath(out.Access)})
	}
}
