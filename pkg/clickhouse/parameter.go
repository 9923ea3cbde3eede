package clickhouse

import (
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// UUIDs returns the text of an Array(UUID) parameter.
func UUIDs(ids []uuid.UUID) string {
	return array(ids, func(id uuid.UUID) string { return "'" + id.String() + "'" })
}

// Numbers returns the text of an array parameter of integers.
func Numbers(list []int64) string {
	return array(list, func(n int64) string { return strconv.FormatInt(n, 10) })
}

// Text returns the text of a String parameter, whatever bytes the string has: the server reads the
// escapes of its format TSV.
func Text(s string) string { return escaped.Replace(s) }

// Texts returns the text of an Array(String) parameter, whatever bytes the strings have.
func Texts(list []string) string {
	return array(list, func(s string) string { return "'" + quoted.Replace(s) + "'" })
}

var (
	escaped = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\x00", `\0`)
	quoted  = strings.NewReplacer(`\`, `\\`, `'`, `\'`)
)

func array[T any](list []T, text func(T) string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, element := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(text(element))
	}
	b.WriteByte(']')
	return b.String()
}
