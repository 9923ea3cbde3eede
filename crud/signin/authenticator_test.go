package signin_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/url"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// The flags of an authenticator's data.
const (
	present  = 1 << 0
	verified = 1 << 2
	attested = 1 << 6
)

// authenticator is one in software, with one passkey.
type authenticator struct {
	origin, party string // of the page, and the site that the passkey is of
	flags         byte
	counter       uint32
	id, user      []byte
	key           *ecdsa.PrivateKey
}

func newAuthenticator(t *testing.T) *authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	id := uuid.New()
	return &authenticator{origin: site, party: "links.example.com", flags: present | verified, id: id[:], key: key}
}

// options are those that the site sends, as far as the authenticator needs them.
type options struct {
	PublicKey struct {
		Challenge string
		User      struct{ ID, Name string }
		Party     struct{ ID string } `json:"rp"`

		UserVerification       string
		Attestation            string
		AuthenticatorSelection struct{ ResidentKey, UserVerification string }
		AllowCredentials       []any
		ExcludeCredentials     []struct{ ID string }
	} `json:"publicKey"`
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// data is the authenticator's data, with more behind it.
func (a *authenticator) data(flags byte, more ...byte) []byte {
	sum := sha256.Sum256([]byte(a.party))
	return append(binary.BigEndian.AppendUint32(append(sum[:], flags), a.counter), more...)
}

// client is the data of the browser.
func (a *authenticator) client(t *testing.T, kind, challenge string) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.origin,
		"crossOrigin": false})
	require.NoError(t, err)
	return text
}

func (a *authenticator) answer(t *testing.T, response map[string]string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"id": b64(a.id), "rawId": b64(a.id), "type": "public-key",
		"clientExtensionResults": map[string]any{}, "response": response})
	require.NoError(t, err)
	return string(text)
}

// create makes the passkey, and returns the answer to the site.
func (a *authenticator) create(t *testing.T, o options) string {
	t.Helper()
	var err error
	a.user, err = base64.RawURLEncoding.DecodeString(o.PublicKey.User.ID)
	require.NoError(t, err)
	point, err := a.key.PublicKey.Bytes() // 4, x, y
	require.NoError(t, err)
	// A COSE key in CBOR: {1: 2, 3: -7, -1: 1, -2: x, -3: y}.
	public := bytes.Join([][]byte{{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, point[1:33], {0x22, 0x58, 32},
		point[33:]}, nil)
	more := bytes.Join([][]byte{make([]byte, 16), {0, byte(len(a.id))}, a.id, public}, nil)
	data := a.data(a.flags|attested, more...)
	// {"fmt": "none", "attStmt": {}, "authData": data}
	object := append([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), byte(len(data)))
	return a.answer(t, map[string]string{"attestationObject": b64(append(object, data...)),
		"clientDataJSON": b64(a.client(t, "webauthn.create", o.PublicKey.Challenge))})
}

// get signs a challenge with the passkey.
func (a *authenticator) get(t *testing.T, o options) string {
	t.Helper()
	a.counter++
	return a.sign(t, o)
}

func (a *authenticator) sign(t *testing.T, o options) string {
	t.Helper()
	client, data := a.client(t, "webauthn.get", o.PublicKey.Challenge), a.data(a.flags)
	hash := sha256.Sum256(client)
	sum := sha256.Sum256(append(bytes.Clone(data), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, sum[:])
	require.NoError(t, err)
	return a.answer(t, map[string]string{"authenticatorData": b64(data), "signature": b64(signature),
		"userHandle": b64(a.user), "clientDataJSON": b64(client)})
}

const (
	passkeys    = "/dashboard/settings/passkeys"
	withPasskey = "/dashboard/sign-in/passkey"
)

// challenge asks for a challenge as the script of a page does.
func (b *browser) challenge(t *testing.T, path, token string) (o options) {
	t.Helper()
	r := b.send(t, "POST", path+"/challenge", nil, "X-CSRF-Token", token, "Sec-Fetch-Site", "same-origin",
		"Sec-Fetch-Dest", "empty")
	require.Equal(t, 200, r.status, r.body)
	require.Equal(t, "application/json", r.header.Get("Content-Type"))
	require.Equal(t, "no-store", r.header.Get("Cache-Control"))
	require.NoError(t, json.Unmarshal([]byte(r.body), &o, json.MatchCaseInsensitiveNames(true)), r.body)
	return o
}

// own is the token of the forms of a browser that is signed in.
func (b *browser) own(t *testing.T) string {
	t.Helper()
	return csrf(t, b.get(t, "/dashboard/settings"))
}

// add sends the answer of an authenticator that made a passkey, and returns where it leads.
func (b *browser) add(t *testing.T, answer, name string) string {
	t.Helper()
	r := b.send(t, "POST", passkeys, url.Values{"csrf": {b.own(t)}, "credential": {answer}, "name": {name}})
	require.Equal(t, 303, r.status, r.body)
	return r.header.Get("Location")
}

// addPasskey adds a passkey of the person that a browser has signed in.
func (b *browser) addPasskey(t *testing.T, name string) *authenticator {
	t.Helper()
	a := newAuthenticator(t)
	require.Equal(t, passkeys+"?done=passkey", b.add(t, a.create(t, b.challenge(t, passkeys, b.own(t))), name))
	return a
}

// ready returns a challenge for a browser on the sign-in page, and the token of its forms.
func (b *browser) ready(t *testing.T) (o options, token string) {
	t.Helper()
	token = csrf(t, b.get(t, "/dashboard/sign-in"))
	return b.challenge(t, withPasskey, token), token
}

// press sends an answer to a challenge of the sign-in page.
func (b *browser) press(t *testing.T, token, answer string) reply {
	t.Helper()
	return b.send(t, "POST", withPasskey, url.Values{"csrf": {token}, "credential": {answer},
		"next": {"/dashboard/settings?tab=keys"}})
}
