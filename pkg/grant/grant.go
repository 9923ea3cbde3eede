// Package grant classifies what OAuth servers answer to a request for a token.
package grant

import (
	"errors"
	"net/http"

	"golang.org/x/oauth2"
)

// IsRefused reports whether an error says that the server does not know the client with its secret.
func IsRefused(err error) bool {
	answer, ok := errors.AsType[*oauth2.RetrieveError](err)
	return ok && (answer.ErrorCode == "invalid_client" || answer.Response != nil && answer.Response.StatusCode == http.StatusUnauthorized)
}
