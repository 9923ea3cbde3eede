package clickhouse

import (
	"strings"

	"github.com/google/uuid"
)

// UUIDs returns the text of an Array(UUID) parameter.
func UUIDs(ids []uuid.UUID) string {
	var b strings.Builder
	b.Grow(2 + 39*len(ids))
	b.WriteByte('[')
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\'')
		b.WriteString(id.String())
		b.WriteByte('\'')
	}
	b.WriteByte(']')
	return b.String()
}
