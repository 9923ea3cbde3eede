package gate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/gate"
	"lodestone/pkg/api"
	"lodestone/pkg/email"
	"lodestone/pkg/store"
)

func TestListsOfAddresses(t *testing.T) {
	t.Parallel()
	c := gate.LinkGateChange{
		Allow:    []string{"Example.COM", "@example.com", "Ann@Other.example", "b\u00fccher.example"},
		Block:    []string{"not.example.com", "eve@example.com"},
		Passcode: api.Change[string]{Given: true, Value: new(" 12345 ")},
	}
	var wrong []string
	for _, w := range c.Check() {
		wrong = append(wrong, w.Field)
	}
	require.Equal(t, []string{"gate.passcode"}, wrong)
	require.Equal(t, []string{"example.com", "ann@other.example", "xn--bcher-kva.example"}, c.Allow)

	link := store.GenericLink{AllowedEmails: c.Allow, BlockedEmails: c.Block}
	for typed, refused := range map[string]bool{
		"jo@example.com": false, "JO@EXAMPLE.com": false, "jo@mail.example.com": false, "jo@myexample.com": true,
		"jo@example.com.evil.example": true, "ann@other.example": false, "ann+news@other.example": false,
		"anna@other.example": true, "jo@b\u00fccher.example": false, "jo@not.example.com": true,
		"jo@deep.not.example.com": true, "eve@example.com": true, "eve+2@example.com": true, "eve@mail.example.com": false,
	} {
		a, err := email.Parse(typed)
		require.NoError(t, err)
		require.Equal(t, refused, gate.Refuses(link, a) != "", typed)
	}
	require.Empty(t, gate.Domains(link), "it would tell who may read")

	c = gate.LinkGateChange{Allow: []string{"example.com", "com", "x@y@example.com", "a b.example"}}
	wrong = nil
	for _, w := range c.Check() {
		wrong = append(wrong, w.Field)
	}
	require.Equal(t, []string{"gate.allow[1]", "gate.allow[2]", "gate.allow[3]"}, wrong)
	require.Equal(t, "example.com", gate.Domains(store.GenericLink{AllowedEmails: c.Allow}))
}
