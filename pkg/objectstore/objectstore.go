// Package objectstore opens buckets of S3-compatible stores.
package objectstore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"lodestone/pkg/certificate"
	"lodestone/pkg/config"
)

// Config says how a store is reached. Each part that uses a store embeds it with a prefix of its own.
type Config struct {
	Endpoint  string             `name:"s3-endpoint" default:"https://s3.amazonaws.com" help:"Address of the S3-compatible store."`
	Region    string             `name:"s3-region" placeholder:"REGION" help:"Region of the bucket. Default: asked from the store."`
	AccessKey string             `name:"s3-access-key" placeholder:"KEY" help:"Access key of the store. Default: AWS_ACCESS_KEY_ID, or the role of the machine. Secret."`
	SecretKey string             `name:"s3-secret-key" placeholder:"KEY" help:"Secret key of the store. Secret."`
	TLS       certificate.Client `embed:"" prefix:"s3-"`

	keys *keys // of files; nil: both keys are in none
}

// AfterApply implements the hook of kong.
func (c *Config) AfterApply(f *config.Files) error {
	access, secret := f.Secret(&c.AccessKey, nil), f.Secret(&c.SecretKey, func(key string) error { return verify(c, key) })
	if access != nil || secret != nil {
		c.keys = &keys{access: access, secret: secret, accessKey: c.AccessKey, secretKey: c.SecretKey}
	}
	return nil
}

// keys are those that files have. It implements credentials.Provider. An access key has a secret key of its own, so a new one counts when the
// secret key changes as well: write the access key first.
type keys struct {
	access, secret       *config.Secret
	accessKey, secretKey string // the pair that was used last, at first that of the start

	mu sync.Mutex
}

// Retrieve implements credentials.Provider.
func (k *keys) Retrieve() (credentials.Value, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.isExpired() {
		k.accessKey, k.secretKey = k.access.Value(k.accessKey), k.secret.Value(k.secretKey)
	}
	return credentials.Value{AccessKeyID: k.accessKey, SecretAccessKey: k.secretKey, SignerType: credentials.SignatureV4}, nil
}

// RetrieveWithCredContext implements credentials.Provider.
func (k *keys) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	return k.Retrieve()
}

// IsExpired implements credentials.Provider.
func (k *keys) IsExpired() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.isExpired()
}

func (k *keys) isExpired() bool {
	return k.secret.Value(k.secretKey) != k.secretKey
}

// Validate returns every problem of settings whose names have a prefix such as "export-".
func (c Config) Validate(prefix string) error {
	var errs []error
	if _, err := c.endpoint(); err != nil {
		errs = append(errs, config.Invalid("--"+prefix+"s3-endpoint", "cannot be used", "write https://host:port"))
	}
	if (c.AccessKey == "") != (c.SecretKey == "") {
		errs = append(errs, config.Invalid("--"+prefix+"s3-secret-key", "and --"+prefix+"s3-access-key are not both given", "give both or neither"))
	}
	return errors.Join(append(errs, c.TLS.Validate(prefix+"s3-"))...)
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

// Open returns a client of the store, whose settings have names with a prefix. It does not connect.
func (c Config) Open(prefix string) (*minio.Client, error) {
	keys := credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.IAM{Client: http.DefaultClient}})
	if c.AccessKey != "" {
		keys = credentials.NewStaticV4(c.AccessKey, c.SecretKey, "")
	}
	if c.keys != nil {
		keys = credentials.New(c.keys)
	}
	client, _, err := c.open(prefix, keys, maxRetries)
	return client, err
}

// open returns a client with keys, and what closes its idle connections.
func (c Config) open(prefix string, keys *credentials.Credentials, retries int) (client *minio.Client, closeIdle func(), err error) {
	endpoint, err := c.endpoint()
	if err != nil {
		return nil, nil, fmt.Errorf("open object store: %w", err)
	}
	secure := endpoint.Scheme == "https"
	base, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, nil, fmt.Errorf("open object store: %w", err)
	}
	client, err = minio.New(endpoint.Host, &minio.Options{
		Creds: keys, Secure: secure, Region: c.Region, MaxRetries: retries, Transport: c.TLS.Dialer(prefix + "s3-").HTTP(base),
	})
	if err != nil {
		return nil, nil, fmt.Errorf("open object store: %w", err)
	}
	return client, base.CloseIdleConnections, nil
}

// verifyTimeout bounds the question whether a store accepts a new key. Other secrets wait for its answer.
const verifyTimeout = 5 * time.Second

// wrongKeys are the answers of a store to keys that it does not know.
var wrongKeys = []string{"InvalidAccessKeyId", "SignatureDoesNotMatch"}

// verify asks the store whether it accepts a new secret key with the present access key. Any answer but that the keys are wrong will do: keys
// need no right to list buckets.
func verify(c *Config, secretKey string) error {
	setting := c.keys.secret.Setting()
	prefix := strings.TrimSuffix(strings.TrimPrefix(setting, "--"), "s3-secret-key")
	pair := credentials.NewStaticV4(c.keys.access.Value(c.AccessKey), secretKey, "")
	client, closeIdle, err := c.open(prefix, pair, 1)
	if err != nil {
		return err
	}
	defer closeIdle()
	ctx, cancel := context.WithTimeout(context.Background(), verifyTimeout)
	defer cancel()
	_, err = client.ListBuckets(ctx)
	switch answer := minio.ToErrorResponse(err); {
	case slices.Contains(wrongKeys, answer.Code):
		return config.Invalid(setting, "is refused by the store with the access key of --"+prefix+"s3-access-key", "write the access key first, then the secret key that belongs to it")
	case err != nil && answer.StatusCode == 0:
		return fmt.Errorf("ask the store whether it accepts the new secret key: %w", err)
	default:
		return nil
	}
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
