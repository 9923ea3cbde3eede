package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"lodestone/pkg/certificate"
)

// filesError returns what is wrong with the files that a URL names, or "". It has no password.
func filesError(err error) string {
	var parse *pgconn.ParseConfigError
	if !errors.As(err, &parse) || !strings.Contains(parse.Error(), "failed to configure TLS") || parse.Unwrap() == nil {
		return ""
	}
	return parse.Unwrap().Error()
}

// explain returns an error of connecting so that it names the parameter of the URL that is wrong.
func explain(err error) error {
	if err == nil {
		return nil
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "28000" &&
		strings.Contains(pg.Message, "client certificate") {
		return fmt.Errorf("%w: name files with one in sslcert and sslkey of --postgres-url", err)
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && strings.Contains(pg.Message, "unsupported startup parameter") {
		return fmt.Errorf("%w: add default_query_exec_mode=cache_describe to the parameters of --postgres-url, since a pooler answers", err)
	}
	return certificate.Explain(err, "Postgres",
		"name a file with that authority's certificate in sslrootcert of --postgres-url")
}
