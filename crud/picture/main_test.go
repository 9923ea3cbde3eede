package picture

import (
	"testing"

	"lodestone/crud/pdf"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) {
	pdf.Main()
	enginetest.Main(m)
}
