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
