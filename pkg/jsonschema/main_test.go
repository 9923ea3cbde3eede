package jsonschema

import (
	"testing"

	"lodestone/pkg/test"
)

func TestMain(m *testing.M) { test.LeakMain(m) }
