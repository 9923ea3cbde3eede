package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/sandbox"
	"lodestone/pkg/test"
)

func TestMain(m *testing.M) {
	for _, t := range tasks {
		sandbox.Main(t)
	}
	test.LeakMain(m)
}

// tasks are the tasks of the tests' processes.
var tasks = []sandbox.Task{
	{Name: "__echo", CPUSeconds: 10, Run: func(file *os.File, out io.Writer) error {
		_, err := io.Copy(out, file)
		return err
	}},
	{Name: "__environment", CPUSeconds: 10, Run: func(_ *os.File, out io.Writer) error {
		score, _ := os.ReadFile("/proc/self/oom_score_adj")
		_, err := fmt.Fprintln(out, strings.Join(os.Environ(), " "), "score", strings.TrimSpace(string(score)))
		return err
	}},
	{Name: "__loop", CPUSeconds: 5, Run: func(_ *os.File, out io.Writer) error {
		if _, err := io.WriteString(out, "before"); err != nil {
			return err
		}
		if err := out.(interface{ Flush() error }).Flush(); err != nil {
			return err
		}
		for n := 0; ; n++ {
			_ = n
		}
	}},
	{Name: "__little", CPUSeconds: 20, Run: func(*os.File, io.Writer) error {
		sandbox.LimitCPU(1)
		for n := 0; ; n++ {
			_ = n
		}
	}},
	{Name: "__swell", CPUSeconds: 20, Run: func(*os.File, io.Writer) error {
		for all := [][]byte{}; ; {
			block := make([]byte, 16<<20)
			for i := 0; i < len(block); i += 4096 {
				block[i] = 1
			}
			all = append(all, block)
		}
	}},
	{Name: "__deep", CPUSeconds: 20, Run: func(*os.File, io.Writer) error {
		var deeper func(n int) int
		deeper = func(n int) int { return deeper(n+1) + 1 }
		_ = deeper(0)
		return nil
	}},
	{Name: "__panic", CPUSeconds: 10, Run: func(*os.File, io.Writer) error { panic("x") }},
	{Name: "__fail", CPUSeconds: 10, Run: func(*os.File, io.Writer) error { return errors.New("x") }},
	{Name: "__flood", CPUSeconds: 20, Run: func(_ *os.File, out io.Writer) error {
		for block := make([]byte, 1<<20); ; {
			if _, err := out.Write(block); err != nil {
				return err
			}
		}
	}},
	{Name: "__wait", CPUSeconds: 10, Run: func(file *os.File, _ io.Writer) error {
		path, err := io.ReadAll(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(string(path), nil, 0o600); err != nil { // it runs
			return err
		}
		select {}
	}},
	{Name: "__alone", CPUSeconds: 10, Run: func(file *os.File, _ io.Writer) error {
		// Only one of these runs at a time: each makes the file that none may find.
		path, err := io.ReadAll(file)
		if err != nil {
			return err
		}
		made, err := os.OpenFile(string(path), os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		return errors.Join(made.Close(), os.Remove(string(path)))
	}},
}

// owner is whose files the tests read.
var owner = uuid.New()

func file(t *testing.T, text string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func runner(t *testing.T, atOnce int) *sandbox.Runner {
	t.Helper()
	r, err := sandbox.New(atOnce)
	require.NoError(t, err)
	return r
}

func TestReadsTheFileFromItsBeginning(t *testing.T) {
	t.Parallel()
	f := file(t, "some text")
	_, err := f.Seek(5, io.SeekStart)
	require.NoError(t, err)
	out, err := runner(t, 1).Run(t.Context(), owner, "__echo", f)
	require.NoError(t, err)
	require.Equal(t, "some text", string(out))
}

func TestKnowsNoSecrets(t *testing.T) {
	t.Setenv("LODESTONE_POSTGRES_URL", "postgres://secret")
	out, err := runner(t, 1).Run(t.Context(), owner, "__environment", file(t, ""), "A=b")
	require.NoError(t, err)
	require.Equal(t, "GOMAXPROCS=1 GOMEMLIMIT=402653184 A=b score 1000\n", string(out))
}

func TestEndsWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"__loop", "__little", "__swell", "__deep", "__panic", "__fail", "__flood"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := runner(t, 1).Run(t.Context(), owner, name, file(t, ""))
			require.True(t, sandbox.IsDead(err), "%v", err)
			require.NotContains(t, err.Error(), "deadline", "not by waiting for it")
			require.Less(t, len(out), 65<<20)
			if name == "__loop" {
				require.Equal(t, "before", string(out), "its output before")
			}
		})
	}
}

func TestOthersWait(t *testing.T) {
	t.Parallel()
	one := runner(t, 1)
	text := filepath.Join(t.TempDir(), "made")
	var wait sync.WaitGroup
	for range 6 {
		f := file(t, text)
		wait.Go(func() {
			if _, err := one.Run(t.Context(), owner, "__alone", f); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	one := runner(t, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := one.Run(ctx, owner, "__little", file(t, ""))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.False(t, sandbox.IsDead(err))
	_, err = one.Run(ctx, owner, "__echo", file(t, ""))
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// Files of one account that take long, however many, do not keep another account's from being read.
func TestOneAccountDoesNotStopAnother(t *testing.T) {
	t.Parallel()
	r := runner(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	defer busy.Wait()
	defer cancel()
	dir := t.TempDir()
	for i := range 6 {
		f := file(t, filepath.Join(dir, strconv.Itoa(i)))
		busy.Go(func() {
			if _, err := r.Run(ctx, owner, "__wait", f); !errors.Is(err, context.Canceled) {
				t.Error("it ended by itself:", err)
			}
		})
	}
	require.Eventually(t, func() bool {
		runs, err := os.ReadDir(dir)
		return err == nil && len(runs) > 0
	}, time.Minute, time.Millisecond)
	other := uuid.New()
	for range 3 {
		out, err := r.Run(t.Context(), other, "__echo", file(t, "hello"))
		require.NoError(t, err)
		require.Equal(t, "hello", string(out))
	}
}
