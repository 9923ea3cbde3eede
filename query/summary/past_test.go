package summary

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
	"lodestone/query/memory"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

// newReader returns a Reader that remembers at once, where nothing rests in tests.
func newReader(t testing.TB, pool *postgres.Pool) *Reader {
	t.Helper()
	r := New(pool, querytest.Door(t))
	r.quiet = 0
	t.Cleanup(r.Close)
	return r
}

// readAndLearn returns a summary, when what it left to be learnt is.
func readAndLearn(t *testing.T, r *Reader, account uuid.UUID, text string, magnet *uuid.UUID) Summary {
	t.Helper()
	s, err := r.Read(context.Background(), account, address(t, text), magnet)
	require.NoError(t, err)
	r.background.Wait()
	return s
}

// mergeAll makes one part of each month, so that ClickHouse has nothing left to merge by itself.
func mergeAll(t *testing.T, conn driver.Conn) {
	t.Helper()
	require.NoError(t, conn.Exec(context.Background(), "OPTIMIZE TABLE lodestone.events FINAL")) //nolint:misspell // SQL has it so
}

// crowd is an account of a few addresses, links and sessions, whose events share them all over a year.
type crowd struct {
	account   uuid.UUID
	addresses []string
	links     map[string][]uuid.UUID
	all       []uuid.UUID
	magnets   map[uuid.UUID]uuid.UUID // of links
	sessions  []uuid.UUID
	story
}

func newCrowd(t *testing.T, pool *postgres.Pool) *crowd {
	t.Helper()
	c := &crowd{account: newAccount(t, pool), links: map[string][]uuid.UUID{}, magnets: map[uuid.UUID]uuid.UUID{}}
	c.story = story{t: t, account: c.account, topic: uuid.New()}
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
		c.events = append(c.events, querytest.Stored{
			Event: event.Event{
				AccountID: c.account, LeadMagnetID: c.magnets[link], AccessLinkID: link, SessionID: c.sessions[random.IntN(len(c.sessions))],
				EventID: querytest.ID(c.t), Type: event.Types()[random.IntN(3)], Bot: []string{"", "", "a rule"}[random.IntN(3)], CreatedAt: at, ReceivedAt: at,
			},
			TopicID: c.topic, Offset: int64(len(c.events)),
		})
	}
	querytest.Store(c.t, conn, c.events[from:]...)
}

// views counts what a summary tells of views in plain SQL, from the table itself.
func (c *crowd) views(conn driver.Conn, links []uuid.UUID) (s Summary) {
	c.t.Helper()
	ctx := native.Context(context.Background(), native.WithSettings(native.Settings{"optimize_use_projections": 0, "optimize_use_implicit_projections": 0})) //nolint:misspell // the server spells it
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

// Whatever is remembered, and whatever happens to events and parts between questions, a summary is what plain SQL counts.
func TestSummaryAgreesWithPlainSQL(t *testing.T) { // not beside others: they add to the same months
	ctx, pool, conn := context.Background(), querytest.Postgres(t), querytest.Conn(t)
	synchronous := native.Context(ctx, native.WithSettings(native.Settings{"mutations_sync": 1}))
	reader := newReader(t, pool)
	remembered := 0
	for seed := range uint64(2) {
		random := rand.New(rand.NewPCG(seed, 5))
		c, other := newCrowd(t, pool), newCrowd(t, pool)
		for range 12 {
			switch random.IntN(6) {
			case 0, 1:
				c.store(conn, random, 1+random.IntN(60))
			case 2: // another account's events make parts of the same months
				other.store(conn, random, 20)
			case 3:
				mergeAll(t, conn)
			case 4:
				require.NoError(t, conn.Exec(synchronous, fmt.Sprintf("ALTER TABLE lodestone.events DELETE WHERE account_id = '%s' AND session_id = '%s'", c.account, c.sessions[random.IntN(len(c.sessions))])))
			case 5: // nothing: the same question again
			}
			for range 3 {
				text := c.addresses[random.IntN(len(c.addresses))]
				if c.memory(reader) {
					remembered++
				}
				require.Equal(t, c.views(conn, c.links[text]), viewsOf(readAndLearn(t, reader, c.account, text, nil)), "seed %d", seed)
			}
		}
	}
	require.Greater(t, remembered, 20, "most were answered from what is remembered")
}

func (c *crowd) memory(r *Reader) bool {
	_, known := r.memory.Get(c.account, scope.Opening(time.Now()))
	return known
}

// The same while rows of others are added to all months, and parts are merged, all the time.
func TestSummaryAgreesWithPlainSQLWhileOthersStore(t *testing.T) { // not beside others: they add to the same months
	ctx, pool, conn := context.Background(), querytest.Postgres(t), querytest.Conn(t)
	reader := newReader(t, pool)
	random := rand.New(rand.NewPCG(9, 9))
	c := newCrowd(t, pool)
	enough, ended := make(chan struct{}), make(chan error)
	go func() { ended <- keepStoring(ctx, conn, querytest.ID(t), enough) }()
	for range 6 {
		c.store(conn, random, 20)
		for range 3 {
			text := c.addresses[random.IntN(len(c.addresses))]
			require.Equal(t, c.views(conn, c.links[text]), viewsOf(readAndLearn(t, reader, c.account, text, nil)))
		}
	}
	close(enough)
	require.NoError(t, <-ended)
}

// keepStoring stores events of an account in all months of a year, and merges parts, until it is enough.
func keepStoring(ctx context.Context, conn driver.Conn, account uuid.UUID, enough <-chan struct{}) error {
	for {
		select {
		case <-enough:
			return nil
		default:
		}
		if err := conn.Exec(ctx, `INSERT INTO lodestone.events (account_id, access_link_id, event_id, event_type, created_at, received_at)
			SELECT toUUID(?), generateUUIDv4(1), generateUUIDv4(2), 'page_viewed', now64(3) - toIntervalDay(30 * number), now64(3) FROM numbers(13)`, account); err != nil {
			return err
		}
		if err := conn.Exec(ctx, "OPTIMIZE TABLE lodestone.events FINAL"); err != nil { //nolint:misspell // SQL has it so
			return err
		}
	}
}

// What is remembered is used, for any address of the account, and as long as nothing happens to the months.
func TestMonthsThatAreOverAreRemembered(t *testing.T) { // not beside others: they add to the same months
	ctx, pool, conn := context.Background(), querytest.Postgres(t), querytest.Conn(t)
	reader := newReader(t, pool)
	c := newCrowd(t, pool)
	magnet := c.magnets[c.all[0]]
	before, now := time.Now().AddDate(0, -3, 0).UnixMilli(), time.Now().UnixMilli()
	add := func(link, session uuid.UUID, at int64) {
		c.add(c.magnets[link], link, session, event.PageViewed, 0, "")
		e := &c.events[len(c.events)-1]
		e.CreatedAt, e.ReceivedAt = at, at
		querytest.Store(t, conn, *e)
	}
	first, second := c.links[c.addresses[0]][0], c.links[c.addresses[1]][0]
	one, two := uuid.New(), uuid.New()
	add(first, one, before)
	add(second, two, before)
	add(second, one, before)
	mergeAll(t, conn)

	require.EqualValues(t, 1, readAndLearn(t, reader, c.account, c.addresses[0], nil).TotalViews)
	known, _ := reader.memory.Get(c.account, scope.Opening(time.Now()))
	require.NotNil(t, known)
	require.Len(t, known.links, 2)
	// Told apart from what is read: a view that is nowhere else.
	marked := *known
	marked.first(second).first = 12_345
	reader.memory.Set(c.account, &marked)
	s := readAndLearn(t, reader, c.account, c.addresses[1], nil)
	require.EqualValues(t, 2, s.TotalViews, "of an address that was not asked for before")
	require.Equal(t, time.UnixMilli(12_345).UTC(), *s.FirstAccess)

	add(second, two, now)
	add(second, uuid.New(), now)
	s = readAndLearn(t, reader, c.account, c.addresses[1], nil)
	require.EqualValues(t, 3, s.TotalViews, "a session that goes on, and another one")
	require.Equal(t, time.UnixMilli(12_345).UTC(), *s.FirstAccess)
	require.Equal(t, time.UnixMilli(now).UTC(), *s.LastAccess)
	require.Equal(t, viewsOf(s), viewsOf(readAndLearn(t, reader, c.account, c.addresses[1], new(c.magnets[second]))))
	require.NotEqual(t, magnet, c.magnets[second])
	require.Equal(t, Summary{}, readAndLearn(t, reader, c.account, c.addresses[1], new(uuid.New())))

	add(second, uuid.New(), before)
	s = readAndLearn(t, reader, c.account, c.addresses[1], nil)
	require.EqualValues(t, 4, s.TotalViews, "one that came late")
	require.Equal(t, time.UnixMilli(before).UTC(), *s.FirstAccess, "it was read anew")
	_, err := pool.Unscoped().Exec(ctx, "DELETE FROM access_links WHERE id = $1", second)
	require.NoError(t, err)
	require.Zero(t, readAndLearn(t, reader, c.account, c.addresses[1], nil).TotalViews, "the link was deleted")
}

func (p *past) first(link uuid.UUID) *viewed {
	place, _ := p.of(link)
	return &p.links[place]
}

// While months change nothing is remembered of them, and accounts with too many sessions are not at all.
func TestWhatIsNotRemembered(t *testing.T) { // not beside others: they add to the same months
	ctx, pool, conn := context.Background(), querytest.Postgres(t), querytest.Conn(t)
	door := querytest.Door(t)
	c := newCrowd(t, pool)
	c.store(conn, rand.New(rand.NewPCG(1, 1)), 50)
	mergeAll(t, conn)
	open := scope.Opening(time.Now())
	p, err := readPast(ctx, door, c.account, open, time.Hour)
	require.NoError(t, err)
	require.Nil(t, p, "it was stored just now")
	p, err = readPast(ctx, door, c.account, open, 0)
	require.NoError(t, err)
	require.NotEmpty(t, p.sessions)
	few := past{open: open}
	require.NoError(t, few.read(ctx, door, c.account, len(p.sessions)-1))
	require.Equal(t, past{open: open, unfit: true}, few)
	p, err = readPast(ctx, door, c.account, time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), 0)
	require.NoError(t, err)
	require.True(t, p.unfit, "there are no months before")
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	m := memory.New[*past](mostBytes)
	var ids []uuid.UUID
	set := func(id uuid.UUID, p *past) {
		ids = append(ids, id)
		m.Set(id, p.bounded())
	}
	get := func(id uuid.UUID, open time.Time) *past {
		p, _ := m.Get(id, open)
		return p
	}
	open := scope.Opening(time.Now())
	large := func() *past { return &past{open: open, sessions: make([]uuid.UUID, mostBytes/16/4)} }
	first, second := uuid.New(), uuid.New()
	set(first, large())
	set(second, large())
	for range 3 {
		require.NotNil(t, get(first, open))
		set(uuid.New(), large())
	}
	require.LessOrEqual(t, m.Size(), mostBytes)
	require.Nil(t, get(second, open), "what was not asked for longest")
	require.NotNil(t, get(first, open))
	require.Nil(t, get(first, open.AddDate(0, 1, 0)), "a month that is over since")
	m.Drop(first, large())
	require.NotNil(t, get(first, open), "what was learnt since stays")
	m.Drop(first, get(first, open))
	require.Nil(t, get(first, open))
	set(first, &past{open: open, sessions: make([]uuid.UUID, mostBytes/16)})
	require.True(t, get(first, open).unfit, "more than is remembered of all")
	for _, id := range ids {
		m.Drop(id, get(id, open))
	}
	require.Zero(t, m.Size())
}
