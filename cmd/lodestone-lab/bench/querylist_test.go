package bench

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What is asked for "for the first time" is in words that were not asked for before.
func TestListsAreAskedForInOtherWordsEachTime(t *testing.T) {
	t.Parallel()
	l := &lists{}
	sizes := map[string]bool{}
	for range mostSizes {
		sizes[l.newSizes([]string{"bot=true"})[0]] = true
	}
	require.Len(t, sizes, mostSizes)
	require.Contains(t, sizes, "bot=true&per_page=80")
	require.NotContains(t, sizes, "bot=true&per_page=20", "which is asked for without saying so")

	queries := l.newLists([]string{"", "bot=true"}, 1000)
	require.Len(t, queries, 2000)
	require.Equal(t, []string{"to=2040-01-02", "bot=true&to=2040-01-02"}, queries[:2], "the filters are asked for in turn")
	slices.Sort(queries)
	require.Len(t, slices.Compact(queries), 2000)
	require.NotContains(t, queries, until("", 1), "which cursors go on in")
}

func TestInsertsMeanwhileStop(t *testing.T) {
	t.Parallel()
	inserted := make(chan struct{})
	stop := insertMeanwhile(context.Background(), func(ctx context.Context) error {
		close(inserted)
		<-ctx.Done()
		return ctx.Err()
	})
	<-inserted
	require.NoError(t, stop(), "it was to end")
	require.NoError(t, stop())
}

func TestInsertsMeanwhileTellWhyTheyEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("refused")
		stop := insertMeanwhile(t.Context(), func(context.Context) error { return refused })
		<-time.After(time.Second)
		synctest.Wait()
		require.ErrorIs(t, stop(), refused)
		require.NoError(t, stop(), "it was told")
	})
}
