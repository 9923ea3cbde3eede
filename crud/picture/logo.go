package picture

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// Logo is an account's logo as the API shows it.
type Logo struct {
	URL         string `json:"url" doc:"Public URL of the picture. It changes with the logo."`
	Width       int    `json:"width" doc:"Width in pixels."`
	Height      int    `json:"height" doc:"Height in pixels."`
	ContentType string `json:"content_type" enum:"image/png,image/jpeg" doc:"Media type of the picture."`
}

const (
	logoPath = "/api/v1/account/logo"
	tag      = "Account"
)

func (s *ImageStore) registerLogo(a *api.API) {
	api.Register(a, api.Operation{
		ID: "get-logo", Method: "GET", Path: logoPath, Scope: auth.Read, Tag: tag,
		Summary: "Get the account's logo",
		Errors:  []problem.Code{problem.NotFound},
	}, s.getLogo)
	api.RegisterRaw(a, api.Operation{
		ID: "upload-logo", Method: "PUT", Path: logoPath, Scope: auth.Write, Tag: tag,
		Summary: "Set the account's logo",
		Description: "The pages that visitors see show the logo. The body is the picture itself (PNG, JPEG, WebP, or the first image of a GIF; at " +
			"most 5 MiB), or a form (multipart/form-data) with the picture in the part named file. The picture is re-encoded with at most " +
			"640 × 240 pixels, and metadata of the file is removed. Transparency is preserved.",
		Body:    Rules().Describe(),
		Answers: map[string]*jsonschema.Schema{"application/json": api.SchemaOf[Logo](a)},
		Timeout: ReceiveTimeout,
		Errors:  []problem.Code{problem.UnsupportedMediaType, problem.PayloadTooLarge, problem.ValidationError},
	}, s.putLogo)
	api.Register(a, api.Operation{
		ID: "delete-logo", Method: "DELETE", Path: logoPath, Scope: auth.Write, Tag: tag, Status: http.StatusNoContent,
		Summary: "Remove the account's logo",
		Errors:  []problem.Code{problem.NotFound},
	}, s.deleteLogo)
}

type noInput struct{}

func (s *ImageStore) getLogo(ctx context.Context, _ *noInput) (*api.Answer[Logo], error) {
	var found Logo
	err := s.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		found, err = s.readLogo(ctx, tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get logo: %w", err)
	}
	return api.OK(found), nil
}

func (s *ImageStore) readLogo(ctx context.Context, tx pgx.Tx) (Logo, error) {
	row, err := store.New(tx).OwnLogo(ctx)
	if errors.Is(err, pgx.ErrNoRows) {
		return Logo{}, noLogo()
	}
	if err != nil {
		return Logo{}, fmt.Errorf("read logo: %w", err)
	}
	return Logo{
		URL: s.deps.Site + pathOf(row.ID, row.ContentType), Width: int(row.Width), Height: int(row.Height),
		ContentType: row.ContentType,
	}, nil
}

func noLogo() error { return problem.New(problem.NotFound, "The account has no logo.") }

func (s *ImageStore) putLogo(w http.ResponseWriter, r *http.Request, _ *noInput) error {
	pictures, err := s.deps.Thumbnailer.ReceiveLogo(w, r)
	if err != nil {
		return err
	}
	ctx, account := r.Context(), auth.From(r.Context()).AccountID
	var stored Logo
	err = s.deps.Postgres.Account(ctx, account, func(tx pgx.Tx) error {
		// The account is taken, so that of two uploads at once one replaces the other.
		if _, err := store.New(tx).LockPlan(ctx); err != nil {
			return fmt.Errorf("lock account: %w", err)
		}
		if _, err := store.New(tx).DeleteLogo(ctx); err != nil {
			return fmt.Errorf("replace logo: %w", err)
		}
		if _, err := pictures.StoreLogo(ctx, tx, account); err != nil {
			return err
		}
		stored, err = s.readLogo(ctx, tx)
		return err
	})
	if err != nil {
		return fmt.Errorf("set logo: %w", err)
	}
	return api.WriteJSON(w, http.StatusOK, nil, stored)
}

func (s *ImageStore) deleteLogo(ctx context.Context, _ *noInput) (*api.Answer[api.Empty], error) {
	err := s.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		n, err := store.New(tx).DeleteLogo(ctx)
		if err == nil && n == 0 {
			err = noLogo()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("remove logo: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}
