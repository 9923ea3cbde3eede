//go:build long

package enginetest_test

import (
	"testing"

	"lodestone/pkg/test/enginetest"
)

func TestApacheKafkaMakesTopicsOfFourPartitions(t *testing.T) {
	t.Parallel()
	requireTopic(t, enginetest.ApacheKafka(t))
}
