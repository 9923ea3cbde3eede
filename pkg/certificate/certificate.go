// Package certificate reads the certificates of TLS connections from files.
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
	if _, err := c.roots(); err != nil {
		errs = append(errs, config.Invalid("--"+prefix+"tls-ca", "cannot be used: "+err.Error(), "name a readable file with certificates in PEM"))
	}
	if (c.Cert == "") != (c.Key == "") {
		errs = append(errs, config.Invalid("--"+prefix+"tls-key", "and --"+prefix+"tls-cert are not both given", "give both or neither"))
	} else if _, err := c.pair(); err != nil {
		errs = append(errs, config.Invalid("--"+prefix+"tls-cert", "cannot be used: "+err.Error(), "name readable files with a certificate and its key in PEM"))
	}
	return errors.Join(errs...)
}

// TLS reads the files, and returns the setting of one connection. The name of the server is the caller's to set.
func (c Client) TLS() (*tls.Config, error) {
	roots, err := c.roots()
	if err != nil {
		return nil, fmt.Errorf("read certificate authorities: %w", err)
	}
	pair, err := c.pair()
	if err != nil {
		return nil, fmt.Errorf("read certificate: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: pair}, nil
}

// roots returns nil for the system's.
func (c Client) roots() (*x509.CertPool, error) {
	if c.CA == "" {
		return nil, nil //nolint:nilnil // documented
	}
	text, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the file
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, errors.New(c.CA + " has no certificate in PEM")
	}
	return roots, nil
}

func (c Client) pair() ([]tls.Certificate, error) {
	if c.Cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says which file it is about
	}
	return []tls.Certificate{pair}, nil
}
