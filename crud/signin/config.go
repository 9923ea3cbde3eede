package signin

import (
	"errors"
	"net/url"

	"github.com/google/uuid"

	"lodestone/pkg/config"
)

// Config is the setting of signing in.
type Config struct {
	OpenIDIssuer       string `name:"openid-issuer" placeholder:"URL" help:"Issuer of an OpenID Connect provider, by which people can sign in to the dashboard. The redirect URI to register there is the public URL with /dashboard/sign-in/openid/callback. If empty, there is none."`
	OpenIDClientID     string `name:"openid-client-id" placeholder:"ID" help:"Client id of this installation at the OpenID Connect provider."`
	OpenIDClientSecret string `name:"openid-client-secret" placeholder:"SECRET" help:"Client secret at the OpenID Connect provider. Empty for a public client. Secret."`
	OpenIDName         string `name:"openid-name" default:"OpenID Connect" help:"Name of the provider on the sign-in page."`
	OpenIDAccount      string `name:"openid-account" placeholder:"ID" help:"Id of the account that everyone with a verified address at the OpenID Connect provider may join, as an analyst. If empty, only people of accounts and those who are invited can sign in."`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	if c.OpenIDIssuer == "" {
		return nil
	}
	var errs []error
	if u, err := url.Parse(c.OpenIDIssuer); err != nil || u.Host == "" || !trustworthy(u) || u.RawQuery != "" || u.Fragment != "" {
		errs = append(errs, config.Invalid("--openid-issuer", "is not a full https URL", "write it exactly as the provider's discovery document has it"))
	}
	if c.OpenIDClientID == "" {
		errs = append(errs, config.Invalid("--openid-client-id", "is missing", "give the id that the provider has for this installation"))
	}
	if c.OpenIDAccount != "" && uuid.Validate(c.OpenIDAccount) != nil {
		errs = append(errs, config.Invalid("--openid-account", "is not the id of an account", "give one that `lodestone account list` shows, or leave it out"))
	}
	return errors.Join(errs...)
}
