package erasure

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// Finding is how many rows of a table are about a person.
type Finding struct {
	Where string
	Rows  int64
}

// Find returns what both databases have of an address, a key of package email, in all accounts, but
// for queues, which are encrypted and lose everything within seven days. Events count if the
// person's access links were deleted, and they are not blank; those of other links are found by the
// link. Users of the dashboard and invitations do not count: an erasure leaves them.
func Find(ctx context.Context, pool *postgres.Pool, conn driver.Conn, key string) (all []Finding, err error) {
	q := store.New(pool.Unscoped())
	rows, err := q.CountPerson(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("look for a person in Postgres: %w", err)
	}
	people, err := q.PersonIDs(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("look for a person in Postgres: %w", err)
	}
	erased, err := q.LinksOfPeople(ctx, people)
	if err != nil {
		return nil, fmt.Errorf("look for a person in Postgres: %w", err)
	}
	all = []Finding{
		{"Postgres submissions", rows.Submissions}, {"Postgres access links", rows.AccessLinks},
		{"Postgres verifications", rows.Verifications}, {"Postgres profiles", rows.Profiles},
	}
	for _, table := range copies {
		var n int64
		err := clickhouse.EachShard(conn, func(shard driver.Conn) error { // each has copies of its own
			found, err := count(ctx, shard, "SELECT toString(count()) FROM lodestone."+table+
				" WHERE lower(email) = {key:String} OR person_id IN {people:Array(UUID)}",
				native.Parameters{"key": clickhouse.Text(key), "people": clickhouse.UUIDs(people)})
			n += found
			return err
		})
		if err != nil {
			return nil, err
		}
		all = append(all, Finding{"ClickHouse copies of " + table, n})
	}
	links := make([]link, len(erased))
	for i, l := range erased {
		links[i] = link{l.ID, l.AccountID}
	}
	var events int64
	for some := range slices.Chunk(links, linksAtOnce) {
		n, err := count(ctx, conn, "SELECT toString(count()) FROM lodestone.events WHERE "+mine+" AND "+
			left("events"), parameters(some))
		if err != nil {
			return nil, err
		}
		events += n
	}
	all = append(all, Finding{"ClickHouse events of deleted access links", events})
	return slices.DeleteFunc(all, func(f Finding) bool { return f.Rows == 0 }), nil
}

func count(ctx context.Context, conn driver.Conn, query string, p native.Parameters) (int64, error) {
	list, err := clickhouse.Strings(ctx, conn, query, p)
	if err != nil {
		return 0, fmt.Errorf("look for a person: %w", err)
	}
	n, err := strconv.ParseInt(list[0], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("look for a person: %w", err)
	}
	return n, nil
}
