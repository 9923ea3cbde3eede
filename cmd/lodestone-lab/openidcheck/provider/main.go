// Command provider is the example of an OpenID provider of zitadel/oidc, with everyone as its user.
// The browser's tests sign in by it.
//
// Who signs in types a subject and an address as the user name, with a question mark behind an
// address that the provider has not verified ("2 ada@example.com?"), and the password "secret".
package main

import (
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
)

func main() {
	listen := flag.String("listen", "", "`address` to listen on")
	issuer := flag.String("issuer", "", "`URL` of this provider")
	redirect := flag.String("redirect", "", "`URI` that it leads back to")
	flag.Parse()
	if err := run(*listen, *issuer, *redirect); err != nil {
		fmt.Fprintln(os.Stderr, "provider:", err)
		os.Exit(1)
	}
}

func run(listen, issuer, redirect string) error {
	storage.RegisterClients(storage.WebClient("lodestone", "secret", redirect))
	handler := exampleop.SetupServer(issuer, storage.NewStorage(&everyone{users: map[string]*storage.User{}}),
		slog.New(slog.DiscardHandler), false)
	server := &http.Server{Addr: listen, Handler: handler, ReadHeaderTimeout: time.Minute}
	return server.ListenAndServe()
}

// everyone has a user for each name that someone types.
type everyone struct {
	mu    sync.Mutex
	users map[string]*storage.User // by subject
}

func (e *everyone) GetUserByID(id string) *storage.User {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.users[id]
}

func (e *everyone) GetUserByUsername(name string) *storage.User {
	subject, address, found := strings.Cut(name, " ")
	if !found {
		return nil
	}
	address, unverified := strings.CutSuffix(address, "?")
	u := &storage.User{ID: subject, Username: name, Password: "secret", Email: address, EmailVerified: !unverified}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.users[subject] = u
	return u
}

// ExampleClientID implements storage.UserStore.
func (e *everyone) ExampleClientID() string { return storage.ServiceUserID }
