package token_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lodestone/pkg/config"
	"lodestone/pkg/token"
)

func ring(t testing.TB, keys ...token.Config) *token.Ring {
	t.Helper()
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = k.Keys
	}
	r, err := token.Config{Keys: strings.Join(list, ",")}.Ring()
	require.NoError(t, err)
	return r
}

func access() token.Claims {
	return token.Claims{
		AccountID: uuid.New(), LeadMagnetID: uuid.New(), GenericLinkID: uuid.New(),
		AccessLinkID: uuid.New(), MagnetVersion: 7,
	}
}

func requireInvalid(t require.TestingT, r *token.Ring, text string) {
	c, err := r.Verify([]byte(text))
	require.ErrorIs(t, err, token.ErrInvalid, text)
	require.Zero(t, c)
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	r := ring(t, token.NewKeys(3))
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.Custom(func(t *rapid.T) uuid.UUID {
			return uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t,
				"id"))
		})
		want := token.Claims{
			AccountID: id.Draw(t, "account"), LeadMagnetID: id.Draw(t, "magnet"),
			GenericLinkID: rapid.OneOf(rapid.Just(uuid.Nil), id).Draw(t, "generic"),
			AccessLinkID:  rapid.OneOf(rapid.Just(uuid.Nil), id).Draw(t, "access"),
			MagnetVersion: rapid.Uint32().Draw(t, "version"),
		}
		text := r.Sign(want)
		require.Regexp(t, "^[A-Za-z0-9_-]+$", text, "safe in a URL and in HTML")
		require.LessOrEqual(t, len(text), 116)
		got, err := r.Verify([]byte(text))
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestEveryAlteredByteIsNoticed(t *testing.T) {
	t.Parallel()
	r := ring(t, token.NewKeys(3))
	landing := access()
	landing.AccessLinkID = uuid.Nil
	for _, c := range []token.Claims{access(), landing} {
		body, err := base64.RawURLEncoding.DecodeString(r.Sign(c))
		require.NoError(t, err)
		for i := range body {
			for bit := range 8 {
				altered := bytes.Clone(body)
				altered[i] ^= 1 << bit
				requireInvalid(t, r, base64.RawURLEncoding.EncodeToString(altered))
			}
		}
		for n := range body {
			requireInvalid(t, r, base64.RawURLEncoding.EncodeToString(body[:n]))
		}
		for _, more := range []int{1, 15, 16, 17, 32, 1000} {
			requireInvalid(t, r, base64.RawURLEncoding.EncodeToString(append(bytes.Clone(body), make([]byte, more)...)))
		}
	}
}

func TestOneSpellingOnly(t *testing.T) {
	t.Parallel()
	r := ring(t, token.NewKeys(3))
	c := access()
	c.GenericLinkID = uuid.Nil // a length that leaves bits of the last character unused
	text := r.Sign(c)
	require.NotZero(t, len(text)*6%8)
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, text[len(text)-1])
	for unused := 1; unused < 4; unused++ {
		requireInvalid(t, r, text[:len(text)-1]+string(alphabet[last^unused]))
	}
	for _, other := range []string{
		text + "=", text + "==", text + "\n", "\r\n" + text, " " + text, text[:8] + "\n" + text[8:],
		strings.NewReplacer("-", "+", "_", "/").Replace(strings.Repeat("-_", 10) + text), text + text,
		"", "A", text[1:], text + "A",
	} {
		requireInvalid(t, r, other)
	}
	body, err := base64.RawURLEncoding.DecodeString(text)
	require.NoError(t, err)
	if padded := base64.StdEncoding.EncodeToString(body); padded != text {
		requireInvalid(t, r, padded)
	}
}

func TestWrongKey(t *testing.T) {
	t.Parallel()
	text := ring(t, token.NewKeys(1)).Sign(access())
	requireInvalid(t, ring(t, token.NewKeys(1)), text) // the same id, another key
	requireInvalid(t, ring(t, token.NewKeys(2)), text) // another id
}

func TestRotation(t *testing.T) {
	t.Parallel()
	old, fresh := token.NewKeys(1), token.NewKeys(2)
	c := access()
	before := ring(t, old).Sign(c)
	both := ring(t, fresh, old)
	after := both.Sign(c)
	require.NotEqual(t, before, after)
	for _, text := range []string{before, after} {
		got, err := both.Verify([]byte(text))
		require.NoError(t, err)
		require.Equal(t, c, got)
	}
	requireInvalid(t, ring(t, fresh), before)
	requireInvalid(t, ring(t, old), after)
}

func TestSettings(t *testing.T) {
	t.Parallel()
	good := token.NewKeys(9).Keys
	secret := strings.TrimPrefix(good, "9:")
	standard := strings.NewReplacer("-", "+", "_", "/").Replace(secret) + "="
	for _, keys := range []string{good, "9:" + standard, " " + good + " , 10:" + secret} {
		require.NoError(t, token.Config{Keys: keys}.Validate(), keys)
	}
	for _, keys := range []string{
		"", ",", good + ",", secret, ":" + secret, "256:" + secret, "-1:" + secret, "x:" + secret, "9:",
		"9:" + secret[:42], "9:" + secret + secret,
		"9:" + strings.Repeat("!", 43), good + "," + good,
	} {
		err := token.Config{Keys: keys}.Validate()
		require.Error(t, err, keys)
		require.True(t, config.IsInvalid(err))
		require.Contains(t, err.Error(), "--token-keys")
		require.NotContains(t, err.Error(), secret[:20], "the error tells a key")
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	r := ring(t, token.NewKeys(1), token.NewKeys(2))
	done := make(chan struct{})
	const workers = 8
	for range workers {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 200 {
				c := access()
				got, err := r.Verify([]byte(r.Sign(c)))
				if err != nil || got != c {
					t.Errorf("got %v, %v", got, err)
				}
			}
		}()
	}
	for range workers {
		<-done
	}
}

func TestVerifyAllocatesNothing(t *testing.T) {
	r := ring(t, token.NewKeys(1))
	text := []byte(r.Sign(access()))
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		if _, err := r.Verify(text); err != nil {
			t.Error(err)
		}
	}))
}

// FuzzVerify: nothing verifies but what Sign makes, letter for letter.
func FuzzVerify(f *testing.F) {
	r, err := token.Config{Keys: "1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}.Ring()
	require.NoError(f, err)
	for _, c := range []token.Claims{{}, {AccountID: uuid.UUID{1}, LeadMagnetID: uuid.UUID{2}},
		{GenericLinkID: uuid.UUID{3}}, {AccessLinkID: uuid.UUID{4}}, access()} {
		f.Add([]byte(r.Sign(c)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := r.Verify(text)
		if err != nil {
			require.ErrorIs(t, err, token.ErrInvalid)
			require.Zero(t, c)
			return
		}
		require.Equal(t, string(text), r.Sign(c))
	})
}

func BenchmarkVerify(b *testing.B) {
	r := ring(b, token.NewKeys(1))
	text := []byte(r.Sign(access()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Verify(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSign(b *testing.B) {
	r, c := ring(b, token.NewKeys(1)), access()
	b.ReportAllocs()
	for b.Loop() {
		r.Sign(c)
	}
}

func TestDerivedKeys(t *testing.T) {
	t.Parallel()
	setting, other := token.NewKeys(1), token.NewKeys(2)
	ring := func(keys string) *token.Ring {
		r, err := token.Config{Keys: keys}.Ring()
		require.NoError(t, err)
		return r
	}
	a := ring(setting.Keys).Derive("a")
	require.Equal(t, a, ring(setting.Keys+","+other.Keys).Derive("a"), "the first key counts")
	require.NotEqual(t, a, ring(other.Keys+","+setting.Keys).Derive("a"))
	require.NotEqual(t, a, ring(setting.Keys).Derive("b"))
	require.NotZero(t, a)
	// After a rotation the key of before still verifies.
	require.Equal(t, [][token.KeyBytes]byte{ring(other.Keys).Derive("a"), a},
		ring(other.Keys+","+setting.Keys).DeriveEach("a"))
}
