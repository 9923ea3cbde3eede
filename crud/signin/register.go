package signin

import (
	"net/http"

	"lodestone/crud/user"
	"lodestone/crud/web"
	"lodestone/pkg/api"
)

// Register mounts the pages.
func (s *Service) Register(a *api.API) {
	mount := func(pattern string, fn web.Handler) { s.deps.Pages.Mount(a, pattern, fn) }
	mount("GET "+signInPath, s.show)
	mount("POST "+signInPath, s.ask)
	mount("POST "+signInPath+"/key", s.byAPIKey)
	mount("GET "+signInPath+"/sent/{page}", s.waiting)
	mount("POST "+signInPath+"/sent/{page}", s.tryCode)
	mount("POST "+signInPath+"/sent/{page}/again", s.again)
	mount("GET "+signInPath+"/link/{link}", s.askToSignIn)
	mount("POST "+signInPath+"/link/{link}", s.pressed)
	mount("GET "+oncePath+"{link}", s.once)
	mount("GET "+openIDPath, s.toProvider)
	mount("GET "+callbackPath, s.fromProvider)
	mount("POST "+passkeyPath, s.signInByPasskey)
	mount("POST "+passkeyPath+"/challenge", s.challenge)
	mount("POST "+PasskeysPath, s.Require(s.addPasskey))
	mount("POST "+PasskeysPath+"/challenge", s.Require(s.newPasskey))
	mount("POST "+PasskeysPath+"/remove", s.Require(s.removePasskey))
	mount("GET "+user.InvitationPath+"{secret}", s.invited)
	mount("POST "+user.InvitationPath+"{secret}", s.join)
	mount("GET "+AccountsPath, s.Require(s.chooseAccount))
	mount("POST "+AccountsPath, s.Require(s.changeAccount))
	mount("POST "+signOutPath, s.Require(s.signOut))
	mount("GET "+signOutPath,
		func(w http.ResponseWriter, r *http.Request) error { return s.redirect(w, r, dashboardPath) })
}
