package jsonschema

import (
	"testing"

	"lodestone/pkg/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
