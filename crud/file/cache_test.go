package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

func write(size int) func(context.Context, *os.File) (int64, error) {
	return func(_ context.Context, into *os.File) (int64, error) {
		n, err := into.Write(make([]byte, size))
		return int64(n), err
	}
}

// Many who want a file at once share one copying, and it is removed from the cache only for others, not from those who read it.
func TestCacheCopiesAFileOnce(t *testing.T) {
	t.Parallel()
	c := newCache(150, prometheus.NewRegistry())
	defer c.close()
	var fills int
	begun, goOn := make(chan struct{}), make(chan struct{})
	fill := func(ctx context.Context, into *os.File) (int64, error) {
		fills++
		close(begun)
		<-goOn
		return write(100)(ctx, into)
	}
	var all sync.WaitGroup
	copies := make([]*copied, 20)
	for i := range copies {
		all.Go(func() {
			var err error
			copies[i], err = c.open(t.Context(), key{1}, fill)
			require.NoError(t, err)
		})
	}
	<-begun
	close(goOn)
	all.Wait()
	require.Equal(t, 1, fills)

	second, err := c.open(t.Context(), key{2}, write(100))
	require.NoError(t, err)
	require.EqualValues(t, 100, c.bytes, "the first one had to go")
	for _, first := range copies {
		text, err := io.ReadAll(io.NewSectionReader(first, 0, 1000))
		require.NoError(t, err, "it is still read")
		require.Len(t, text, 100)
		first.release()
	}
	_, err = copies[0].Stat()
	require.ErrorIs(t, err, os.ErrClosed)
	second.release()
}

// A file that is larger than the whole cache is read all the same, and errors are not kept.
func TestCacheTriesAgain(t *testing.T) {
	t.Parallel()
	c := newCache(10, prometheus.NewRegistry())
	defer c.close()
	_, err := c.open(t.Context(), key{1}, func(context.Context, *os.File) (int64, error) { return 0, errors.New("away") })
	require.ErrorContains(t, err, "away")
	large, err := c.open(t.Context(), key{1}, write(1000))
	require.NoError(t, err)
	large.release()
}

// Whoever leaves does not end the copying for the others.
func TestCacheOutlivesWhoWaits(t *testing.T) {
	t.Parallel()
	c := newCache(1000, prometheus.NewRegistry())
	defer c.close()
	begun, goOn := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := c.open(ctx, key{1}, func(ctx context.Context, into *os.File) (int64, error) {
			close(begun)
			<-goOn
			return write(10)(ctx, into)
		})
		left <- err
	}()
	<-begun
	cancel()
	require.ErrorIs(t, <-left, context.Canceled)
	close(goOn)
	other, err := c.open(t.Context(), key{1}, func(context.Context, *os.File) (int64, error) { return 0, errors.New("copied again") })
	require.NoError(t, err)
	other.release()
}

// Under load the sizes add up, and every file is closed in the end.
func TestCacheUnderLoad(t *testing.T) {
	t.Parallel()
	c := newCache(500, prometheus.NewRegistry())
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 200 {
				k := byte((i*7 + worker) % 11)
				found, err := c.open(t.Context(), key{k}, write(100+int(k)))
				require.NoError(t, err)
				text, err := io.ReadAll(io.NewSectionReader(found, 0, 1000))
				require.NoError(t, err)
				require.Len(t, text, 100+int(k), fmt.Sprint(k))
				found.release()
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, c.bytes, int64(500))
	c.close()
	require.Zero(t, c.bytes)
	require.Empty(t, c.copies)
}
