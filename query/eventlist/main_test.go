package eventlist

import (
	"testing"

	"lodestone/pkg/engine/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }
