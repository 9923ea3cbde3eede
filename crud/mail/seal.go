package mail

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"lodestone/pkg/token"
)

// sealing is the purpose that mails are sealed for. The context is the id of the mail.
const sealing = "mails"

// job is a mail in the queue: sealed, since whoever reads the table or a dump of it must not be
// able to open links, nor to verify addresses.
type job struct {
	AccountID uuid.UUID `json:"account_id"`
	About     Kind      `json:"kind"` // for operators
	// ID makes the Message-ID, which is the same at every attempt: a mail that was sent twice, because
	// the answer to the first time got lost, is shown once by most mailboxes.
	ID     uuid.UUID `json:"id"`
	Sealed []byte    `json:"sealed"` // Message
}

const kind = "sealed_mail"

// Kind implements river.JobArgs.
func (job) Kind() string { return kind }

func seal(keys *token.Ring, m Message, id uuid.UUID) (job, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return job{}, fmt.Errorf("encode mail: %w", err)
	}
	sealed, err := keys.Seal(sealing, text, id[:])
	if err != nil {
		return job{}, fmt.Errorf("seal mail: %w", err)
	}
	return job{AccountID: m.AccountID, About: m.Kind, ID: id, Sealed: sealed}, nil
}

func (j job) open(keys *token.Ring) (m Message, err error) {
	text, err := keys.Open(sealing, j.Sealed, j.ID[:])
	if err != nil {
		return m, fmt.Errorf("open mail: %w", err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("read mail: %w", err)
	}
	return m, nil
}
