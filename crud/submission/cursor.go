package submission

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/api"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// cursor is a place in a list: the submission that its page ended with, and which list it was. It
// is given to the client and comes back, so it is a place and never a permission.
type cursor struct {
	List string    `json:"l"`
	At   int64     `json:"c"` // Unix milliseconds
	ID   uuid.UUID `json:"i"`
}

// earliest and latest are the range of what a timestamp column and an answer can both hold.
var earliest, latest = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// place returns where the request goes on, or nil at the beginning.
func (in *listInput) place() (at *time.Time, id *uuid.UUID, err error) {
	if in.Cursor == "" {
		return nil, nil, nil
	}
	var c cursor
	if err := api.DecodeCursor(in.Cursor, &c); err != nil {
		return nil, nil, err
	}
	if c.List != in.digest() {
		return nil, nil, problem.Parameter(problem.Field{Field: "cursor", Message: "belongs to another list: send the filters that it came with, or start without a cursor"})
	}
	t := time.UnixMilli(c.At).UTC()
	if t.Before(earliest) || t.After(latest) {
		return nil, nil, problem.Parameter(problem.Field{Field: "cursor", Message: "is not a cursor that this list returned"})
	}
	return &t, &c.ID, nil
}

// next returns the cursor that goes on after a submission.
func (in *listInput) next(last store.Submission) (string, error) {
	return api.EncodeCursor(cursor{in.digest(), last.SubmittedAt.UnixMilli(), last.ID})
}

// digest returns a short text that differs between links and between filters.
func (in *listInput) digest() string {
	h := sha256.New()
	h.Write(in.ID[:])
	for _, t := range []*time.Time{in.Since, in.Until} {
		if t != nil {
			fmt.Fprint(h, t.Format(time.RFC3339Nano))
		}
		h.Write([]byte{'\n'})
	}
	if in.Q != nil {
		h.Write([]byte(*in.Q))
	}
	if in.Sort == oldest { // cursors of the newest first stay as they were
		h.Write([]byte("\n" + oldest))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
