package retention

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/config"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// Delay is the time after which a shorter retention takes effect. Deletion is final, so a mistake
// can be corrected until then.
const Delay = 24 * time.Hour

// Setting is the retention time, as stored in Postgres for all processes.
type Setting struct {
	Months     int       // 0 keeps everything
	NextMonths int       // replaces Months at NextAt; 0: nothing does
	NextAt     time.Time // zero: never
}

// At returns the months that apply at a time.
func (s Setting) At(now time.Time) int {
	if s.NextMonths > 0 && !now.Before(s.NextAt) {
		return s.NextMonths
	}
	return s.Months
}

// shorter reports whether b retains fewer months than a.
func shorter(a, b int) bool { return b != 0 && (a == 0 || b < a) }

func settingOf(r store.RetentionSetting) Setting {
	s := Setting{Months: int(r.Months)}
	if r.NextMonths != nil && r.NextAt != nil {
		s.NextMonths, s.NextAt = int(*r.NextMonths), r.NextAt.UTC()
	}
	return s
}

// ReadSetting returns the stored setting, and false if there is none yet.
func ReadSetting(ctx context.Context, pool *postgres.Pool) (s Setting, found bool, err error) {
	recorded, err := store.New(pool.Unscoped()).RetentionSetting(ctx)
	if errors.Is(err, pgx.ErrNoRows) {
		return Setting{}, false, nil
	}
	if err != nil {
		return Setting{}, false, fmt.Errorf("read the recorded retention: %w", err)
	}
	return settingOf(recorded), true, nil
}

// SetMonths stores for how many months events are retained, and returns the setting. A longer time,
// or 0 for everything, takes effect at once, and a shorter one after Delay. Setting the current
// number cancels a pending change. The error satisfies config.IsInvalid if the number is out of
// range.
func SetMonths(ctx context.Context, pool *postgres.Pool, months int) (s Setting, err error) {
	if months < 0 || months > maxMonths {
		return Setting{}, config.Invalid("months", "is out of range", allowedMonths)
	}
	err = pool.Transaction(ctx, func(tx pgx.Tx) error {
		if err := recordFirst(ctx, tx, 0); err != nil {
			return err
		}
		q := store.New(tx)
		now, err := q.Now(ctx)
		if err != nil {
			return fmt.Errorf("read Postgres' clock: %w", err)
		}
		recorded, err := q.LockRetentionSetting(ctx)
		if err != nil {
			return fmt.Errorf("read the recorded retention: %w", err)
		}
		s = settingOf(recorded)
		switch present := s.At(now); {
		case shorter(present, months) && months == s.NextMonths:
			return nil // it waits already
		case shorter(present, months):
			// to the millisecond, as it is stored
			s = Setting{Months: present, NextMonths: months, NextAt: now.UTC().Add(Delay).Truncate(time.Millisecond)}
		default:
			s = Setting{Months: months}
		}
		return s.write(ctx, tx)
	})
	return s, err
}

func (s Setting) write(ctx context.Context, tx pgx.Tx) error {
	p := store.SetRetentionParams{Months: int32(s.Months)}
	if next := int32(s.NextMonths); next > 0 {
		p.NextMonths, p.NextAt = &next, &s.NextAt
	}
	if err := store.New(tx).SetRetention(ctx, p); err != nil {
		return fmt.Errorf("record the retention: %w", err)
	}
	return nil
}

// recordFirst stores the first value, if there is none. It deletes nothing before Delay either.
func recordFirst(ctx context.Context, tx pgx.Tx, months int) error {
	if err := store.New(tx).AddRetention(ctx, store.AddRetentionParams{Months: int32(months),
		DelaySeconds: Delay.Seconds()}); err != nil {
		return fmt.Errorf("record the retention: %w", err)
	}
	return nil
}

// setting returns the stored setting, or the process's own setting if there was none. It compares
// the two.
func (j *Job) setting(ctx context.Context) (s Setting, err error) {
	s, found, err := ReadSetting(ctx, j.pool)
	if err != nil {
		return s, err
	}
	if !found {
		err := j.pool.Transaction(ctx, func(tx pgx.Tx) error { return recordFirst(ctx, tx, j.cfg.Months) })
		if err != nil {
			return s, err
		}
		if s, _, err = ReadSetting(ctx, j.pool); err != nil {
			return s, err
		}
	}
	// The default does not count as a wish: processes without a setting of their own have it.
	differs := j.cfg.Months != 0 && j.cfg.Months != s.Months && j.cfg.Months != s.NextMonths
	if differs && !j.warned {
		j.log.Warn("--retention-months differs from the recorded retention, which applies", "given_months", j.cfg.Months,
			"recorded_months", s.Months,
			"remedy", fmt.Sprintf("`lodestone retention set %d`, or leave the setting out", j.cfg.Months))
	}
	if s.NextMonths > 0 && !j.warned {
		j.log.Warn("a shorter retention will take effect and delete events", "next_months", s.NextMonths,
			"takes_effect_at", s.NextAt,
			"cancel", fmt.Sprintf("`lodestone retention set %d`", s.Months))
	}
	j.warned = differs || s.NextMonths > 0
	j.differs.Set(map[bool]float64{true: 1}[differs])
	return s, nil
}
