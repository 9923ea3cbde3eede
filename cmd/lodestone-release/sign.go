package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"aead.dev/minisign"
)

const signature = ".minisig"

// password is that of the key.
func password() string { return os.Getenv("LODESTONE_RELEASE_PASSWORD") }

// writeChecksums writes a file that `sha256sum --check` reads, over all files of a directory.
func writeChecksums(dir, name string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for _, e := range entries {
		sum, err := checksum(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, e.Name())
	}
	return writeFile(filepath.Join(dir, name), func(to io.Writer) error {
		_, err := to.Write(text.Bytes())
		return err
	})
}

func checksum(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, file)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, file.Close())
}

// sign writes a signature for each file of a release, with the version in the comment that is
// signed, and no time.
func sign(dir, key, password, version string) error {
	private, err := minisign.PrivateKeyFromFile(password, key)
	if err != nil {
		return fmt.Errorf("read the key (its password is in LODESTONE_RELEASE_PASSWORD): %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		file, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		reader := minisign.NewReader(file)
		_, err = io.Copy(io.Discard, reader)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
		text := reader.SignWithComments(private, "lodestone "+version+" file:"+e.Name(), "signature of Lodestone's release key")
		if err := os.WriteFile(filepath.Join(dir, e.Name()+signature), text, 0o644); err != nil { //nolint:gosec // it is for everyone
			return err
		}
	}
	return nil
}

type keyCommand struct {
	Dir string `arg:"" help:"Directory to write minisign.key, which stays secret, and minisign.pub to. It is created if it does not exist."`
}

// Run makes a key. The password of the environment encrypts it.
func (c keyCommand) Run() error {
	if password() == "" {
		return errors.New("LODESTONE_RELEASE_PASSWORD is empty: the key would be a plain file")
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	secret, err := minisign.EncryptKey(password(), private)
	if err != nil {
		return err
	}
	open, err := public.MarshalText()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(c.Dir, "minisign.key"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := file.Write(secret); err != nil {
		return errors.Join(err, file.Close())
	}
	return errors.Join(file.Close(), os.WriteFile(filepath.Join(c.Dir, "minisign.pub"), open, 0o644)) //nolint:gosec // the public key
}

type verifyCommand struct {
	Dir       string `arg:"" type:"existingdir" help:"Directory with the files of the release."`
	PublicKey string `required:"" type:"existingfile" help:"The public key, minisign.pub."`
}

// Run checks every file of a directory.
func (c verifyCommand) Run() error {
	checked, err := verify(c.Dir, c.PublicKey)
	if err == nil {
		fmt.Println(checked, "files have their checksum and a valid signature")
	}
	return err
}

// verify checks that each file has a signature for its own name, and its checksum.
func verify(dir, publicKey string) (checked int, err error) {
	public, err := minisign.PublicKeyFromFile(publicKey)
	if err != nil {
		return 0, fmt.Errorf("read the public key: %w", err)
	}
	lists, err := filepath.Glob(filepath.Join(dir, "*-sha256.txt"))
	if err != nil || len(lists) != 1 {
		return 0, fmt.Errorf("%s has %d lists of checksums instead of one (%w)", dir, len(lists), err)
	}
	list, err := os.ReadFile(lists[0])
	if err != nil {
		return 0, err
	}
	names := []string{filepath.Base(lists[0])}
	for line := range strings.Lines(string(list)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		is, err := checksum(filepath.Join(dir, filepath.Base(name)))
		if err != nil {
			return 0, err
		}
		if is != sum {
			return 0, fmt.Errorf("%s is not the file that was released: its checksum differs", name)
		}
		names = append(names, name)
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return 0, err
		}
		signed, err := os.ReadFile(filepath.Join(dir, name+signature))
		if err != nil {
			return 0, err
		}
		var s minisign.Signature
		if err := s.UnmarshalText(signed); err != nil {
			return 0, fmt.Errorf("read the signature of %s: %w", name, err)
		}
		if !minisign.Verify(public, text, signed) || !strings.HasSuffix(s.TrustedComment, " file:"+name) {
			return 0, fmt.Errorf("the signature of %s is not valid", name)
		}
	}
	return len(names), nil
}
