package clickhouse

import (
	"errors"
	"net/url"

	native "github.com/ClickHouse/clickhouse-go/v2"
)

var errAddress = errors.New("the address of ClickHouse cannot be parsed") // the cause may repeat the password

// authOf returns the user and the password of an address of the native protocol.
func authOf(address string) (user, password string, err error) {
	o, err := native.ParseDSN(address)
	if err != nil {
		return "", "", errAddress
	}
	return o.Auth.Username, o.Auth.Password, nil
}

// HTTPLogin has the user and the password of requests over HTTP: those of their own address, else
// those of the native one.
type HTTPLogin struct {
	URL    string // HTTP address
	Native Config // of the same server; only its user and password are used
}

// Credentials returns the user and the password.
func (l HTTPLogin) Credentials() (user, password string, err error) {
	u, err := url.Parse(l.URL)
	switch {
	case err == nil && u.User != nil:
		password, _ = u.User.Password()
		return u.User.Username(), password, nil
	case err == nil && l.Native.URL != "":
		return authOf(l.Native.URL)
	}
	return "", "", errAddress
}
