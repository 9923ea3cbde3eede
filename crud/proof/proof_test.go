package proof_test

import (
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"lodestone/crud/proof"
)

func TestCodesAsPeopleTypeThem(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{
		"123456", " 123 456\n", "123-456", "12 34 56", "123\u00a0456", "123\u2011456", "123–456",
		"123.456.", "“123456”", "(123456)",
		"１２３４５６", "１２３　４５６", "123456\u200b", "\ufeff123456", "12\u20603456", "\u202a123456\u202c", "١٢٣٤٥٦", "۱۲۳۴۵۶",
		"१२३४५६", "𝟏𝟐𝟑456", ": 123456",
	} {
		require.True(t, proof.IsCode(typed), "%q", typed)
		require.Equal(t, "123456", proof.Digits(typed), "%q", typed)
	}
	for _, typed := range []string{"", "12345", "1234567", "12345a", "O23456", "١٢٣", "一二三四五六",
		"①②③④⑤⑥", "123456 x", "\xff123456"} {
		require.False(t, proof.IsCode(typed), "%q", typed)
	}
}

func TestDigitsOfAllScripts(t *testing.T) {
	t.Parallel()
	count := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if unicode.Is(unicode.Nd, r) {
			// each script has its digits from zero to nine
			require.Equal(t, string(rune('0'+count%10)), proof.Digits(string(r)), "%U", r)
			count++
		}
	}
}
