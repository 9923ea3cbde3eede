package eventlist

import (
	"testing"

	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }
