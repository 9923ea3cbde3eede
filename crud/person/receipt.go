package person

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"

	"lodestone/crud/queue"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/email"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// blankWithin is how long consumers may take to blank the events of an erased person.
const blankWithin = 7 * 24 * time.Hour

// receiptKeys is the purpose of the keys that sign receipts. There is one for each token key.
const receiptKeys = "receipts of erasures"

// PersonErasure is an erasure, as the API shows it.
type PersonErasure struct {
	ID           uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier."`
	AccountID    uuid.UUID `json:"account_id" format:"uuid" doc:"Account that stored the data."`
	PersonID     uuid.UUID `json:"person_id" format:"uuid" doc:"The person in reports and in SQL: a keyed hash of the address, which is not kept."`
	ErasedAt     api.Time  `json:"erased_at" doc:"Data stored before this time is erased."`
	Removed      Removed   `json:"removed" doc:"What was removed from Postgres."`
	Blanked      bool      `json:"events_blanked" doc:"Whether the events and the copies for SQL no longer contain data of the person."`
	BlankedAt    *api.Time `json:"events_blanked_at" doc:"When that was the case; null: not yet."`
	DueAt        api.Time  `json:"events_due_at" doc:"When that is the case at the latest."`
	QueuesUntil  api.Time  `json:"queues_until" doc:"When queues no longer contain data of the person: mails, webhook messages, downloads to be reported, and answers to repeated requests."`
	RecordsUntil *api.Time `json:"records_until" doc:"When Kafka and the collectors' spools have dropped the records of these events and their dead letters. Null until the events are blanked, or if one of them keeps records forever."`
	BackupsUntil *api.Time `json:"backups_until" doc:"When the last backup with the person's data is deleted: --backup-days after the events were blanked, since backups until then contain them. Null until the events are blanked, or if the installation does not state the days."`
	Receipt      string    `json:"receipt" doc:"The fields above, as a JSON Web Signature."`
}

func (p *Persons) erase(ctx context.Context, in *exportInput) (*api.Answer[PersonErasure], error) {
	account := auth.From(ctx).AccountID
	address, err := email.Parse(in.Body.Email)
	if err != nil {
		return nil, problem.Invalid(problem.Field{Field: "email", Message: err.Error()})
	}
	id, err := p.deps.Eraser.erase(ctx, account, address, func(id uuid.UUID) { auth.RecordCreated(ctx, id) })
	if err != nil {
		return nil, fmt.Errorf("erase person: %w", err)
	}
	e, err := p.deps.Eraser.find(ctx, account, id)
	if err != nil {
		return nil, err
	}
	return api.Created(erasures+"/"+id.String(), e), nil
}

type erasureInput struct {
	ID uuid.UUID `path:"id"`
}

func (p *Persons) erasure(ctx context.Context, in *erasureInput) (*api.Answer[PersonErasure], error) {
	e, err := p.deps.Eraser.find(ctx, auth.From(ctx).AccountID, in.ID)
	if err != nil {
		return nil, err
	}
	return api.OK(e), nil
}

// receipt returns what an erasure came to, signed.
func (e *Eraser) receipt(row store.GetErasureRow) (PersonErasure, error) {
	shown := PersonErasure{
		ID: row.ID, AccountID: row.AccountID, PersonID: row.PersonID, ErasedAt: api.TimeOf(row.ErasedAt),
		Blanked: row.BlankedAt != nil, BlankedAt: api.OptionalTime(row.BlankedAt),
		DueAt:       api.TimeOf(row.ErasedAt.Add(blankWithin)),
		QueuesUntil: api.TimeOf(row.ErasedAt.Add(queue.Keep)), RecordsUntil: api.OptionalTime(row.RecordsUntil),
	}
	if e.backupDays > 0 && row.BlankedAt != nil {
		shown.BackupsUntil = api.OptionalTime(new(row.BlankedAt.AddDate(0, 0, e.backupDays)))
	}
	if err := json.Unmarshal(row.Removed, &shown.Removed); err != nil {
		return shown, fmt.Errorf("read erasure: %w", err)
	}
	text, err := json.Marshal(struct {
		PersonErasure
		Receipt string `json:"receipt,omitempty"` // hides the field of the same name: it is empty
	}{PersonErasure: shown})
	if err != nil {
		return shown, fmt.Errorf("encode receipt: %w", err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: e.keys()[0]}, nil)
	if err != nil {
		return shown, fmt.Errorf("sign receipt: %w", err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		return shown, fmt.Errorf("sign receipt: %w", err)
	}
	if shown.Receipt, err = signed.CompactSerialize(); err != nil {
		return shown, fmt.Errorf("sign receipt: %w", err)
	}
	return shown, nil
}

// keys returns the keys of receipts. The first one signs.
func (e *Eraser) keys() []jose.JSONWebKey {
	ring := e.deps.Tokens.Frozen()
	ids, seeds := ring.IDs(), ring.DeriveEach(receiptKeys)
	keys := make([]jose.JSONWebKey, len(ids))
	for i, id := range ids {
		keys[i] = jose.JSONWebKey{Key: ed25519.NewKeyFromSeed(seeds[i][:]), KeyID: strconv.Itoa(int(id)),
			Algorithm: string(jose.EdDSA), Use: "sig"}
	}
	return keys
}

// serveKeys answers with the public keys, as a JSON Web Key Set.
func (e *Eraser) serveKeys(w http.ResponseWriter, _ *http.Request) {
	var set jose.JSONWebKeySet
	for _, k := range e.keys() {
		set.Keys = append(set.Keys, k.Public())
	}
	text, err := json.Marshal(set)
	if err != nil {
		http.Error(w, "The keys cannot be encoded.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=3600")
	_, _ = w.Write(text) // the client is gone
}
