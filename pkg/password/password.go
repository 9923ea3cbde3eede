// Package password hashes passwords and passcodes, and checks them.
package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
)

// The cost of a hash: OWASP's recommendation for argon2id with the least memory.
const (
	memoryKiB = 19 * 1024
	passes    = 2
	lanes     = 1
	saltBytes = 16
	hashBytes = 32
	// maxHashing is how many hashes a Hasher computes at once, each in memoryKiB.
	maxHashing = 2
)

var errHash = errors.New("the stored password hash has another form")

// Hasher hashes passwords and checks them, a few at a time. It is safe for concurrent use.
type Hasher struct{ free chan struct{} }

// New returns a hasher.
func New() *Hasher { return &Hasher{make(chan struct{}, maxHashing)} }

func (p *Hasher) derive(ctx context.Context, password string, salt []byte, time, memory uint32) ([]byte, error) {
	select {
	case p.free <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait to hash a password: %w", ctx.Err())
	}
	defer func() { <-p.free }()
	return argon2.IDKey([]byte(password), salt, time, memory, lanes, hashBytes), nil
}

// Hash returns what is stored of a password, in the form of the reference implementation
// ($argon2id$v=19$m=…).
func (p *Hasher) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails: crypto/rand ends the process instead
	sum, err := p.derive(ctx, password, salt, passes, memoryKiB)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKiB, passes, lanes,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum)), nil
}

// Check reports whether a password is the one of a hash.
func (p *Hasher) Check(ctx context.Context, password, stored string) (bool, error) {
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != "v="+strconv.Itoa(argon2.Version) {
		return false, errHash
	}
	var memory, time, threads uint32
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &time, &threads); err != nil || threads != lanes {
		return false, errHash
	}
	salt, errSalt := base64.RawStdEncoding.DecodeString(parts[4])
	want, errSum := base64.RawStdEncoding.DecodeString(parts[5])
	if errSalt != nil || errSum != nil {
		return false, errHash
	}
	sum, err := p.derive(ctx, password, salt, time, memory)
	return err == nil && subtle.ConstantTimeCompare(sum, want) == 1, err
}
