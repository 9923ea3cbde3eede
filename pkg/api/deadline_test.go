package api_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
)

// An operation that may take long is not cut short by the limits of the server for short ones.
func TestLongOperation(t *testing.T) {
	t.Parallel()
	a := api.New(api.Deps{
		Verifier: keys{"both": {AccountID: uuid.New(), KeyID: uuid.New(), Scopes: auth.Scopes()}},
		Log:      slog.New(slog.DiscardHandler),
	})
	const limit = 10 * time.Second // in which a busy machine reads a request as well
	api.Register(a, api.Operation{ID: "take-long", Method: "DELETE", Path: "/api/v1/things", Scope: auth.Write,
		Status: 204, Timeout: 5 * time.Minute},
		func(ctx context.Context, _ *struct{}) (*api.Answer[api.Empty], error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(2 * limit):
				return &api.Answer[api.Empty]{}, nil
			}
		})
	s := httptest.NewUnstartedServer(a)
	s.Config.ReadTimeout, s.Config.WriteTimeout = limit, limit
	s.Start()
	t.Cleanup(s.Close)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, s.URL+"/api/v1/things", http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer both")
	res, err := s.Client().Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusNoContent, res.StatusCode)
}
