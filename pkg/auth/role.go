package auth

import "lodestone/pkg/jsonschema"

// Role is the role of a user in an account.
type Role string

// The roles.
const (
	Owner   Role = "owner"   // does everything
	Editor  Role = "editor"  // does everything but managing people and keys
	Analyst Role = "analyst" // reads
)

// Roles lists every role.
func Roles() []Role { return []Role{Owner, Editor, Analyst} }

// EnumValues implements jsonschema.Enum.
func (Role) EnumValues() []string { return jsonschema.Values(Roles()) }

// Scopes returns what the role allows; nothing for one that does not exist.
func (r Role) Scopes() []Scope {
	switch r {
	case Owner:
		return Scopes()
	case Editor:
		return []Scope{Read, Write, Leads, Webhooks}
	case Analyst:
		return []Scope{Read, Leads}
	default:
		return nil
	}
}

// Scope is a permission of a key.
type Scope string

// The scopes. A key has one or more of them; none includes another.
const (
	Read     Scope = "read"     // reading everything but what the others stand for
	Write    Scope = "write"    // creating, changing and deleting it
	Leads    Scope = "leads"    // reading personal data: submissions, access links, summaries of email addresses
	Webhooks Scope = "webhooks" // everything about webhooks, which receive personal data
	Keys     Scope = "keys"     // listing, creating and revoking keys
	People   Scope = "people"   // managing people, invitations and sessions, and reading the audit log
	// reading everything that is stored about one reader, in one document, and erasing it
	Privacy Scope = "people:privacy"
)

// Scopes lists every scope.
func Scopes() []Scope { return []Scope{Read, Write, Leads, Webhooks, Keys, People, Privacy} }

// EnumValues implements jsonschema.Enum.
func (Scope) EnumValues() []string { return jsonschema.Values(Scopes()) }
