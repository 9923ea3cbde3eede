package kafka_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/certificate"
	"lodestone/pkg/certificate/certificatetest"
	"lodestone/pkg/config"
	"lodestone/pkg/engine/apachekafka"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/kafka"
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

// A real broker takes client certificates of its authority, passwords by every mechanism, and tokens, over TLS with the authority of our own.
func TestLogins(t *testing.T) {
	t.Parallel()
	ours, strangers := certificatetest.NewAuthority(t), certificatetest.NewAuthority(t)
	broker, client := ours.Issue("broker"), ours.Issue("lodestone")
	at := map[string]string{}
	listener := func(name, protocol string, more map[string]string) apachekafka.Listener {
		properties := map[string]string{
			"ssl.keystore.type": "PEM", "ssl.keystore.location": broker.Both, "ssl.truststore.type": "PEM", "ssl.truststore.location": ours.CA,
		}
		maps.Copy(properties, more)
		return apachekafka.Listener{Name: name, Protocol: protocol, Properties: properties, Advertise: func(_ int, listening string) (string, error) {
			at[name] = listening
			return listening, nil
		}}
	}
	enginetest.Run(t, enginetest.NewApacheKafka(t, t.TempDir(), 1,
		listener("MUTUAL", "SSL", map[string]string{"ssl.client.auth": "required"}),
		listener("TOKEN", "SASL_SSL", map[string]string{
			"sasl.enabled.mechanisms":      "OAUTHBEARER",
			"oauthbearer.sasl.jaas.config": `org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`,
		}),
		listener("NAMED", "SASL_SSL", map[string]string{
			"sasl.enabled.mechanisms":        "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
			"plain.sasl.jaas.config":         `org.apache.kafka.common.security.plain.PlainLoginModule required user_lodestone="open-sesame";`,
			"scram-sha-256.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
			"scram-sha-512.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
		})))

	mutual := kafka.Config{Brokers: []string{at["MUTUAL"]}, Login: kafka.Login{Files: certificate.Client{CA: ours.CA, Cert: client.Cert, Key: client.Key}}}
	requirePing(t, mutual)
	without := mutual
	without.Files.Cert, without.Files.Key = "", ""
	require.ErrorContains(t, ping(t, without), "--kafka-tls-cert")
	others := mutual
	stranger := strangers.Issue("lodestone")
	others.Files.Cert, others.Files.Key = stranger.Cert, stranger.Key
	require.ErrorContains(t, ping(t, others), "does not take the certificate of --kafka-tls-cert")
	untrusted := mutual
	untrusted.Files.CA = strangers.CA
	require.ErrorContains(t, ping(t, untrusted), "which is not in the file of --kafka-tls-ca")
	system := mutual
	system.Files.CA, system.TLS = "", true
	require.ErrorContains(t, ping(t, system), "name a file with that authority's certificate in --kafka-tls-ca")
	text, err := os.ReadFile(mutual.Files.CA)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(untrusted.Files.CA, text, 0o600))
	requirePing(t, untrusted, "a file that was replaced counts from the next connection on")

	admin, err := kgo.NewClient(mutual.Options(slog.New(slog.DiscardHandler))...)
	require.NoError(t, err)
	defer admin.Close()
	for _, mechanism := range []kadm.ScramMechanism{kadm.ScramSha256, kadm.ScramSha512} { // a request may name a user once
		users, err := kadm.NewClient(admin).AlterUserSCRAMs(t.Context(), nil, []kadm.UpsertSCRAM{{User: "lodestone", Mechanism: mechanism, Iterations: 4096, Password: "open-sesame"}})
		require.NoError(t, err)
		require.NoError(t, users.Error())
	}
	for _, mechanism := range []string{"plain", "scram-sha-256", "scram-sha-512"} {
		named := kafka.Config{Brokers: []string{at["NAMED"]}, Login: kafka.Login{
			Files: certificate.Client{CA: mutual.Files.CA}, Mechanism: mechanism, User: "lodestone", Password: "open-sesame",
		}}
		requirePing(t, named, mechanism)
		named.Password = "a wrong one"
		require.Error(t, ping(t, named), mechanism)
	}

	write := func(text string) string {
		path := filepath.Join(ours.Dir, "token")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	token := kafka.Config{Brokers: []string{at["TOKEN"]}, Login: kafka.Login{
		Files: certificate.Client{CA: mutual.Files.CA}, Mechanism: "oauthbearer", TokenURL: tokens(t), User: "lodestone", Password: "open-sesame", Scopes: []string{"kafka", "events"},
	}}
	requirePing(t, token)
	wrong := token
	wrong.Password = "a wrong one"
	err = ping(t, wrong)
	require.ErrorContains(t, err, "invalid_client")
	require.NotContains(t, err.Error(), wrong.Password)
	file := token
	file.TokenURL, file.User, file.Password, file.TokenPath = "", "", "", write("no token")
	require.Error(t, ping(t, file))
	response, err := http.DefaultClient.Do(basic(t, token))
	require.NoError(t, err)
	var given struct {
		Token string `json:"access_token"`
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&given))
	require.NoError(t, response.Body.Close())
	write(given.Token + "\n")
	requirePing(t, file)
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
	a := certificatetest.NewAuthority(t)
	issued := a.Issue("lodestone")
	cert, key := issued.Cert, issued.Key
	garbage := filepath.Join(a.Dir, "garbage")
	require.NoError(t, os.WriteFile(garbage, []byte("no certificate"), 0o600))
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
		{kafka.Login{Files: certificate.Client{CA: filepath.Join(a.Dir, "missing")}}, "--kafka-tls-ca"},
		{kafka.Login{Files: certificate.Client{CA: garbage}}, "--kafka-tls-ca"},
		{kafka.Login{Files: certificate.Client{Cert: cert}}, "--kafka-tls-key"},
		{kafka.Login{Files: certificate.Client{Cert: cert, Key: garbage}}, "--kafka-tls-cert"},
	} {
		err := kafka.Config{Brokers: []string{"broker:9092"}, Login: c.login}.Validate()
		require.True(t, config.IsInvalid(err), fmt.Sprint(i))
		require.ErrorContains(t, err, c.want)
	}
	require.NoError(t, kafka.Config{Brokers: []string{"broker:9092"}, Login: kafka.Login{Files: certificate.Client{Cert: cert, Key: key}}}.Validate())
}
