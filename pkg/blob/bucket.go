// Package blob opens buckets of S3-compatible stores, keeps small documents in a bucket or a
// directory, and writes files that are whole or not there.
package blob

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"lodestone/pkg/certificate"
	"lodestone/pkg/config"
)

// Config says how the store is reached that has files, backups and exports.
type Config struct {
	Endpoint  string `name:"s3-endpoint" default:"https://s3.amazonaws.com" help:"Address of the S3-compatible store."`
	Region    string `name:"s3-region" placeholder:"REGION" help:"Region of the bucket. Default: the store is asked."`
	AccessKey string `name:"s3-access-key" placeholder:"KEY" help:"Access key of the store. Default: AWS_ACCESS_KEY_ID, or the role of the machine. Secret."`
	SecretKey string `name:"s3-secret-key" placeholder:"KEY" help:"Secret key of the store. Secret."`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	if _, err := c.endpoint(); err != nil {
		errs = append(errs, config.Invalid("--s3-endpoint", "cannot be used", "write https://host:port"))
	}
	if (c.AccessKey == "") != (c.SecretKey == "") {
		errs = append(errs, config.Invalid("--s3-secret-key",
			"and --s3-access-key are not both given", "give both or neither"))
	}
	return errors.Join(errs...)
}

func (c Config) endpoint() (*url.URL, error) {
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("not an http or https URL") // the value may hold a secret
	}
	return u, nil
}

// maxRetries is for requests that a store refuses for a moment: someone waits for the answer.
const maxRetries = 3

// Open returns a client of the store. It does not connect.
func (c Config) Open() (*minio.Client, error) {
	keys := credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{},
		&credentials.IAM{Client: http.DefaultClient}})
	if c.AccessKey != "" {
		keys = credentials.NewStaticV4(c.AccessKey, c.SecretKey, "")
	}
	endpoint, err := c.endpoint()
	if err != nil {
		return nil, fmt.Errorf("open object store: %w", err)
	}
	secure := endpoint.Scheme == "https"
	base, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, fmt.Errorf("open object store: %w", err)
	}
	client, err := minio.New(endpoint.Host, &minio.Options{
		Creds: keys, Secure: secure, Region: c.Region, MaxRetries: maxRetries, Transport: certificate.HTTP(base),
	})
	if err != nil {
		return nil, fmt.Errorf("open object store: %w", err)
	}
	return client, nil
}

// Location is a place in a bucket.
type Location struct {
	Bucket string
	Prefix string // of the names of objects; empty, or ends with a slash
}

// ParseLocation reads an address such as s3://bucket/prefix. It reports whether the text is one.
func ParseLocation(text string) (Location, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return Location{}, false
	}
	l := Location{Bucket: u.Host}
	if prefix := strings.Trim(u.Path, "/"); prefix != "" {
		l.Prefix = prefix + "/"
	}
	return l, true
}
