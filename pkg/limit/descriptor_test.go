package limit_test

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/limit"
)

func TestIsExhausted(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		require.True(t, limit.IsOutOfDescriptors(fmt.Errorf("open: %w", &os.PathError{Op: "open", Path: "x", Err: errno})),
			errno)
	}
	for _, err := range []error{nil, io.EOF, syscall.ENOENT, syscall.EIO} {
		require.False(t, limit.IsOutOfDescriptors(err), err)
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	limit, known := limit.Descriptors()
	require.True(t, known)
	require.Greater(t, limit, uint64(16))
}
