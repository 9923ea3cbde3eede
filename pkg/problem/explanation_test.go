package problem_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/problem"
)

func TestEveryCodeIsExplained(t *testing.T) {
	t.Parallel()
	for _, code := range problem.Codes() {
		require.NotEmpty(t, code.Cause(), code)
		require.NotEmpty(t, code.Remedy(), code)
	}
}
