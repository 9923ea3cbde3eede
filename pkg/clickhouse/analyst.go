package clickhouse

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/google/uuid"

	"lodestone/pkg/config"
)

// AnalyticsDatabase holds the views that people query.
const AnalyticsDatabase = "analytics"

// Views returns the names of the views of AnalyticsDatabase. Each has a column account_id.
func Views() []string {
	return []string{"events", "sessions", "link_views", "readers", "pages", "submissions", "lead_magnets",
		"generic_links", "access_links", "suspects"}
}

// Analyst is a user who reads the views of one account.
type Analyst struct {
	Name     string
	Account  uuid.UUID
	Password string
}

var analystName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// Validate returns every problem of the settings.
func (a Analyst) Validate() error {
	var errs []error
	if !analystName.MatchString(a.Name) || a.Name == "default" || a.Name == "lodestone" || a.Name == "analyst" {
		errs = append(errs, config.Invalid("--name", "cannot be the name of such a user",
			"give small letters, digits and underscores, such as analyst_acme"))
	}
	if a.Account == uuid.Nil {
		errs = append(errs, config.Invalid("--account", "is missing",
			"give the account's id, as `lodestone account list` shows it"))
	}
	return errors.Join(errs...)
}

// The user has the profile and the quota of the user analyst, which are beside it in users.d or in
// the embedded server's own file; a quota counts for each user separately. It may read only the
// views that have a filter here: a view of a later release stays hidden until a filter is added
// here.
var analystFile = template.Must(template.New("analyst").Parse(`<!-- Reads account {{.Account}} only. Written by lodestone sql-user. -->
<clickhouse>
  <users>
    <{{.Name}}>
      <password_sha256_hex>{{.Hash}}</password_sha256_hex>
      <networks><ip>::/0</ip></networks>
      <profile>analyst</profile>
      <quota>analyst</quota>
      <grants>
{{- range .Views}}
        <query>GRANT SELECT ON analytics.{{.}}</query>
{{- end}}
      </grants>
      <databases>
        <analytics>
{{- range .Views}}
          <{{.}}><filter>account_id = toUUID('{{$.Account}}')</filter></{{.}}>
{{- end}}
        </analytics>
      </databases>
    </{{.Name}}>
  </users>
</clickhouse>
`))

// File returns the text of a file for the server's directory users.d that defines the user. It
// contains a hash of the password, never the password.
func (a Analyst) File() (string, error) {
	if err := a.Validate(); err != nil {
		return "", err
	}
	if strings.TrimSpace(a.Password) == "" {
		return "", errors.New("make SQL user: the password is empty")
	}
	sum := sha256.Sum256([]byte(a.Password))
	var b bytes.Buffer
	err := analystFile.Execute(&b, struct {
		Analyst
		Hash  string
		Views []string
	}{a, hex.EncodeToString(sum[:]), Views()})
	if err != nil {
		return "", fmt.Errorf("make SQL user: %w", err)
	}
	return b.String(), nil
}
