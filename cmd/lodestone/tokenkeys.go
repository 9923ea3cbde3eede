package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/accesslink"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

type tokenKeysCommand struct {
	Postgres  postgres.Config `embed:""`
	TokenKeys string          `name:"token-keys" placeholder:"ID:KEY,..." help:"Keys that sign tracking tokens, as for the collector. Default: those of the data directory. Secret."`
	Data      dataConfig      `embed:""`
}

// Run counts what is encrypted under each token key, and fails while something is under another key
// than the first.
func (c *tokenKeysCommand) Run(ctx context.Context) error {
	keys, err := tokenKeys(c.TokenKeys, c.Data.Data)
	if err != nil {
		return err
	}
	if err := validate(c.Postgres, keys); err != nil {
		return err
	}
	ring, err := keys.Ring()
	if err != nil {
		return err
	}
	pool, err := postgres.Open(ctx, c.Postgres)
	if err != nil {
		return err
	}
	defer pool.Close()
	counted, err := countSealed(ctx, pool, ring)
	if err != nil {
		return err
	}
	if err := counted.print(os.Stdout, ring.IDs()); err != nil {
		return err
	}
	if n := counted.unopened(); n > 0 {
		return exitError{fmt.Errorf(
			"no given key opens %d secrets: give the keys that they were encrypted with, which may have the numbers of the given ones", n), exitUnfinished}
	}
	if n := counted.other(ring.IDs()[0]); n > 0 {
		return exitError{fmt.Errorf("%d secrets are encrypted under another key than %d, which signs: keep the keys", n,
			ring.IDs()[0]), exitUnfinished}
	}
	return nil
}

// tokenKeysFile is where `up` stores the keys that it makes, in its data directory.
const tokenKeysFile = "token-keys"

// tokenKeys returns the keys that are given, else those of the data directory, if it has any.
func tokenKeys(given, dir string) (token.Config, error) {
	if given != "" {
		return token.Config{Keys: given}, nil
	}
	text, err := os.ReadFile(filepath.Join(dir, tokenKeysFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return token.Config{}, fmt.Errorf("read the token keys: %w", err)
	}
	return token.Config{Keys: strings.TrimSpace(string(text))}, nil
}

// sealedCount is how many secrets of a place each key has; noKey counts those that none opens.
type sealedCount struct {
	name  string
	byKey map[int]int
}

const noKey = -1

type sealedCounts []sealedCount

func (all sealedCounts) add(name string, key, n int) sealedCounts {
	i := slices.IndexFunc(all, func(c sealedCount) bool { return c.name == name })
	if i < 0 {
		i = len(all)
		all = append(all, sealedCount{name, map[int]int{}})
	}
	all[i].byKey[key] += n
	return all
}

// countSealed tries the keys on every secret.
func countSealed(ctx context.Context, pool *postgres.Pool, ring *token.Ring) (all sealedCounts, err error) {
	ids := ring.IDs()
	try := func(place, purpose string, sealed, bound []byte) {
		key := noKey
		if id, ok := ring.OpenedBy(purpose, sealed, bound); ok {
			key = int(id)
		}
		all = all.add(place, key, 1)
	}
	err = pool.Snapshot(ctx, func(tx pgx.Tx) error {
		all = nil
		q := store.New(tx)
		links, err := q.LinkTokensByKey(ctx)
		if err != nil {
			return fmt.Errorf("count tokens of links: %w", err)
		}
		opened, err := openSamples(ctx, q, ring)
		if err != nil {
			return err
		}
		for _, l := range links {
			key := int(l.TokenKey)
			if !slices.Contains(ids, byte(key)) || !opened(l.TokenKey) {
				key = noKey
			}
			all = all.add("access_links.token_sealed", key, int(l.Tokens))
		}
		var after uuid.UUID
		for {
			messages, err := q.SealedMessages(ctx, store.SealedMessagesParams{After: after, RowLimit: sealedBatch})
			if err != nil {
				return fmt.Errorf("read messages to webhooks: %w", err)
			}
			for _, m := range messages {
				after = m.ID
				try("webhook_deliveries.body_sealed", "webhook messages", m.BodySealed, m.ID[:])
			}
			if len(messages) < sealedBatch {
				break
			}
		}
		others, err := q.SealedSecrets(ctx)
		if err != nil {
			return fmt.Errorf("read secrets: %w", err)
		}
		for _, o := range others {
			try(o.Place, o.Purpose, o.Sealed, o.Context)
		}
		return nil
	})
	return all, err
}

// openSamples tries the newest tokens of each key, and returns whether all of a key could be
// opened: another key may have its number.
func openSamples(ctx context.Context, q *store.Queries, ring *token.Ring) (opened func(key int16) bool, err error) {
	samples, err := q.LinkTokenSamples(ctx, sealedSamples)
	if err != nil {
		return nil, fmt.Errorf("read tokens of links: %w", err)
	}
	failed := map[int16]bool{}
	for _, s := range samples {
		if _, err := ring.Open(accesslink.Sealing, s.TokenSealed, s.ID[:]); err != nil {
			failed[s.TokenKey] = true
		}
	}
	return func(key int16) bool { return !failed[key] }, nil
}

// sealedSamples is how many tokens of links are tried for each key. All would take minutes.
const sealedSamples = 100

// sealedBatch is how many messages are in memory at a time.
const sealedBatch = 1000

// other counts what is not under the key that signs.
func (all sealedCounts) other(first byte) (n int) {
	for _, c := range all {
		for key, rows := range c.byKey {
			if key != int(first) {
				n += rows
			}
		}
	}
	return n
}

// unopened counts what none of the keys opens.
func (all sealedCounts) unopened() (none int) {
	for _, c := range all {
		none += c.byKey[noKey]
	}
	return none
}

func (all sealedCounts) print(w io.Writer, ids []byte) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head := []string{"encrypted in"}
	for i, id := range ids {
		head = append(head, fmt.Sprintf("key %d", id))
		if i == 0 {
			head[1] += " (signs)"
		}
	}
	lines := []string{strings.Join(append(head, "no key given"), "\t")}
	for _, c := range all {
		cells := []string{c.name}
		for _, id := range ids {
			cells = append(cells, strconv.Itoa(c.byKey[int(id)]))
		}
		lines = append(lines, strings.Join(append(cells, strconv.Itoa(c.byKey[noKey])), "\t"))
	}
	_, err := fmt.Fprintln(table, strings.Join(lines, "\n"))
	if err := errors.Join(err, table.Flush()); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
