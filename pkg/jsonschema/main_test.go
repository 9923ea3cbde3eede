package jsonschema

import (
	"testing"

	"lodestone/pkg/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
