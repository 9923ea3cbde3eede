package reader

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
)

// crowd is an account of a few addresses, links and sessions, whose events share them all over a
// year.
type crowd struct {
	account   uuid.UUID
	addresses []string
	links     map[string][]uuid.UUID
	all       []uuid.UUID
	magnets   map[uuid.UUID]uuid.UUID // of links
	sessions  []uuid.UUID
	history
}

func newCrowd(t *testing.T, pool *postgres.Pool) *crowd {
	t.Helper()
	c := &crowd{account: newAccount(t, pool), links: map[string][]uuid.UUID{}, magnets: map[uuid.UUID]uuid.UUID{}}
	c.history = history{t: t, account: c.account, topic: uuid.New()}
	magnets := []uuid.UUID{newMagnet(t, pool, c.account), newMagnet(t, pool, c.account), newMagnet(t, pool, c.account)}
	for i := range 4 {
		text := fmt.Sprintf("reader%d@example.com", i)
		c.addresses = append(c.addresses, text)
		for range 1 + 3*i {
			magnet := magnets[len(c.all)%len(magnets)]
			link := newLink(t, pool, c.account, magnet, text, minute(len(c.all)))
			c.links[text], c.all, c.magnets[link] = append(c.links[text], link), append(c.all, link), magnet
		}
	}
	for range 12 {
		c.sessions = append(c.sessions, uuid.New())
	}
	c.sessions = append(c.sessions, uuid.Nil)
	return c
}

// store adds n events of the last year: some of now, the same sessions in many months.
func (c *crowd) store(conn driver.Conn, random *rand.Rand, n int) {
	c.t.Helper()
	from := len(c.events)
	for range n {
		link := c.all[random.IntN(len(c.all))]
		at := time.Now().Add(-time.Duration(random.Int64N(int64(365 * 24 * time.Hour)))).UnixMilli()
		if random.IntN(3) == 0 {
			at = time.Now().Add(-time.Duration(random.Int64N(int64(time.Minute)))).UnixMilli()
		}
		c.events = append(c.events, querytest.StoredEvent{
			Event: event.Event{
				AccountID: c.account, LeadMagnetID: c.magnets[link], AccessLinkID: link,
				SessionID: c.sessions[random.IntN(len(c.sessions))],
				EventID:   querytest.ID(c.t), Type: event.Types()[random.IntN(3)], Bot: []string{"", "", "a rule"}[random.IntN(3)],
				CreatedAt: at, ReceivedAt: at,
			},
			TopicID: c.topic, Offset: int64(len(c.events)),
		})
	}
	querytest.Store(c.t, conn, c.events[from:]...)
}

// views counts what a summary tells of views in plain SQL, from the table itself.
func (c *crowd) views(conn driver.Conn, links []uuid.UUID) (s Summary) {
	c.t.Helper()
	ctx := native.Context(context.Background(),
		native.WithSettings(native.Settings{"optimize_use_projections": 0, "optimize_use_implicit_projections": 0}))
	var views, magnets uint64
	var first, last time.Time
	require.NoError(c.t, conn.QueryRow(ctx, `SELECT uniqExact(access_link_id, if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id)), uniqExact(lead_magnet_id), min(created_at), max(created_at)
		FROM lodestone.events WHERE account_id = ? AND access_link_id IN (?) AND event_type = 'page_viewed' AND bot = ''`, c.account, links).
		Scan(&views, &magnets, &first, &last))
	s.views(int64(views), int64(magnets), first, last)
	return s
}

func viewsOf(s Summary) Summary {
	s.TotalLinks, s.FirstLinkCreated, s.LastLinkCreated = 0, nil, nil
	return s
}

// Whatever events come or go, late or of others, a summary agrees with plain SQL.
func TestSummaryAgreesWithPlainSQL(t *testing.T) {
	t.Parallel()
	ctx, pool, conn := context.Background(), enginetest.SharedPostgres(t), querytest.Conn(t)
	synchronous := native.Context(ctx, native.WithSettings(native.Settings{"mutations_sync": 1}))
	reader := NewSummaries(pool, querytest.Scoped(t))
	for seed := range uint64(1) {
		random := rand.New(rand.NewPCG(seed, 5))
		c, other := newCrowd(t, pool), newCrowd(t, pool)
		for range 12 {
			switch random.IntN(5) {
			case 0, 1:
				c.store(conn, random, 1+random.IntN(60))
			case 2:
				other.store(conn, random, 20)
			case 3:
				require.NoError(t, conn.Exec(synchronous,
					fmt.Sprintf("ALTER TABLE lodestone.events DELETE WHERE account_id = '%s' AND session_id = '%s'", c.account,
						c.sessions[random.IntN(len(c.sessions))])))
			case 4: // the same question again
			}
			for range 3 {
				text := c.addresses[random.IntN(len(c.addresses))]
				got, err := reader.Read(ctx, c.account, address(t, text), nil)
				require.NoError(t, err)
				require.Equal(t, c.views(conn, c.links[text]), viewsOf(got), "seed %d", seed)
			}
		}
	}
}
