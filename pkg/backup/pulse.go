package backup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

// Divergence says that Postgres and ClickHouse are states of different times, or of different
// installations. It is nil if they are not.
type Divergence struct {
	Older                string // postgres, clickhouse, or "": they are of two installations
	Postgres, ClickHouse time.Time
	Shards               []uint16 // of ClickHouse that differ, if it has several and not all of them do
}

func (a *Divergence) String() string {
	form := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	clickhouse := "ClickHouse"
	if len(a.Shards) > 0 {
		ids := make([]string, len(a.Shards))
		for i, id := range a.Shards {
			ids[i] = strconv.Itoa(int(id))
		}
		clickhouse += " (shard " + strings.Join(ids, ", ") + ")"
	}
	state := form(a.ClickHouse)
	if a.ClickHouse.Unix() <= 0 {
		state = "before its first minute"
	}
	switch a.Older {
	case "clickhouse":
		return clickhouse + " is of " + state + " and Postgres of " + form(a.Postgres) + ": " + clickhouse +
			" was restored to an older state. " +
			"Stop the consumers, run `lodestone restore align`, which lets them store from Kafka what it lacks, and start them"
	case "postgres":
		return "Postgres is of " + form(a.Postgres) + " and " + clickhouse + " of " + state +
			": Postgres was restored to an older state. " +
			"Links and submissions of the time between are lost, unless you restore a newer state. If there is none, stop the consumers, run `lodestone restore align`, " +
			"start them, and run `lodestone recount`"
	default:
		return "Postgres and " + clickhouse + " are of two installations: check the addresses"
	}
}

// generation is a store's copy of the number that all stores share.
type generation struct {
	installation uuid.UUID
	number       uint64
	at           time.Time
}

// shardBeat is the newest one of a shard; a new shard has none.
type shardBeat struct {
	generation
	shard uint16
}

// postgresBeat returns the number of Postgres for a copy of the events, and the shards that have
// had one.
func postgresBeat(ctx context.Context, pool *postgres.Pool, number int32) (b generation, had []int32, err error) {
	row, err := store.New(pool.Unscoped()).StorePulse(ctx, number)
	if err != nil {
		return b, nil, fmt.Errorf("read the pulse of Postgres: %w", err)
	}
	return generation{row.Installation, uint64(row.Number), row.BeatAt}, row.Shards, nil
}

func shardBeats(ctx context.Context, conn driver.Conn) (all []shardBeat, err error) {
	err = clickhouse.EachShard(conn, func(shard driver.Conn) error {
		var b shardBeat
		err := shard.QueryRow(ctx,
			"SELECT (SELECT id FROM lodestone.shard), argMax(installation, number), max(number), max(beat_at) FROM lodestone.pulse").
			Scan(&b.shard, &b.installation, &b.number, &b.at)
		all = append(all, b)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the pulse of ClickHouse: %w", err)
	}
	return all, nil
}

// Compare returns how Postgres and the ClickHouse of a copy of the events are apart, or nil.
func Compare(ctx context.Context, pool *postgres.Pool, number int32, conn driver.Conn) (*Divergence, error) {
	of, had, err := postgresBeat(ctx, pool, number)
	if err != nil {
		return nil, err
	}
	shards, err := shardBeats(ctx, conn)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(shards, func(is shardBeat) bool { return is.number > of.number }) {
		// It may have been raised since, and rises in Postgres first.
		if of, had, err = postgresBeat(ctx, pool, number); err != nil {
			return nil, err
		}
	}
	return compare(of, had, shards), nil
}

// compare compares the shards with Postgres, whose number rises first. What is lost in Postgres
// comes first, then shards of other installations.
func compare(of generation, had []int32, shards []shardBeat) *Divergence {
	found := map[string]*Divergence{}
	for _, is := range shards {
		older, apart := "", true
		switch {
		case is.number == 0 && (of.number <= 1 || !slices.Contains(had, int32(is.shard))): // it is new
			apart = false
		case is.number > 0 && is.installation != of.installation:
		case is.number > of.number:
			older = "postgres"
		case is.number+1 < of.number:
			older = "clickhouse"
		default:
			apart = false
		}
		if !apart {
			continue
		}
		a := found[older]
		if a == nil {
			a = &Divergence{Older: older, Postgres: of.at, ClickHouse: is.at}
			found[older] = a
		}
		a.Shards = append(a.Shards, is.shard)
		if is.at.Before(a.ClickHouse) {
			a.ClickHouse = is.at
		}
	}
	for _, older := range []string{"postgres", "", "clickhouse"} {
		if a := found[older]; a != nil {
			if len(a.Shards) == len(shards) {
				a.Shards = nil
			}
			return a
		}
	}
	return nil
}

// requireInstallation returns an error if servers were restored from a backup of another
// installation.
func requireInstallation(ctx context.Context, pool *postgres.Pool, conn driver.Conn) error {
	id, err := store.New(pool.Unscoped()).Installation(ctx)
	if err != nil {
		return fmt.Errorf("read the pulse of Postgres: %w", err)
	}
	shards, err := shardBeats(ctx, conn)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(shards, func(is shardBeat) bool { return is.number > 0 && is.installation != id }) {
		return errors.New("the backup is from another installation: give one of this installation, and drop what was restored: the databases lodestone, lodestone_all and analytics")
	}
	return nil
}

// align gives the shards the number of Postgres, and both one that neither has had.
func align(ctx context.Context, pool *postgres.Pool, number int32, conn driver.Conn) error {
	of, _, err := postgresBeat(ctx, pool, number)
	if err != nil {
		return err
	}
	shards, err := shardBeats(ctx, conn)
	if err != nil {
		return err
	}
	next := of.number
	for _, is := range shards {
		next = max(next, is.number)
	}
	set, err := store.New(pool.Unscoped()).SetStorePulse(ctx,
		store.SetStorePulseParams{Number: int64(next) + 1, Copy: number})
	if err != nil {
		return fmt.Errorf("set the pulse of Postgres: %w", err)
	}
	return setShards(ctx, pool, number, conn, generation{set.Installation, next + 1, set.BeatAt})
}

// setShards writes a number to the shards, and records in Postgres that they have one.
func setShards(ctx context.Context, pool *postgres.Pool, number int32, conn driver.Conn, b generation) error {
	err := clickhouse.EachShard(conn, func(shard driver.Conn) error {
		return shard.Exec(ctx, "INSERT INTO lodestone.pulse SETTINGS async_insert = 0 SELECT ?, ?, ?",
			b.installation, b.number, b.at.UTC())
	})
	if err != nil {
		return fmt.Errorf("set the pulse of ClickHouse: %w", err)
	}
	shards, err := shardBeats(ctx, conn)
	if err != nil {
		return err
	}
	ids := make([]int32, len(shards))
	for i, is := range shards {
		ids[i] = int32(is.shard)
	}
	slices.Sort(ids)
	if err := store.New(pool.Unscoped()).RecordPulseShards(ctx, store.RecordPulseShardsParams{Shards: ids,
		Copy: number}); err != nil {
		return fmt.Errorf("record which shards have a pulse: %w", err)
	}
	return nil
}

const (
	beatEvery = time.Minute
	// beatLock, with the number of the copy, is the key of the advisory lock under which one process
	// beats.
	beatLock = 0x6c6f6465_62650000 // "lodebe"
)

// PulseDeps are the dependencies of a Pulse; all are required.
type PulseDeps struct {
	Postgres   *postgres.Pool
	ClickHouse clickhouse.Config
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// Pulse is a service.Service that raises the number which Postgres and ClickHouse have in common,
// and notices if one of them is older than the other.
type Pulse struct {
	*service.Loop
	deps   PulseDeps
	apart  *prometheus.GaugeVec
	logged bool
}

// NewPulse returns the service.
func NewPulse(d PulseDeps) *Pulse {
	p := &Pulse{deps: d, apart: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "lodestone_stores_apart",
		Help: "1 if one store was restored to an older state than the other, or belongs to another installation (older=none); see lodestone restore align.",
	}, []string{"older"})}
	d.Registerer.MustRegister(p.apart)
	p.show(nil)
	p.Loop = service.Every("pulse of the stores", beatEvery, beatEvery, d.Log, p.beat)
	return p
}

func (p *Pulse) show(a *Divergence) {
	for _, older := range []string{"postgres", "clickhouse", "none"} {
		value := 0.0
		if a != nil && (a.Older == older || a.Older == "" && older == "none") {
			value = 1
		}
		p.apart.WithLabelValues(older).Set(value)
	}
	if a != nil && !p.logged {
		p.deps.Log.Error("Postgres and ClickHouse are of different times", "difference", a.String())
	}
	p.logged = a != nil
}

func (p *Pulse) beat(ctx context.Context) (err error) {
	conn, err := clickhouse.Open(p.deps.ClickHouse, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return p.deps.Postgres.Transaction(ctx, func(tx pgx.Tx) error {
		mine, err := store.New(tx).TryLock(ctx, beatLock+int64(p.copy()))
		if err != nil {
			return err
		}
		apart, err := Compare(ctx, p.deps.Postgres, p.copy(), conn)
		if err != nil {
			return err
		}
		p.show(apart)
		if !mine || apart != nil {
			return nil
		}
		return p.raise(ctx, conn)
	})
}

// copy returns the number of the copy of the events that it watches.
func (p *Pulse) copy() int32 { return p.deps.ClickHouse.Number() }

// raise raises the number in Postgres if every shard has it, and writes it to the shards.
func (p *Pulse) raise(ctx context.Context, conn driver.Conn) error {
	b, _, err := postgresBeat(ctx, p.deps.Postgres, p.copy())
	if err != nil {
		return err
	}
	shards, err := shardBeats(ctx, conn)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(shards, func(is shardBeat) bool { return is.number < b.number }) {
		next, err := store.New(p.deps.Postgres.Unscoped()).BeatStorePulse(ctx, p.copy())
		if err != nil {
			return fmt.Errorf("raise the pulse of Postgres: %w", err)
		}
		b = generation{next.Installation, uint64(next.Number), next.BeatAt}
	}
	return setShards(ctx, p.deps.Postgres, p.copy(), conn, b)
}
