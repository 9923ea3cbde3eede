package collector

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestADeadlineIsMovedWhenItMatters(t *testing.T) {
	t.Parallel()
	const slack = time.Second
	var m lazyDeadline
	_, due := m.due(slack)
	require.False(t, due, "there is none to begin with")
	begin := time.Now()
	for _, step := range []struct {
		wanted time.Duration
		due    bool
	}{
		{time.Minute, true},
		{time.Minute + slack/2, false},
		{time.Minute + slack, false},
		{time.Minute + slack + 1, true}, // what is set would be too early
		{time.Minute + slack, true},     // what is set would be too late
		{time.Second, true},
	} {
		m.wanted = begin.Add(step.wanted)
		at, due := m.due(slack)
		require.Equal(t, step.due, due, step.wanted)
		require.False(t, at.Before(m.wanted), step.wanted)
		require.LessOrEqual(t, at.Sub(m.wanted), slack)
	}
	m.wanted = time.Time{}
	at, due := m.due(slack)
	require.True(t, due)
	require.True(t, at.IsZero())
}
