//go:build long

package kafka_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/config"
	"lodestone/pkg/engine/apachekafka"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/kafka"
)

// The password of the user changes, first in the file and then at the broker: no request under load fails, though each opens connections.
func TestRequestsOutliveANewPassword(t *testing.T) {
	t.Parallel()
	var at string
	cluster := enginetest.NewApacheKafka(t, t.TempDir(), 1, apachekafka.Listener{
		Name: "SCRAM", Protocol: "SASL_PLAINTEXT", Properties: map[string]string{
			"sasl.enabled.mechanisms":        "SCRAM-SHA-256",
			"scram-sha-256.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
		},
		Advertise: func(_ int, listening string) (string, error) {
			at = listening
			return listening, nil
		},
	})
	enginetest.Run(t, cluster)
	plain, err := kgo.NewClient(kgo.SeedBrokers(cluster.Brokers()...))
	require.NoError(t, err)
	t.Cleanup(plain.Close)
	set := func(password string) {
		t.Helper()
		answers, err := kadm.NewClient(plain).AlterUserSCRAMs(t.Context(), nil, []kadm.UpsertSCRAM{{User: "lodestone", Mechanism: kadm.ScramSha256, Iterations: 4096, Password: password}})
		require.NoError(t, err)
		require.NoError(t, answers.Error())
	}
	set("first")
	file := filepath.Join(t.TempDir(), "password")
	secret := config.NewSecret(config.SecretConfig{Setting: "--kafka-sasl-password", Path: file, Value: "first"})
	c := kafka.Config{Brokers: []string{at}, Login: kafka.Login{Mechanism: "scram-sha-256", User: "lodestone", Password: "first", Secret: secret}}
	require.NoError(t, c.Validate())

	stop, served := make(chan struct{}), &atomic.Int64{}
	var load sync.WaitGroup
	options := c.Options(slog.New(slog.DiscardHandler)) // of one client, whose connections share what they learnt
	for range 3 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				cl, err := kgo.NewClient(options...)
				if err == nil {
					// A broker that takes the new password between the try and the login refuses that login: what sends is repeated.
					if err = cl.Ping(context.Background()); errors.Is(err, kerr.SaslAuthenticationFailed) {
						err = cl.Ping(context.Background())
					}
					cl.Close()
				}
				if err != nil {
					t.Errorf("a request failed: %v", err)
					return
				}
				served.Add(1)
			}
		})
	}
	more := func() {
		t.Helper()
		before := served.Load()
		require.Eventually(t, func() bool { return served.Load() > before+20 || t.Failed() }, enginetest.Timeout, 5*time.Millisecond)
	}
	more()
	require.NoError(t, os.WriteFile(file, []byte("second\n"), 0o600))
	_, err = secret.Look()
	require.NoError(t, err)
	taken, err := secret.Look()
	require.NoError(t, err)
	require.True(t, taken)
	more()
	set("second")
	require.Eventually(t, func() bool { return len(secret.Candidates("")) == 1 || t.Failed() }, enginetest.Timeout, 5*time.Millisecond)
	more()
	close(stop)
	load.Wait()
}
