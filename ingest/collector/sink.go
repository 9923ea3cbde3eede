package collector

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"lodestone/ingest/collector/bot"
	"lodestone/ingest/producer"
)

// Sink takes records and makes them durable. A *producer.Producer is one; a spool on disk, for
// when Kafka is away, is another that stands before it.
type Sink interface {
	// Write returns nil when every record is durable. Any error means that the sender has to
	// repeat all of them: some may be stored, or be stored later. It returns soon after ctx ends.
	//
	// The records and their bytes are the caller's again when it has returned.
	Write(ctx context.Context, records []producer.Record) error
}

// Hasher turns the address of a client into the hash that is kept. *iphash.Salts is the one in use.
type Hasher interface {
	// Hash returns the hash of an address for one account at a time, or false when there is no
	// salt for that time. It is called from many goroutines and must not block.
	Hash(account uuid.UUID, client netip.Addr, at time.Time) ([16]byte, bool)
}

// Classifier tells bots from people.
type Classifier interface {
	// Classify returns the name of the rule that takes the sender for a bot, at most
	// event.MaxBotRuleBytes long, or "". It is called from many goroutines and keeps nothing of
	// the request.
	Classify(r bot.Request) string
}

// Quotas knows which accounts have used up their plan's events of the month. *quota.Exceeded is the one in use.
type Quotas interface {
	// Exceeded returns the message for senders of an account whose events are refused at that time, or "". It is called
	// from many goroutines and must not block.
	Exceeded(account uuid.UUID, at time.Time) string
}

var errNoDeps = errors.New("make collector: tokens, sink, addresses, bots, log and registerer are all needed")
