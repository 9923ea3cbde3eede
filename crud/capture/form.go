package capture

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"lodestone/crud/field"
	"lodestone/crud/gate"
	"lodestone/crud/web"
	"lodestone/pkg/email"
	"lodestone/pkg/locale"
	"lodestone/pkg/source"
	"lodestone/pkg/store"
	"lodestone/pkg/suspect"
)

// Names of the form's fields.
const (
	FieldEmail    = "email"
	FieldName     = "name"
	FieldConsent  = "consent"
	FieldSeen     = "consent_seen" // which text was shown
	FieldTrap     = "website"      // people do not see it
	FieldReferrer = "ref"
	FieldHeadline = "headline" // which of two was shown: a or b

	FieldPasscode      = "passcode"
	FieldAgreement     = "agreement"
	FieldAgreementSeen = "agreement_seen" // which text was shown
)

// Lengths that are kept.
const (
	maxName     = 100      // characters
	maxReferrer = 500      // bytes
	maxForm     = 64 << 10 // of a form, which is never longer
)

// Form is the input of a visitor.
type Form struct {
	Email, Name string
	Agreed      bool
	Seen        string
	Passcode    string
	Accepted    bool   // the agreement
	Terms       string // which agreement was shown
	Trap        string
	Language    locale.Language // of the page, and so of its mails; "": English
	Bot         bool            // a program sent it, and says that it is one
	Suspect     suspect.Rule    // that suspects who sent it; set by Submit
	leftOut     bool            // the account leaves out what that rule suspects
	HeadlineB   *bool           // whether the second headline of two was shown; nil: neither
	// Answers are those in the fields of the link, by key: as typed, and once checked as stored.
	Answers map[string]string
	Origin
}

// Origin is where a visitor came from.
type Origin struct {
	UTM      map[string]string
	Referrer string
	Hidden   map[string]string // answers of hidden fields, by key
}

// ReadForm returns the form of a request's values.
func ReadForm(values url.Values) Form {
	typed, hidden := field.Read(values)
	var second *bool
	if shown := values.Get(FieldHeadline); shown == "a" || shown == "b" {
		second = new(shown == "b")
	}
	return Form{
		Email:  strings.TrimSpace(values.Get(FieldEmail)),
		Name:   source.Text(strings.Join(strings.Fields(values.Get(FieldName)), " "), maxForm),
		Agreed: values.Get(FieldConsent) != "", Seen: values.Get(FieldSeen), Trap: values.Get(FieldTrap),
		Passcode: gate.Passcode(values.Get(FieldPasscode)), Accepted: values.Get(FieldAgreement) != "",
		Terms:   values.Get(FieldAgreementSeen),
		Answers: typed, HeadlineB: second,
		Origin: Origin{source.CampaignOf(values), source.Referrer(values.Get(FieldReferrer), maxReferrer), hidden},
	}
}

// ReadOrigin returns what is kept of the query of a page's address and of the address of the page
// before it.
func ReadOrigin(fields field.List, query, referrer string) Origin {
	return Origin{source.Campaign(query), source.Referrer(referrer, maxReferrer), fields.FromQuery(query)}
}

// isSeen reports whether a character shows something, so that a name of it is one.
func isSeen(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) &&
		!strings.ContainsRune("\u115f\u1160\u2800\u3164\uffa0", r)
}

// Invalid is the error of a form that cannot be taken: what is wrong, by field, as keys of the
// catalogue.
type Invalid map[string]string

// In returns what is wrong in words. The fields are those of the link.
func (i Invalid) In(t *web.Texts, link store.GenericLink, fields field.List) map[string]string {
	texts := make(map[string]string, len(i))
	for name, key := range i {
		texts[name] = t.Say(key, "domains", gate.Domains(link))
	}
	maps.Copy(texts, fields.Messages(t, i))
	return texts
}

// Error implements error.
func (Invalid) Error() string { return "the form cannot be taken as it is" }

// ConsentVersion names the text that a link asks to agree to, and its privacy notice. It is ""
// where nothing is asked.
func ConsentVersion(link store.GenericLink) string {
	if link.ConsentText == nil {
		return ""
	}
	text := *link.ConsentText + "\x00"
	if link.PrivacyURL != nil {
		text += *link.PrivacyURL
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// unread returns what is wrong with a box beside a text, as a key of the catalogue: it was not
// ticked, or another version of the text was shown.
func unread(version string, ticked bool, seen string) string {
	switch {
	case version == "":
		return ""
	case !ticked:
		return "wrong.consent.empty"
	case seen != version:
		return "wrong.consent.changed"
	}
	return ""
}

// Check returns an Invalid if Submit would not take a form as it is.
func (c *Capture) Check(f Form, link store.GenericLink) error {
	address, err := c.check(&f, link)
	if err != nil {
		return err
	}
	if key := gate.Refuses(link, address); key != "" {
		return Invalid{FieldEmail: key}
	}
	return nil
}

// check returns the address, and leaves the answers of a form as they are stored. What the visitor
// can correct is an Invalid.
func (c *Capture) check(f *Form, link store.GenericLink) (email.Address, error) {
	fields, err := field.Decode(link.Fields)
	if err != nil {
		return email.Address{}, err
	}
	wrong := Invalid{}
	answers, unfit := fields.Answers(f.Answers, f.Hidden)
	maps.Copy(wrong, unfit)
	address, err := email.Parse(f.Email)
	switch {
	case f.Email == "":
		wrong[FieldEmail] = "wrong.email.empty"
	case err != nil:
		wrong[FieldEmail] = "wrong.email.form"
	case c.config.RefuseDisposable && isDisposable(address.Key[strings.LastIndexByte(address.Key, '@')+1:]):
		wrong[FieldEmail] = "wrong.email.disposable"
	}
	if link.CollectName {
		switch {
		case !strings.ContainsFunc(f.Name, isSeen):
			wrong[FieldName] = "wrong.name.empty"
		case utf8.RuneCountInString(f.Name) > maxName:
			wrong[FieldName] = "wrong.name.long"
		}
	}
	if link.PasscodeHash != nil && f.Passcode == "" {
		wrong[FieldPasscode] = "wrong.passcode.empty"
	}
	if key := unread(ConsentVersion(link), f.Agreed, f.Seen); key != "" {
		wrong[FieldConsent] = key
	}
	if key := unread(gate.AgreementVersion(link), f.Accepted, f.Terms); key != "" {
		wrong[FieldAgreement] = key
	}
	if f.Trap != "" && len(wrong) == 0 {
		wrong[FieldTrap] = "wrong.trap"
	}
	if len(wrong) > 0 {
		return email.Address{}, wrong
	}
	f.Answers = answers
	return address, nil
}
