package attachment_test

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/attachment"
)

func TestCellsThatLookLikeFormulas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "Jo": "Jo", "a-b": "a-b", "1+1=2": "1+1=2", "jo@example.com": "jo@example.com", "a; b, c": "a; b, c",
		"https://example.com/?a=1&b=-2": "https://example.com/?a=1&b=-2",
		"=1+1":                          "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)",
		"＝1+1": "'＝1+1", "－1": "'－1",
		"＠x": "'＠x", "＋1": "'＋1", "﹦1": "'﹦1",
		"\tx": "'\tx", "\rx": "'\rx", "\nx": "'\nx", " =1": "' =1", "\u00a0=1": "'\u00a0=1", "\u3000＝1": "'\u3000＝1",
		"\u200b=1": "'\u200b=1", "\x00=1": "'\x00=1", "\ufeff=1": "'\ufeff=1",
		`"=1"`: `'"=1"`, "x;=1+1;": "x;'=1+1;", "x,=1": "x,'=1", "x\t=1": "x\t'=1", "x|-1": "x|'-1", "x; +1": "x;' +1",
		`x;"=1"`: `x;'"=1"`, ";;＝1": ";;'＝1", "x\n=1": "x\n'=1", "x\r\n@a": "x\r\n'@a",
		"=1;=2;=3": "'=1;'=2;'=3", "\t=1": "'\t'=1", "'=1": "'=1", "\xff=1": "\xff=1",
		"x;=cmd|' /C calc'!A0": "x;'=cmd|' /C calc'!A0", "x;＝1|-2": "x;'＝1|'-2",
	} {
		require.Equal(t, want, attachment.Cell(text), "%q", text)
	}
}

// However a program parts the cells of a line, none begins with a sign.
func FuzzCell(f *testing.F) {
	f.Add("x;=1+1", " \"＝2")
	f.Fuzz(func(t *testing.T, a, b string) {
		var out bytes.Buffer
		w := csv.NewWriter(&out)
		require.NoError(t, w.Write([]string{"id", attachment.Cell(a), attachment.Cell(b)}))
		w.Flush()
		for _, separator := range ";,\t|" {
			for line := range strings.FieldsFuncSeq(out.String(), func(r rune) bool { return r == '\n' || r == '\r' }) {
				for cell := range strings.SplitSeq(line, string(separator)) {
					require.False(t, strings.HasPrefix(cell, "=") || strings.HasPrefix(strings.TrimLeft(cell, ` "`), "="),
						"%q at %q in %q", cell, separator, line)
				}
			}
		}
	})
}
