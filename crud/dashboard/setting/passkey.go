package setting

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/google/uuid"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/signin"
)

// Passkeys lists those of a session's person; it is implemented by signin.Service, which takes the
// forms of the screen. They belong to the person, whatever the account, so the API has none.
type Passkeys interface {
	HasPasskeys() bool
	Passkeys(ctx context.Context, of signin.Session) ([]signin.Passkey, error)
}

type passkeysData struct {
	frame.Form
	Done, Failed string
	Person       bool // signed in, and not an API key
	Possible     bool // browsers make passkeys for the address of the site
	Passkeys     []passkeyRow
	Path         string // of the forms
	MaxName      int
}

type passkeyRow struct {
	signin.Passkey
	Created, Used frame.Instant
}

func (s *Screens) showPasskeys(v *frame.Visit) error {
	name := []rune(browser(v, v.R.UserAgent()))
	name = name[:min(len(name), signin.MaxPasskeyName)]
	d := passkeysData{Form: frame.Form{Values: url.Values{"name": {string(name)}}}, Done: done(v),
		Person: v.Session.UserID != uuid.Nil, Possible: s.passkeys.HasPasskeys(),
		Path: v.Path(signin.PasskeysPath), MaxName: signin.MaxPasskeyName}
	if failed := v.R.URL.Query().Get("failed"); slices.Contains([]string{"passkey", "many"}, failed) {
		d.Failed = v.Say("setting.passkeys.failed." + failed)
	}
	if d.Person {
		list, err := s.passkeys.Passkeys(v.R.Context(), v.Session)
		if err != nil {
			return err
		}
		for _, one := range list {
			d.Passkeys = append(d.Passkeys, passkeyRow{one, v.When(&one.CreatedAt), v.When(one.UsedAt)})
		}
	}
	return s.show(v, "passkeys", "setting.passkeys", http.StatusOK, d)
}
