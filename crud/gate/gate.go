// Package gate is what a generic link asks of its visitors beside their address: an address of a
// list, a passcode, an agreement, a place among so many people; and whether the document names who
// reads it.
package gate

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/password"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// LinkGate is who may read through a generic link, as the API shows it.
type LinkGate struct {
	Allow       *[]string      `json:"allow" doc:"Addresses and domains that the form takes; empty: all. A domain stands for those below it as well. Null for a key without the scope leads."`
	Block       *[]string      `json:"block" doc:"Addresses and domains that the form refuses, also if allow has them. Null for a key without the scope leads."`
	MaxPeople   *int32         `json:"max_people" doc:"How many people the form takes, counted by submission_count; null for any number."`
	PasscodeSet bool           `json:"passcode_set" doc:"Whether the form asks for a passcode."`
	Agreement   *LinkAgreement `json:"agreement" nullable:"true" doc:"What visitors must accept; null for nothing."`
	Watermark   bool           `json:"watermark" doc:"Whether each page of the document, and of its download, shows who reads it: the email address and the time."`
}

// LinkAgreement is a text that visitors must accept.
type LinkAgreement struct {
	Title *string `json:"title" required:"false" minLength:"1" maxLength:"200" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 200 characters, not only blanks" doc:"Heading of the text, such as “Non-disclosure agreement”; null for the word for agreement."`
	Text  string  `json:"text" minLength:"1" maxLength:"10000" format:"text" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 10000 characters, not only blanks" doc:"Text of the agreement. An empty line begins a paragraph."`
}

// LinkGateChange is what is set of a LinkGate. What is left out stays.
type LinkGateChange struct {
	Allow     []string                  `json:"allow" required:"false" nullable:"false" maxItems:"200" minLength:"3" maxLength:"254" doc:"Addresses and domains that the form takes, such as ann@example.com and example.com; an empty list for all. A domain stands for those below it as well."`
	Block     []string                  `json:"block" required:"false" nullable:"false" maxItems:"200" minLength:"3" maxLength:"254" doc:"Addresses and domains that the form refuses, also if allow has them; an empty list for none."`
	MaxPeople api.Change[int32]         `json:"max_people" required:"false" minimum:"1" maximum:"1000000" doc:"How many people the form takes, counted by submission_count; null for any number. The links of those who are among them keep working."`
	Passcode  api.Change[string]        `json:"passcode" required:"false" minLength:"6" maxLength:"100" doc:"Passcode that the form asks for; null for none. It is stored as an argon2id hash, and no answer has it."`
	Agreement api.Change[LinkAgreement] `json:"agreement" required:"false" nullable:"true" doc:"What visitors must accept; null for nothing. Submissions keep the text and the time."`
	Watermark *bool                     `json:"watermark" required:"false" nullable:"false" doc:"Whether each page of the document, and of its download, shows who reads it: the email address and the time. It holds for all access links of the generic link."`
}

// Of returns the gate of a link as a key may see it: the addresses of its lists are personal data.
func Of(row store.GenericLink, caller auth.Identity) LinkGate {
	g := LinkGate{MaxPeople: row.MaxPeople, PasscodeSet: row.PasscodeHash != nil, Watermark: row.Watermark}
	if caller.Has(auth.Leads) {
		g.Allow, g.Block = &row.AllowedEmails, &row.BlockedEmails
	}
	if row.AgreementText != nil {
		g.Agreement = &LinkAgreement{row.AgreementTitle, *row.AgreementText}
	}
	return g
}

// Check returns what is wrong that the schema cannot tell. It leaves the lists as they are stored:
// in lower case, each entry once.
func (c *LinkGateChange) Check() (wrong []problem.Field) {
	if c == nil {
		return nil
	}
	for name, list := range map[string]*[]string{"allow": &c.Allow, "block": &c.Block} {
		if *list == nil {
			continue
		}
		kept, bad := normalList(*list)
		for _, i := range bad {
			wrong = append(wrong, problem.Field{Field: "gate." + name + "[" + strconv.Itoa(i) + "]",
				Message: "must be an email address or a domain, such as ann@example.com or example.com"})
		}
		*list = kept
	}
	if p := c.Passcode.Value; p != nil && len(Passcode(*p)) < minPasscode {
		wrong = append(wrong, problem.Field{Field: "gate.passcode",
			Message: "must have at least 6 characters, without blanks around them"})
	}
	return wrong
}

const minPasscode = 6

// Passcode returns a passcode as it is compared: without the blanks that come with a copied one.
func Passcode(typed string) string { return strings.TrimSpace(typed) }

// HashPasscode returns the hash of the passcode that is set, nil for none.
func (c *LinkGateChange) HashPasscode(ctx context.Context, hasher *password.Hasher) (*string, error) {
	if c == nil || c.Passcode.Value == nil {
		return nil, nil
	}
	hash, err := hasher.Hash(ctx, Passcode(*c.Passcode.Value))
	if err != nil {
		return nil, fmt.Errorf("hash passcode: %w", err)
	}
	return &hash, nil
}

// Text returns title and text of the agreement that is set, nil for none.
func (c *LinkGateChange) Text() (title, text *string) {
	if a := c.Agreement.Value; a != nil {
		return a.Title, &a.Text
	}
	return nil, nil
}
