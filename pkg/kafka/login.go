package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/aws"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"lodestone/pkg/certificate"
	"lodestone/pkg/config"
)

// Login configures the connection to Kafka and its credentials.
type Login struct {
	TLS       bool   `name:"kafka-tls" default:"false" help:"Connect to Kafka over TLS."`
	Mechanism string `name:"kafka-sasl-mechanism" default:"none" enum:"none,plain,scram-sha-256,scram-sha-512,aws-msk-iam" help:"How to log in to Kafka: none, plain, scram-sha-256, scram-sha-512 or aws-msk-iam."`
	User      string `name:"kafka-sasl-user" help:"User to log in to Kafka with; for aws-msk-iam the access key. Default for aws-msk-iam: the role of the machine."`
	Password  string `name:"kafka-sasl-password" help:"Password to log in to Kafka with; for aws-msk-iam the secret key. Secret."`
}

const (
	mskIAM      = "aws-msk-iam"
	dialTimeout = 4 * time.Second
)

func (l Login) validate() error {
	var errs []error
	invalid := func(setting, wrong, remedy string) { errs = append(errs, config.Invalid(setting, wrong, remedy)) }
	named := l.User != "" && l.Password != ""
	switch l.Mechanism {
	case "", "none":
	case mskIAM:
		if (l.User == "") != (l.Password == "") {
			invalid("--kafka-sasl-password", "and --kafka-sasl-user are not both given",
				"give both, or neither for the role of the machine")
		}
		if !l.TLS {
			invalid("--kafka-tls", "is needed for aws-msk-iam", "set it")
		}
	default:
		if !named {
			invalid("--kafka-sasl-mechanism", "needs a user and a password",
				"set --kafka-sasl-user and --kafka-sasl-password as well")
		}
	}
	return errors.Join(errs...)
}

// options returns the login in the form of franz-go.
func (l Login) options() []kgo.Opt {
	var opts []kgo.Opt
	if l.TLS {
		opts = append(opts, kgo.Dialer((&certificate.Dialer{NetDialer: &net.Dialer{Timeout: dialTimeout}}).DialContext))
	}
	if m := l.mechanism(); m != nil {
		opts = append(opts, kgo.SASL(m))
	}
	return opts
}

func (l Login) mechanism() sasl.Mechanism {
	switch l.Mechanism {
	case "plain":
		return plain.Auth{User: l.User, Pass: l.Password}.AsMechanism()
	case "scram-sha-256":
		return scram.Auth{User: l.User, Pass: l.Password}.AsSha256Mechanism()
	case "scram-sha-512":
		return scram.Auth{User: l.User, Pass: l.Password}.AsSha512Mechanism()
	case mskIAM:
		keys := l.keys()
		return aws.ManagedStreamingIAM(func(context.Context) (aws.Auth, error) {
			if l.User != "" {
				return aws.Auth{AccessKey: l.User, SecretKey: l.Password}, nil
			}
			k, err := keys.GetWithContext(&credentials.CredContext{Client: http.DefaultClient})
			if err != nil {
				return aws.Auth{}, fmt.Errorf("get the keys of the machine's role: %w", err)
			}
			return aws.Auth{AccessKey: k.AccessKeyID, SecretKey: k.SecretAccessKey, SessionToken: k.SessionToken}, nil
		})
	}
	return nil
}

// keys returns those of the machine's role.
func (l Login) keys() *credentials.Credentials {
	return credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{},
		&credentials.IAM{Client: http.DefaultClient}})
}
