package kafka_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/certificate"
	"lodestone/pkg/config"
	"lodestone/pkg/engine/apachekafka"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/kafka"
)

// authority signs certificates and writes them, with their keys, to files.
type authority struct {
	*testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{T: t, dir: t.TempDir()}
	a.cert, a.key = a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "Authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	a.write("ca.pem", a.pem("CERTIFICATE", a.cert.Raw))
	return a
}

func (a *authority) sign(c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a, err)
	c.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<60))
	require.NoError(a, err)
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	require.NoError(a, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(a, err)
	return cert, key
}

func (a *authority) pem(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func (a *authority) write(name string, text ...[]byte) string {
	path := filepath.Join(a.dir, name)
	var all []byte
	for _, t := range text {
		all = append(all, t...)
	}
	require.NoError(a, os.WriteFile(path, all, 0o600))
	return path
}

// issue writes a certificate for servers at 127.0.0.1, and for clients.
func (a *authority) issue(name string) (cert, key, both string) {
	c, k := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	der, err := x509.MarshalPKCS8PrivateKey(k)
	require.NoError(a, err)
	certText, keyText := a.pem("CERTIFICATE", c.Raw), a.pem("PRIVATE KEY", der)
	return a.write(name+".pem", certText), a.write(name+"-key.pem", keyText), a.write(name+"-both.pem", certText, keyText)
}

func ping(t *testing.T, c kafka.Config) error {
	t.Helper()
	require.NoError(t, c.Validate())
	cl, err := kgo.NewClient(append(c.Options(slog.New(slog.DiscardHandler)), kgo.RequestRetries(0))...)
	require.NoError(t, err)
	defer cl.Close()
	return cl.Ping(t.Context())
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

// A real broker takes client certificates of its authority, and tokens, over TLS with the authority of our own.
func TestLogins(t *testing.T) {
	t.Parallel()
	ours, strangers := newAuthority(t), newAuthority(t)
	_, _, broker := ours.issue("broker")
	cert, key, _ := ours.issue("lodestone")
	at := map[string]string{}
	listener := func(name, protocol string, more map[string]string) apachekafka.Listener {
		properties := map[string]string{
			"ssl.keystore.type": "PEM", "ssl.keystore.location": broker, "ssl.truststore.type": "PEM", "ssl.truststore.location": filepath.Join(ours.dir, "ca.pem"),
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
		})))

	mutual := kafka.Config{Brokers: []string{at["MUTUAL"]}, Login: kafka.Login{Files: certificate.Client{CA: filepath.Join(ours.dir, "ca.pem"), Cert: cert, Key: key}}}
	require.NoError(t, ping(t, mutual))
	without := mutual
	without.Files.Cert, without.Files.Key = "", ""
	require.Error(t, ping(t, without), "a certificate is required")
	others := mutual
	others.Files.Cert, others.Files.Key, _ = strangers.issue("lodestone")
	require.Error(t, ping(t, others), "the broker trusts its authority only")
	untrusted := mutual
	untrusted.Files.CA = filepath.Join(strangers.dir, "ca.pem")
	require.ErrorContains(t, ping(t, untrusted), "unknown authority")
	system := mutual
	system.Files.CA, system.TLS = "", true
	require.ErrorContains(t, ping(t, system), "unknown authority")
	text, err := os.ReadFile(mutual.Files.CA)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(untrusted.Files.CA, text, 0o600))
	require.NoError(t, ping(t, untrusted), "a file that was replaced counts from the next connection on")

	token := kafka.Config{Brokers: []string{at["TOKEN"]}, Login: kafka.Login{
		Files: certificate.Client{CA: mutual.Files.CA}, Mechanism: "oauthbearer", TokenURL: tokens(t), User: "lodestone", Password: "open-sesame", Scopes: []string{"kafka", "events"},
	}}
	require.NoError(t, ping(t, token))
	wrong := token
	wrong.Password = "a wrong one"
	err = ping(t, wrong)
	require.ErrorContains(t, err, "invalid_client")
	require.NotContains(t, err.Error(), wrong.Password)
	file := token
	file.TokenURL, file.User, file.Password, file.TokenPath = "", "", "", ours.write("token", []byte("no token"))
	require.Error(t, ping(t, file))
	response, err := http.DefaultClient.Do(basic(t, token))
	require.NoError(t, err)
	var given struct {
		Token string `json:"access_token"`
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&given))
	require.NoError(t, response.Body.Close())
	ours.write("token", []byte(given.Token+"\n"))
	require.NoError(t, ping(t, file))
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
	a := newAuthority(t)
	cert, key, _ := a.issue("lodestone")
	garbage := a.write("garbage", []byte("no certificate"))
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
		{kafka.Login{Files: certificate.Client{CA: filepath.Join(a.dir, "missing")}}, "--kafka-tls-ca"},
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
