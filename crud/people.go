package crud

import (
	"lodestone/crud/dashboard"
	"lodestone/crud/mail"
	"lodestone/crud/queue"
	"lodestone/crud/signin"
	"lodestone/crud/user"
	"lodestone/crud/web"
	"lodestone/pkg/api"
)

// peopleAPI serves the people of accounts, signs them in, and shows them the dashboard.
type peopleAPI struct {
	users   *user.People
	signIn  *signin.Service
	screens *dashboard.Dashboard
}

// newPeople puts together what concerns the people of accounts.
func newPeople(c Config, d Deps, pages *web.Site, jobs *queue.Queue, mails *mail.Queue,
	shared visitor) (peopleAPI, error) {
	if err := signin.Forget(jobs, d.Postgres); err != nil {
		return peopleAPI{}, err
	}
	in, err := signin.New(c.SignIn, signin.Deps{Postgres: d.Postgres, Tokens: d.Tokens, Pages: pages, Mail: mails,
		Limiter: shared.limiter, Addresses: shared.addresses, Log: d.Log})
	if err != nil {
		return peopleAPI{}, err
	}
	screens, err := dashboard.New(dashboard.Config{MaxFileBytes: c.MaxFileBytes},
		dashboard.Deps{Pages: pages, Sessions: in})
	if err != nil {
		return peopleAPI{}, err
	}
	return peopleAPI{user.New(user.Deps{Postgres: d.Postgres, Mail: mails, Limiter: shared.limiter, Site: pages.URL("")}),
		in, screens}, nil
}

func (p peopleAPI) register(a *api.API) {
	p.users.Register(a)
	p.signIn.Register(a)
	p.screens.Register(a)
}
