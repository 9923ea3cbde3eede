package kafka_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
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

// requirePing waits until the broker takes a login: on a busy machine connections may take longer than they may, and the broker learns of
// users by its log.
func requirePing(t *testing.T, c kafka.Config, why ...any) {
	t.Helper()
	require.Eventually(t, func() bool { return ping(t, c) == nil }, enginetest.Timeout, 100*time.Millisecond, why...)
}

// tokens is a server that gives tokens to the client of the test.
func tokens(t *testing.T) string {
	t.Helper()
	segment := func(v any) string {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		if id != "lodestone" || secret != "open-sesame" || r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "kafka events" {
			http.Error(w, `{"error":"invalid_client"}`, http.StatusUnauthorized)
			return
		}
		now := time.Now().Unix()
		token := segment(map[string]any{"alg": "none"}) + "." + segment(map[string]any{"sub": "lodestone", "iat": now, "exp": now + 600}) + "."
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": token, "token_type": "bearer", "expires_in": 600})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func basic(t *testing.T, c kafka.Config) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.TokenURL, strings.NewReader("grant_type=client_credentials&scope=kafka+events"))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(c.User, c.Password)
	return r
}

// MSK's login is a request that is signed with the keys of AWS, which franz-go makes; no broker here takes it. So this asks
// whether the keys come from the setting.
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
		{kafka.Login{Mechanism: "oauthbearer"}, "--kafka-oauth-token-path"},
		{kafka.Login{Mechanism: "oauthbearer", TokenURL: "https://id.example.com/token", TokenPath: "/x"}, "and not both"},
		{kafka.Login{Mechanism: "oauthbearer", TokenURL: "id.example.com"}, "--kafka-oauth-url"},
		{kafka.Login{Mechanism: "oauthbearer", TokenURL: "https://id.example.com/token"}, "--kafka-sasl-user"},
		{kafka.Login{Mechanism: "aws-msk-iam"}, "--kafka-tls"},
		{kafka.Login{Mechanism: "aws-msk-iam", TLS: true, User: "x"}, "--kafka-sasl-password"},
	} {
		err := kafka.Config{Brokers: []string{"broker:9092"}, Login: c.login}.Validate()
		require.True(t, config.IsInvalid(err), fmt.Sprint(i))
		require.ErrorContains(t, err, c.want)
	}
	require.NoError(t, kafka.Config{Brokers: []string{"broker:9092"}, Login: kafka.Login{TLS: true}}.Validate())
}
