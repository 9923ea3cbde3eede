package kafka_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test/enginetest"
)

func ping(t *testing.T, c kafka.Config) error {
	t.Helper()
	require.NoError(t, c.Validate())
	cl, err := kgo.NewClient(append(c.Options(slog.New(slog.DiscardHandler)), kgo.RequestRetries(0))...)
	require.NoError(t, err)
	defer cl.Close()
	return cl.Ping(t.Context())
}

// requirePing waits until the broker takes a login: on a busy machine connections may take longer
// than they may, and the broker learns of users by its log.
func requirePing(t *testing.T, c kafka.Config, why ...any) {
	t.Helper()
	require.Eventually(t, func() bool { return ping(t, c) == nil }, enginetest.Timeout, 100*time.Millisecond, why...)
}

// MSK's login is a request that is signed with the keys of AWS, which franz-go makes; no broker
// here takes it. So this asks whether the keys come from the setting.
func TestKeysOfAWS(t *testing.T) {
	t.Parallel()
	l := kafka.Login{Mechanism: "aws-msk-iam", User: "AKIDEXAMPLE", Password: "a secret key", TLS: true}
	m := kafka.MechanismOf(l)
	require.Equal(t, "AWS_MSK_IAM", m.Name())
	_, message, err := m.Authenticate(t.Context(), "b-1.example.kafka.eu-central-1.amazonaws.com:9198")
	require.NoError(t, err)
	require.Contains(t, string(message), "AKIDEXAMPLE/")
	require.Contains(t, string(message), "eu-central-1")
	require.NotContains(t, string(message), l.Password)
}

func TestSettingsOfLogins(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		login kafka.Login
		want  string
	}{
		{kafka.Login{Mechanism: "plain"}, "--kafka-sasl-user"},
		{kafka.Login{Mechanism: "aws-msk-iam"}, "--kafka-tls"},
		{kafka.Login{Mechanism: "aws-msk-iam", TLS: true, User: "x"}, "--kafka-sasl-password"},
	} {
		err := kafka.Config{Brokers: []string{"broker:9092"}, Login: c.login}.Validate()
		require.True(t, config.IsInvalid(err), fmt.Sprint(i))
		require.ErrorContains(t, err, c.want)
	}
	require.NoError(t, kafka.Config{Brokers: []string{"broker:9092"}, Login: kafka.Login{TLS: true}}.Validate())
}
