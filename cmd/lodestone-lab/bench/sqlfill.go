package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/cmd/lodestone-lab/bench/traffic"
	"lodestone/pkg/auth"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
)

// sqlInsertRows is how many rows one insert has.
const sqlInsertRows = 100_000

// pastYear returns a generator whose next events, so many, arrived in about a year, the last just before a moment: the month that
// is not over has its share, and none is of tomorrow. Events come somewhat slower or faster than is asked for, so what is too
// much is left out at the beginning.
func pastYear(seed uint64, rows int64, now time.Time) *traffic.Generator {
	const year = 365 * 24 * time.Hour
	c := traffic.Config{Seed: seed, Events: rows, Begin: now.Add(-year), Span: year}
	var one event.Event
	for {
		c.Begin = c.Begin.Add(-year / 10)
		before := int64(0)
		for events := traffic.New(c); ; before++ {
			if events.Next(&one); one.ReceivedAt > now.UnixMilli() {
				break
			}
		}
		if before < rows {
			continue
		}
		events := traffic.New(c)
		for range before - rows {
			events.Next(&one)
		}
		return events
	}
}

// addEntities stores what the views for SQL show beside events.
func addEntities(ctx context.Context, store driver.Conn) error {
	for _, query := range sqlEntities {
		if err := store.Exec(ctx, query); err != nil {
			return fmt.Errorf("make what the events are about: %w", err)
		}
	}
	return nil
}

func insertEvents(ctx context.Context, c clickhouse.Config, events *traffic.Generator, rows int64) error {
	return insertInto(ctx, c, "events", events, rows, upPartitions)
}

// insertInto stores events in a table with the columns of the product's, as of a log of some partitions.
func insertInto(ctx context.Context, c clickhouse.Config, table string, events *traffic.Generator, rows int64, partitions int) (err error) {
	options, err := c.BlockOptions()
	if err != nil {
		return err
	}
	conn, err := ch.Dial(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	places := traffic.NewLog(uuid.New(), partitions)
	block := traffic.NewBlock(true)
	var one event.Event
	for done := int64(0); done < rows; done += int64(block.Rows()) {
		block.Reset()
		for range min(sqlInsertRows, rows-done) {
			events.Next(&one)
			partition, offset := places.Place(one.AccessLinkID)
			block.Append(&one, places.Topic, partition, offset)
		}
		input := block.Input()
		if err := conn.Do(ctx, ch.Query{
			Body: input.Into(table), Input: input,
			Settings: []ch.Setting{ch.SettingInt("async_insert", 0), ch.SettingInt("insert_allow_materialized_columns", 1)},
		}); err != nil {
			return err
		}
	}
	return nil
}

// sqlEntities make lead magnets, links and landing-page views that fit the events.
var sqlEntities = []string{
	`INSERT INTO lodestone.lead_magnets (id, account_id, title, page_count, file_version, created_at, version)
	SELECT lead_magnet_id, any(account_id), concat('Guide ', substring(toString(lead_magnet_id), 1, 13)), max(page), max(magnet_version), min(created_at) - INTERVAL 1 DAY, 1
	FROM lodestone.events GROUP BY lead_magnet_id`,
	`INSERT INTO lodestone.generic_links (id, account_id, lead_magnet_id, slug, active, submission_count, created_at, version)
	SELECT generic_link_id, any(account_id), any(lead_magnet_id), concat('guide-', toString(generic_link_id)), true, uniqExact(access_link_id), min(created_at) - INTERVAL 1 DAY, 1
	FROM lodestone.events WHERE generic_link_id != toUUID('00000000-0000-0000-0000-000000000000') GROUP BY generic_link_id`,
	`INSERT INTO lodestone.access_links (id, account_id, lead_magnet_id, generic_link_id, is_active, created_at, version)
	SELECT access_link_id, any(account_id), any(lead_magnet_id), nullIf(any(generic_link_id), toUUID('00000000-0000-0000-0000-000000000000')), true, min(created_at) - INTERVAL 1 HOUR, 1
	FROM lodestone.events GROUP BY access_link_id`,
	`INSERT INTO lodestone.link_views (account_id, lead_magnet_id, generic_link_id, event_id, referrer, url, ip_hash, user_agent, bot, created_at, received_at, kafka_topic_id, kafka_partition, kafka_offset)
	SELECT account_id, lead_magnet_id, generic_link_id, event_id, ['', 'https://www.linkedin.com/', 'https://www.google.com/', 'https://t.co/'][1 + cityHash64(event_id) % 4],
		'https://docs.example.com/l/guide', ip_hash, user_agent, bot, created_at, received_at, kafka_topic_id, kafka_partition, kafka_offset
	FROM lodestone.events WHERE cityHash64(event_id) % 8 = 0 AND generic_link_id != toUUID('00000000-0000-0000-0000-000000000000')`,
}

// recipient is somebody with many access links of an account, and a key of that account.
type recipient struct {
	email string
	links []uuid.UUID
	key   string
}

// addRecipient gives one address so many access links of an account, of those that have events.
func (e *Engines) addRecipient(ctx context.Context, store driver.Conn, account uuid.UUID, links int) (r recipient, err error) {
	var ids, magnets []uuid.UUID
	err = store.QueryRow(ctx, `SELECT groupArray(id), groupArray(magnet) FROM
		(SELECT access_link_id AS id, any(lead_magnet_id) AS magnet FROM lodestone.events WHERE account_id = ? AND bot = '' GROUP BY id ORDER BY cityHash64(id) LIMIT ?)`,
		account, links).Scan(&ids, &magnets)
	if err != nil {
		return r, fmt.Errorf("choose access links: %w", err)
	}
	pool, err := postgres.Open(ctx, postgres.Config{URL: e.PostgresURL, MaxConns: 2})
	if err != nil {
		return r, err
	}
	defer pool.Close()
	r.email, r.links = "reader@example.com", ids
	key := auth.NewKey()
	r.key = key.Text
	err = pool.Transaction(ctx, func(tx pgx.Tx) error {
		for _, s := range []struct {
			sql  string
			args []any
		}{
			{"INSERT INTO accounts (id, name, plan) VALUES ($1, 'largest', 'team')", []any{account}},
			{"INSERT INTO api_keys (id, account_id, name, prefix, hash, scopes) VALUES ($1, $2, 'bench', $3, $4, '{read,write,leads}')", []any{uuid.New(), account, key.Prefix, key.Hash[:]}},
			{"INSERT INTO lead_magnets (id, account_id, title) SELECT DISTINCT unnest($2::uuid[]), $1::uuid, 'm'", []any{account, magnets}},
			{`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_clear)
				SELECT l.id, $1::uuid, l.magnet, $4::text, $4::text, l.id::text FROM unnest($2::uuid[], $3::uuid[]) AS l (id, magnet)`, []any{account, ids, magnets, r.email}},
			// As many again of others, so that it is a table worth an index.
			{`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_clear)
				SELECT gen_random_uuid(), $1::uuid, $2::uuid, 'r' || n || '@example.com', 'r' || n || '@example.com', gen_random_uuid()::text FROM generate_series(1, 100000) AS n`, []any{account, magnets[0]}},
		} {
			if _, err := tx.Exec(ctx, s.sql, s.args...); err != nil {
				return fmt.Errorf("make a recipient: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	_, err = pool.Unscoped().Exec(ctx, "ANALYZE access_links") //nolint:misspell // SQL has it so
	return r, err
}
