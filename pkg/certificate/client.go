// Package certificate has the files of TLS connections: those of clients, which are read for each connection, and those of listeners, which
// are read again when they change.
package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"lodestone/pkg/config"
)

// Client names the files of a client, in PEM. They are read for every connection, so one that is replaced counts from the next
// connection on. Each part that connects embeds it with a prefix of its own.
type Client struct {
	CA   string `name:"tls-ca" placeholder:"FILE" help:"Certificate authorities to trust instead of the system's, in PEM. Read for each connection."`
	Cert string `name:"tls-cert" placeholder:"FILE" help:"Certificate to log in with, and those that it is signed with, in PEM. Read for each connection."`
	Key  string `name:"tls-key" placeholder:"FILE" help:"Key of the certificate, in PEM. Read for each connection."`
}

// IsSet reports whether any file is named.
func (c Client) IsSet() bool { return c != Client{} }

// Validate returns every problem of settings whose names have a prefix such as "kafka-". It reads the files.
func (c Client) Validate(prefix string) error {
	var errs []error
	if _, err := roots(c.CA); err != nil {
		errs = append(errs, config.Invalid("--"+prefix+"tls-ca", "cannot be used: "+err.Error(), "name a readable file with certificates in PEM"))
	}
	return errors.Join(append(errs, validatePair(prefix, c.Cert, c.Key))...)
}

// Dialer returns what connects with the files of settings whose names have a prefix.
func (c Client) Dialer(prefix string) *Dialer {
	return c.Named(Names{CA: "--" + prefix + "tls-ca", Cert: "--" + prefix + "tls-cert", Key: "--" + prefix + "tls-key"})
}

// Names are those of the settings of a Client, for errors.
type Names struct{ CA, Cert, Key string }

// Named returns what connects with the files of settings that have other names.
func (c Client) Named(n Names) *Dialer { return &Dialer{files: c, names: n} }

// TLS reads the files, and returns the setting of one connection. The name of the server is the caller's to set.
func (c Client) TLS() (*tls.Config, error) {
	trusted, err := roots(c.CA)
	if err != nil {
		return nil, fmt.Errorf("read certificate authorities: %w", err)
	}
	settings := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trusted}
	if c.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return nil, fmt.Errorf("read certificate: %w", err)
		}
		settings.Certificates = []tls.Certificate{pair}
	}
	return settings, nil
}

// roots returns nil, which stands for the system's, without a file.
func roots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // documented
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the file
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New(file + " has no certificate in PEM")
	}
	return pool, nil
}

// validatePair returns the problem of a certificate and its key, which may both be missing.
func validatePair(prefix, cert, key string) error {
	if (cert == "") != (key == "") {
		return config.Invalid("--"+prefix+"tls-key", "and --"+prefix+"tls-cert are not both given", "give both or neither")
	}
	if cert == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(cert, key); err != nil {
		return config.Invalid("--"+prefix+"tls-cert", "cannot be used: "+err.Error(), "name readable files with a certificate and its key in PEM")
	}
	return nil
}
