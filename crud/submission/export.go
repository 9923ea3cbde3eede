package submission

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/field"
	"lodestone/crud/link"
	"lodestone/pkg/attachment"
	"lodestone/pkg/auth"
	"lodestone/pkg/store"
)

type exportInput struct {
	Filter
	attachment.Choice
}

const (
	exportBatch  = 1000 // submissions that are read at once
	exportBuffer = 64 << 10
)

func (s *Submissions) export(w http.ResponseWriter, r *http.Request, in *exportInput) error {
	if err := in.check(); err != nil {
		return err
	}
	account := auth.From(r.Context()).AccountID
	release, err := s.exports.Take(account, 1)
	if err != nil {
		return attachment.Refuse(err)
	}
	defer release()
	out, err := attachment.Create(w, r, "submissions", in.Choice)
	if err != nil {
		return err
	}
	if err := s.record(r, account, in.ID); err != nil {
		return err
	}
	err = s.db.AccountSnapshot(r.Context(), account, func(tx pgx.Tx) error {
		q := store.New(tx)
		source, err := link.Get(r.Context(), tx, in.ID)
		if err != nil {
			return err
		}
		if r.Method == http.MethodHead {
			_, err := out.Write(nil)
			return err
		}
		buffer := bufio.NewWriterSize(out, exportBuffer)
		keys, err := keysOf(r.Context(), q, source)
		if err != nil {
			return err
		}
		file := attachment.NewTable[record](buffer, in.Format, keys...)
		err = in.each(r.Context(), q, source.CollectName, func(shown *Submission) error {
			return file.Write(recordOf(shown), shown)
		})
		if err != nil {
			return err
		}
		if err := errors.Join(file.End(), buffer.Flush()); err != nil {
			return err
		}
		_, err = out.Write(nil) // an empty file is one as well
		return err
	})
	if err != nil {
		return fmt.Errorf("export submissions: %w", err)
	}
	return nil
}

// keysOf returns the keys of all answers: those of the form in its order, and then those of fields
// that were removed.
func keysOf(ctx context.Context, q *store.Queries, source store.GenericLink) ([]string, error) {
	fields, err := field.Decode(source.Fields)
	if err != nil {
		return nil, err
	}
	given, err := q.AnswerKeys(ctx, source.ID)
	if err != nil {
		return nil, fmt.Errorf("read keys of answers: %w", err)
	}
	return fields.Keys(given), nil
}

// record writes the export of a link that is there into the audit log.
func (s *Submissions) record(r *http.Request, account, id uuid.UUID) error {
	if r.Method == http.MethodHead {
		return nil
	}
	err := s.db.AccountSnapshot(r.Context(), account, func(tx pgx.Tx) error {
		_, err := link.Get(r.Context(), tx, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("export submissions: %w", err)
	}
	return auth.RecordRead(r.Context(), s.db)
}

// each calls fn with every submission, newest first. The transaction shows one state of them.
func (f *Filter) each(ctx context.Context, q *store.Queries, names bool, fn func(*Submission) error) error {
	chosen, err := f.chosen()
	if err != nil {
		return err
	}
	query := newestFirst(chosen, nil, nil, 0, exportBatch)
	for {
		rows, err := q.ListSubmissions(ctx, query)
		if err != nil {
			return err
		}
		list, err := show(ctx, q, rows, names)
		if err != nil {
			return err
		}
		for i := range list {
			if err := fn(&list[i]); err != nil {
				return err
			}
		}
		if len(rows) < exportBatch {
			return nil
		}
		last := rows[len(rows)-1]
		query.BeforeAt, query.BeforeID = &last.SubmittedAt, &last.ID
	}
}
