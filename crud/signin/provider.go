package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/uuid"
	"golang.org/x/oauth2"

	"lodestone/pkg/certificate"
	"lodestone/pkg/config"
)

// Config is the setting of signing in.
type Config struct {
	OpenIDIssuer       string `name:"openid-issuer" placeholder:"URL" help:"Issuer of an OpenID Connect provider for signing in to the dashboard. Register the redirect URI there: the public URL with /dashboard/sign-in/openid/callback. If empty, there is no provider."`
	OpenIDClientID     string `name:"openid-client-id" placeholder:"ID" help:"Client id of this installation at the OpenID Connect provider."`
	OpenIDClientSecret string `name:"openid-client-secret" placeholder:"SECRET" help:"Client secret at the OpenID Connect provider. Empty for a public client. Secret."`
	OpenIDName         string `name:"openid-name" default:"OpenID Connect" help:"Name of the provider on the sign-in page."`
	OpenIDTrustEmail   bool   `name:"openid-trust-email" help:"Accept addresses from an OpenID Connect provider that sends no claim email_verified, such as Entra ID. Set it only if the provider's administrators alone can choose addresses there. Addresses with email_verified false are still refused."`
	OpenIDAccount      string `name:"openid-account" placeholder:"ID" help:"Id of the account that everyone with a verified address at the OpenID Connect provider may join, as an analyst. If empty, only members of accounts and invited people can sign in."`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	if c.OpenIDIssuer == "" {
		return nil
	}
	var errs []error
	if u, err := url.Parse(c.OpenIDIssuer); err != nil || u.Host == "" || !trustworthy(u) ||
		u.RawQuery != "" || u.Fragment != "" {
		errs = append(errs, config.Invalid("--openid-issuer", "is not a full https URL",
			"write it exactly as the provider's discovery document has it"))
	}
	if c.OpenIDClientID == "" {
		errs = append(errs, config.Invalid("--openid-client-id", "is missing",
			"give the id of this installation at the provider"))
	}
	if c.OpenIDAccount != "" && uuid.Validate(c.OpenIDAccount) != nil {
		errs = append(errs, config.Invalid("--openid-account", "is not the id of an account",
			"give one that `lodestone account list` shows, or leave it out"))
	}
	return errors.Join(errs...)
}

// providerTimeout bounds a request to the OpenID Connect provider.
const providerTimeout = 10 * time.Second

// provider is the OpenID Connect provider of an installation. It is safe for concurrent use.
type provider struct {
	config   Config
	redirect string // URI that the provider leads back to
	client   *http.Client

	mu    sync.Mutex
	found *discovery
}

// discovery is the provider's own description of itself.
type discovery struct {
	*oidc.Provider
	oauth  oauth2.Config
	tokens *oidc.IDTokenVerifier
	named  bool // it says who it is when it leads back (RFC 9207)
}

// newProvider returns nil if the settings name no provider.
func newProvider(c Config, redirect string) *provider {
	if c.OpenIDIssuer == "" {
		return nil
	}
	return &provider{config: c, redirect: redirect, client: &http.Client{Timeout: providerTimeout,
		Transport: certificate.DefaultHTTP()}}
}

// errProvider says that the provider cannot be reached, or answers nonsense.
var errProvider = errors.New("the OpenID Connect provider does not answer as it should")

// discover asks the provider about itself until it has answered once.
func (p *provider) discover(ctx context.Context) (*discovery, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	// The context is also that of looking up the provider's keys later on.
	found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client), p.config.OpenIDIssuer)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errProvider, err)
	}
	var more struct {
		Named bool `json:"authorization_response_iss_parameter_supported"`
	}
	if err := found.Claims(&more); err != nil {
		return nil, fmt.Errorf("%w: %w", errProvider, err)
	}
	p.found = &discovery{
		Provider: found, named: more.Named, tokens: found.Verifier(&oidc.Config{ClientID: p.config.OpenIDClientID}),
		oauth: oauth2.Config{
			ClientID: p.config.OpenIDClientID, ClientSecret: p.config.OpenIDClientSecret,
			Endpoint: found.Endpoint(), RedirectURL: p.redirect,
			Scopes: []string{oidc.ScopeOpenID, "email"},
		},
	}
	return p.found, nil
}

// person is who the provider says has signed in there.
type person struct {
	issuer, subject string
	email           string
	doubt           doubt // why the address proves nothing; then it must not be used
}

// doubt is the error in the claims about an address; the zero value means none.
type doubt string

const (
	noAddress       doubt = "the claim email is missing"
	notVerified     doubt = "the claim email_verified is not true"
	nothingVerified doubt = "the claim email_verified is missing"
)

// text returns the key of the words for the person who signs in.
func (d doubt) text() string {
	switch d {
	case noAddress:
		return "signin.openid.no_address"
	case notVerified:
		return "signin.openid.not_verified"
	case nothingVerified:
		return "signin.openid.nothing_verified"
	default:
		return "signin.openid.stranger"
	}
}

// remedy says what an operator can do.
func (d doubt) remedy() string {
	switch d {
	case noAddress:
		return "have the provider send the address in the claim email"
	case notVerified:
		return "verify the address at the provider, or have its mapping of the claim say so"
	case nothingVerified:
		return "have the provider send the claim, or give --openid-trust-email if no one but its administrators can choose an address there"
	default:
		return "invite the person to an account"
	}
}

// claims are those of an ID token, or of the answer about a user.
type claims struct {
	Email    string    `json:"email"`
	Verified claimBool `json:"email_verified"`
}

// claimBool is a boolean, which some providers write as a text, and others leave out.
type claimBool struct{ given, yes bool }

// UnmarshalJSON implements json.Unmarshaler.
func (v *claimBool) UnmarshalJSON(text []byte) error {
	*v = claimBool{given: true, yes: string(text) == "true" || string(text) == `"true"`}
	return nil
}

// doubt returns the error in the claims. trusted accepts addresses from a provider that does not
// say whether it has verified them.
func (c claims) doubt(trusted bool) doubt {
	switch {
	case c.Email == "":
		return noAddress
	case c.Verified.given && !c.Verified.yes:
		return notVerified
	case !c.Verified.given && !trusted:
		return nothingVerified
	default:
		return ""
	}
}

// redeem trades a code for the person, if the ID token is of this issuer, for this client, not too
// old, and has the nonce.
func (p *provider) redeem(ctx context.Context, code string, secrets requestSecrets) (person, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return person{}, err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := found.oauth.Exchange(ctx, code, oauth2.VerifierOption(secrets.Verifier))
	if err != nil {
		return person{}, fmt.Errorf("%w: trade the code: %w", errProvider, err)
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return person{}, fmt.Errorf("%w: there is no ID token", errProvider)
	}
	id, err := found.tokens.Verify(ctx, raw)
	if err != nil {
		return person{}, fmt.Errorf("%w: verify the ID token: %w", errProvider, err)
	}
	if id.Nonce != secrets.Nonce {
		return person{}, fmt.Errorf("%w: the ID token is of another request", errProvider)
	}
	var c claims
	if err := id.Claims(&c); err != nil {
		return person{}, fmt.Errorf("%w: read the ID token: %w", errProvider, err)
	}
	if d := c.doubt(p.config.OpenIDTrustEmail); d == noAddress || d == nothingVerified { // some providers tell it apart
		more, err := p.ask(ctx, found, token, id.Subject)
		if err != nil && d == noAddress {
			return person{}, err
		}
		if err == nil && (d == noAddress || strings.EqualFold(more.Email, c.Email)) {
			c = more
		}
	}
	return person{issuer: id.Issuer, subject: id.Subject, email: c.Email, doubt: c.doubt(p.config.OpenIDTrustEmail)}, nil
}

// ask asks the provider about a user; nothing is known if it has no such endpoint.
func (p *provider) ask(ctx context.Context, found *discovery, token *oauth2.Token,
	subject string) (c claims, err error) {
	if found.UserInfoEndpoint() == "" {
		return c, nil
	}
	info, err := found.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return c, fmt.Errorf("%w: ask about the user: %w", errProvider, err)
	}
	if info.Subject != subject {
		return c, fmt.Errorf("%w: it tells about another user", errProvider)
	}
	if err := info.Claims(&c); err != nil {
		return c, fmt.Errorf("%w: read what it tells about the user: %w", errProvider, err)
	}
	return c, nil
}
