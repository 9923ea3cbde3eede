//go:build long

package kafka_test

import (
	"log/slog"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/kafka"
	"lodestone/pkg/test"
	"lodestone/pkg/test/apachekafka"
	"lodestone/pkg/test/enginetest"
)

// A real broker takes passwords by every mechanism, and tokens, over TLS with a certificate whose
// authority the system trusts.
func TestLogins(t *testing.T) {
	t.Parallel()
	ours := test.Trusted(t)
	broker, stranger := ours.Issue("broker"), test.NewAuthority(t).Issue("broker")
	at := map[string]string{}
	listener := func(name, protocol string, more map[string]string) apachekafka.Listener {
		properties := map[string]string{"ssl.keystore.type": "PEM", "ssl.keystore.location": broker.Both}
		maps.Copy(properties, more)
		return apachekafka.Listener{Name: name, Protocol: protocol, Properties: properties,
			Advertise: func(_ int, listening string) (string, error) {
				at[name] = listening
				return listening, nil
			}}
	}
	enginetest.Run(t, enginetest.NewApacheKafka(t, t.TempDir(), 1,
		listener("PLAIN", "SSL", nil),
		listener("STRANGE", "SSL", map[string]string{"ssl.keystore.location": stranger.Both}),
		listener("NAMED", "SASL_SSL", map[string]string{
			"sasl.enabled.mechanisms":        "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
			"plain.sasl.jaas.config":         `org.apache.kafka.common.security.plain.PlainLoginModule required user_lodestone="open-sesame";`,
			"scram-sha-256.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
			"scram-sha-512.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
		})))

	plain := kafka.Config{Brokers: []string{at["PLAIN"]}, Login: kafka.Login{TLS: true}}
	requirePing(t, plain)
	require.ErrorContains(t, ping(t, kafka.Config{Brokers: []string{at["STRANGE"]}, Login: kafka.Login{TLS: true}}),
		"SSL_CERT_FILE")

	admin, err := kgo.NewClient(plain.Options(slog.New(slog.DiscardHandler))...)
	require.NoError(t, err)
	defer admin.Close()
	for _, mechanism := range []kadm.ScramMechanism{kadm.ScramSha256, kadm.ScramSha512} { // a request may name a user once
		users, err := kadm.NewClient(admin).AlterUserSCRAMs(t.Context(), nil,
			[]kadm.UpsertSCRAM{{User: "lodestone", Mechanism: mechanism, Iterations: 4096, Password: "open-sesame"}})
		require.NoError(t, err)
		require.NoError(t, users.Error())
	}
	for _, mechanism := range []string{"plain", "scram-sha-256", "scram-sha-512"} {
		named := kafka.Config{Brokers: []string{at["NAMED"]}, Login: kafka.Login{
			TLS: true, Mechanism: mechanism, User: "lodestone", Password: "open-sesame",
		}}
		requirePing(t, named, mechanism)
		named.Password = "a wrong one"
		require.Error(t, ping(t, named), mechanism)
	}
}
