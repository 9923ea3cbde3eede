package live

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func drawPosition(t *rapid.T) Position {
	p := Position{}.until(time.UnixMilli(rapid.Int64Range(0, 1<<42-1).Draw(t, "stored")).UTC())
	if rapid.Bool().Draw(t, "on the way") {
		p.since = time.UnixMilli(rapid.Int64Range(0, p.stored.UnixMilli()).Draw(t, "since")).UTC()
	}
	topics := []uuid.UUID{{1}, {2}, {0xff, 15: 0xff}}
	for range rapid.IntRange(0, 12).Draw(t, "partitions") {
		p = p.passed(p.stored, rapid.SampledFrom(topics).Draw(t, "topic"), rapid.Int32Range(0, 1<<31-1).Draw(t, "partition"), rapid.Int64Range(0, 1<<62).Draw(t, "offset"))
	}
	if rapid.Bool().Draw(t, "late") {
		p.late = &reach{topics[0], rapid.Int32Range(0, 1<<31-1).Draw(t, "partition"), rapid.Int64Range(0, 1<<62).Draw(t, "offset")}
	}
	return p
}

func TestPositionsComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPosition(t)
		text := p.String()
		require.Regexp(t, `^[A-Za-z0-9_-]+$`, text)
		back, err := ParsePosition(text)
		require.NoError(t, err)
		require.Equal(t, p, back)
		require.True(t, p.isBehind(back))

		// A later position is not behind an earlier one.
		later := p.passed(p.stored.Add(time.Millisecond), uuid.UUID{1}, 3, 1<<62+1)
		require.True(t, p.isBehind(later))
		require.False(t, later.isBehind(p))
	})
}

// The id of a stream of twelve partitions is short.
func TestPositionsAreShort(t *testing.T) {
	t.Parallel()
	p, topic := Position{}.until(time.UnixMilli(1772323200000)), uuid.New()
	for partition := range int32(12) {
		p = p.passed(p.stored.Add(time.Second), topic, partition, 5_000_000_000)
	}
	require.Less(t, len(p.String()), 150)
}

// Whatever comes as an id, it is a position with one text, or refused.
func FuzzParsePosition(f *testing.F) {
	f.Add("")
	f.Add("AQ")
	at := Position{}.until(time.UnixMilli(1772323200000))
	f.Add(at.String())
	f.Add(Position{stored: at.stored, since: at.since, next: []reach{{uuid.UUID{1}, 0, 5}, {uuid.UUID{1}, 3, 7}, {uuid.UUID{2}, 0, 1}}}.String())
	f.Add(Position{stored: at.stored, since: at.since, late: &reach{uuid.UUID{9}, 1, 2}}.String())
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePosition(text)
		if err != nil {
			require.ErrorIs(t, err, errPosition)
			return
		}
		require.Equal(t, text, p.String())
	})
}
