package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"net/url"
	"os"
	"time"

	"lodestone/pkg/certificate"
	"lodestone/pkg/engine/install"
)

const (
	maxSkew  = time.Second // between two clocks: sessions and tokens are counted in seconds
	warnSkew = 200 * time.Millisecond

	minDisk  = 1 << 30 // bytes; ClickHouse refuses inserts below 256 MiB
	minSpool = 256 << 20
	minLog   = 64 << 20 // the entries of the log of erasures are small

	warnExpiry = 14 * 24 * time.Hour // of certificates

	synchronise = "let chrony, systemd-timesyncd or another client of NTP run on every machine"
)

// Machine names the parts of this machine to examine. Empty fields are skipped.
type Machine struct {
	Spool      string   // directory
	Data       string   // of a `lodestone up`
	ErasureLog string   // directory
	Addresses  []string // of the site and the collector, as visitors see them
	Files      []string // of certificates
}

// Check examines the machine.
func (m Machine) Check(ctx context.Context, r *Report) {
	r.directory("the spool "+m.Spool, m.Spool, minSpool)
	r.directory("the log of erasures "+m.ErasureLog, m.ErasureLog, minLog)
	if _, err := os.Stat(m.Data); !errors.Is(err, os.ErrNotExist) { // else nothing runs there
		r.directory("the data directory "+m.Data, m.Data, minDisk)
	}
	for _, file := range m.Files {
		r.certificates(file)
	}
	for _, address := range m.Addresses {
		r.address(ctx, address)
	}
}

// clock compares an engine's time with the time here, which was between asked and answered.
func (r *Report) clock(name string, at, asked, answered time.Time) {
	skew := max(asked.Sub(at), at.Sub(answered), 0)
	if skew <= warnSkew {
		r.ok("clock", "%s agrees with the clock here", name)
		return
	}
	status := Warn
	if skew > maxSkew {
		status = Fail
	}
	r.add(status, "clock", synchronise, "%s differs from the clock here by %s", name, skew.Round(time.Millisecond))
}

// disk reports free space. A tenth of a small disk may be enough, so bytes decide.
func (r *Report) disk(name string, free, need uint64) {
	const remedy = "free some space, shorten what is kept (docs/operations.md), or use a larger disk"
	switch {
	case free < need:
		r.add(Fail, "disk", remedy, "%s has %d MiB free, and %d MiB are needed", name, free>>20, need>>20)
	case free < 4*need:
		r.add(Warn, "disk", remedy, "%s has %d MiB free", name, free>>20)
	default:
		r.ok("disk", "%s has %d MiB free", name, free>>20)
	}
}

func (r *Report) directory(name, dir string, need uint64) {
	if dir == "" {
		return
	}
	free, err := install.Free(dir)
	if err != nil {
		r.add(Fail, "disk", "create it for the user of the process, or mount it", "%s cannot be used: %v", name, err)
		return
	}
	r.disk(name, uint64(max(free, 0)), need)
}

// certificates reports when those of a file expire.
func (r *Report) certificates(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		r.add(Fail, "certificates", "correct the setting that names it", "%s cannot be read: %v", file, err)
		return
	}
	found := false
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			found = true
			r.expiry(file, c)
		}
	}
	if !found {
		r.add(Fail, "certificates", "write a certificate in PEM into it", "%s has no certificate", file)
	}
}

func (r *Report) expiry(where string, c *x509.Certificate) {
	switch left := time.Until(c.NotAfter); {
	case left < 0:
		r.add(Fail, "certificates", "renew it", "%s: the certificate of %s expired at %s", where, c.Subject.CommonName,
			c.NotAfter.Format(time.RFC3339))
	case left < warnExpiry:
		r.add(Warn, "certificates", "renew it, and find out why that did not happen by itself",
			"%s: the certificate of %s expires at %s", where, c.Subject.CommonName, c.NotAfter.Format(time.RFC3339))
	case time.Now().Before(c.NotBefore):
		r.add(Fail, "certificates", "correct the clock, or the certificate",
			"%s: the certificate of %s is valid from %s only", where, c.Subject.CommonName, c.NotBefore.Format(time.RFC3339))
	default:
		r.ok("certificates", "%s: valid until %s", where, c.NotAfter.Format(time.DateOnly))
	}
}

// address connects to an address as a browser does, which also checks the names of its certificate.
func (r *Report) address(ctx context.Context, address string) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" {
		return
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), "443")
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	conn, err := (&certificate.Dialer{}).DialContext(ctx, "tcp", host)
	if err != nil {
		r.add(Fail, "certificates", "correct the proxy in front, its certificate, or the address",
			"%s is not reachable as browsers do: %v", address, err)
		return
	}
	defer func() { _ = conn.Close() }() // nothing was written
	if c, ok := conn.(*tls.Conn); ok {
		r.expiry(address, c.ConnectionState().PeerCertificates[0])
	}
}
