package limit_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/limit"
)

var one, two = netip.MustParseAddr("203.0.113.1"), netip.MustParseAddr("203.0.113.2")

func TestAMinutesWorthAndThenOneAtATime(t *testing.T) {
	t.Parallel()
	l, now := limit.NewAddressLimiter(3), time.Now()
	for range 3 {
		require.Zero(t, l.Wait(one, now))
		_, ok := l.Take(one, uuid.Nil, now)
		require.True(t, ok)
	}
	wait, ok := l.Take(one, uuid.Nil, now)
	require.False(t, ok)
	require.Equal(t, 20*time.Second, wait)
	require.Equal(t, wait, l.Wait(one, now), "what is refused is not counted")
	now = now.Add(wait)
	require.Zero(t, l.Wait(one, now))
	_, ok = l.Take(one, uuid.Nil, now)
	require.True(t, ok)
	require.NotZero(t, l.Wait(one, now))
}

func TestBucketsAreApart(t *testing.T) {
	t.Parallel()
	l, now := limit.NewAddressLimiter(1), time.Now()
	for _, c := range []struct {
		addr netip.Addr
		of   uuid.UUID
		want bool
	}{
		{one, uuid.Nil, true},
		{one, uuid.Nil, false},
		{one, uuid.UUID{1}, true},
		{two, uuid.Nil, true},
		{netip.MustParseAddr("2001:db8::1"), uuid.Nil, true},
		{netip.MustParseAddr("2001:db8::2"), uuid.Nil, false}, // of the same network of 64 bits
		{netip.MustParseAddr("2001:db8:0:1::1"), uuid.Nil, true},
		{netip.Addr{}, uuid.Nil, true},
		{netip.Addr{}, uuid.Nil, true}, // not known: it may stand for many people
	} {
		_, ok := l.Take(c.addr, c.of, now)
		require.Equal(t, c.want, ok, "%+v", c)
	}
}

func TestZeroIsNoLimit(t *testing.T) {
	t.Parallel()
	l := limit.NewAddressLimiter(0)
	for range 1000 {
		_, ok := l.Take(one, uuid.Nil, time.Now())
		require.True(t, ok)
	}
}

// Memory is bounded: when every bucket is in use, those of a shard are given up, and clients are
// let through again.
func TestManyClients(t *testing.T) {
	t.Parallel()
	l, now := limit.NewAddressLimiter(1), time.Now()
	addr := netip.MustParseAddr("10.0.0.0")
	for range 400_000 {
		_, ok := l.Take(addr, uuid.Nil, now)
		require.True(t, ok)
		addr = addr.Next()
	}
	_, ok := l.Take(netip.MustParseAddr("10.0.0.0"), uuid.Nil, now)
	require.True(t, ok, "forgotten")
}
