package mail

import (
	"cmp"
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/idna"

	"lodestone/pkg/config"
	"lodestone/pkg/email"
)

// Config is the setting of mails.
type Config struct {
	URL     string `name:"smtp-url" placeholder:"URL" help:"SMTP server to send mails through, as smtp://user:password@host:587 (STARTTLS) or smtps://user:password@host:465 (TLS). If empty, mails wait in the queue and are given up after a day; up shows them in its own mailbox instead. Secret."`
	TLS     string `name:"smtp-tls" default:"required" enum:"required,optional" help:"Whether an smtp:// server must offer TLS with a certificate that is valid for its name: required, or optional for a relay on a private network. TLS is always optional for a server on this machine."`
	From    string `name:"mail-from" placeholder:"ADDRESS" help:"Sender of mails, such as Example <hello@example.com>. The SMTP server must be allowed to send for that domain. Required with --smtp-url."`
	ReplyTo string `name:"mail-reply-to" placeholder:"ADDRESS" help:"Address for replies to mails. Default: the sender."`
}

// Enabled reports whether mails are sent.
func (c Config) Enabled() bool { return c.URL != "" }

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	if c.Enabled() {
		if _, err := parseServer(c.URL); err != nil {
			errs = append(errs, err)
		}
		if c.From == "" {
			errs = append(errs, config.Invalid("--mail-from", "is missing", "give the address that mails come from"))
		}
	}
	if c.TLS != "" && c.TLS != tlsRequired && c.TLS != tlsOptional {
		errs = append(errs, config.Invalid("--smtp-tls", "is unknown", "give required or optional"))
	}
	for setting, text := range map[string]string{"--mail-from": c.From, "--mail-reply-to": c.ReplyTo} {
		if text == "" {
			continue
		}
		if _, err := parseSender(text); err != nil {
			errs = append(errs, config.Invalid(setting, "is not an address",
				"write it like hello@example.com or Example <hello@example.com>"))
		}
	}
	return errors.Join(errs...)
}

const (
	tlsRequired = "required"
	tlsOptional = "optional"
)

// server is the parsed --smtp-url.
type server struct {
	host     string
	port     string
	user     string
	password string
	implicit bool // TLS from the first byte
}

// loopback reports whether the server is on this machine, where no one listens in between.
func (s server) loopback() bool {
	ip, err := netip.ParseAddr(s.host)
	return s.host == "localhost" || err == nil && ip.IsLoopback()
}

// parseServer's errors repeat nothing of the URL, which holds a password.
func parseServer(text string) (server, error) {
	bad := config.Invalid("--smtp-url", "cannot be used",
		"write smtp://user:password@host:587 or smtps://user:password@host:465, with special characters of the password percent-encoded")
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return server{}, bad
	}
	s := server{host: u.Hostname(), port: u.Port()}
	switch u.Scheme {
	case "smtp":
		if s.port == "" {
			s.port = "587"
		}
	case "smtps":
		s.implicit = true
		if s.port == "" {
			s.port = "465"
		}
	default:
		return server{}, bad
	}
	if u.User != nil {
		s.user = u.User.Username()
		var given bool
		if s.password, given = u.User.Password(); !given || s.user == "" {
			return server{}, bad
		}
	}
	return s, nil
}

// parseSender reads an address with or without a name.
func parseSender(text string) (*mail.Address, error) {
	a, err := mail.ParseAddress(text)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(a.Name, isControl) {
		return nil, errors.New("the name has control characters")
	}
	a.Address, err = wire(a.Address)
	return a, err
}

// localSender is the sender of mails that are not sent.
const localSender = "Lodestone <lodestone@localhost>"

// senders returns the From and Reply-To addresses of mails. Reply-To may be nil.
func (c Config) senders() (from, replyTo *mail.Address, err error) {
	if from, err = parseSender(cmp.Or(c.From, localSender)); err != nil {
		return nil, nil, fmt.Errorf("read sender of mails: %w", err)
	}
	if c.ReplyTo == "" {
		return from, nil, nil
	}
	if replyTo, err = parseSender(c.ReplyTo); err != nil {
		return nil, nil, fmt.Errorf("read reply address of mails: %w", err)
	}
	return from, replyTo, nil
}

// CanReach reports whether mail can be sent to an address.
func CanReach(address string) bool {
	_, err := wire(address)
	return err == nil
}

// wire returns an address as servers take it: what is not ASCII in a domain's name is encoded
// (IDNA). One that is not an address as we know it, or has a domain without a dot that is not
// localhost, is an error.
func wire(text string) (string, error) {
	local, domain, found := strings.Cut(text, "@")
	if found && domain == "localhost" && !strings.ContainsFunc(local, isControl) && local != "" {
		return text, nil
	}
	address, err := email.Parse(text)
	if err != nil {
		return "", err
	}
	local, domain, _ = strings.Cut(address.Text, "@")
	ascii, err := idna.Lookup.ToASCII(domain)
	if err != nil {
		return "", err
	}
	return local + "@" + ascii, nil
}
