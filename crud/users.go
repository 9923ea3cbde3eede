package crud

import (
	"lodestone/crud/dashboard"
	"lodestone/crud/dashboard/frame"
	"lodestone/crud/signin"
	"lodestone/crud/user"
	"lodestone/pkg/api"
)

// userAPI serves the users of accounts, signs them in, and shows them the dashboard.
type userAPI struct {
	users   *user.People
	signIn  *signin.Service
	screens *dashboard.Dashboard
}

// newUsers puts together what concerns the users of accounts.
func newUsers(c Config, d Deps, b base, shared visitor) (userAPI, error) {
	if err := signin.Forget(b.jobs, d.Postgres); err != nil {
		return userAPI{}, err
	}
	script, err := frame.PasskeyScript()
	if err != nil {
		return userAPI{}, err
	}
	in, err := signin.New(c.SignIn, signin.Deps{Postgres: d.Postgres, Tokens: d.Tokens, Pages: b.pages, Mail: b.mails,
		Limiter: shared.limiter, Addresses: shared.addresses, Log: d.Log, Script: script})
	if err != nil {
		return userAPI{}, err
	}
	screens, err := dashboard.New(dashboard.Config{MaxFileBytes: c.MaxFileBytes},
		dashboard.Deps{Pages: b.pages, Sessions: in, Passkeys: in})
	if err != nil {
		return userAPI{}, err
	}
	users := user.New(user.Deps{Postgres: d.Postgres, Mail: b.mails, Limiter: shared.limiter, Site: b.pages.URL("")})
	return userAPI{users, in, screens}, nil
}

func (p userAPI) register(a *api.API) {
	p.users.Register(a)
	p.signIn.Register(a)
	p.screens.Register(a)
}
