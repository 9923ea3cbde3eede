package mail

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// kept is a mailbox in memory.
type kept []Rendered

func (k *kept) Deliver(m Rendered) error {
	*k = append(*k, m)
	return nil
}

// A mailbox gets what a server would get, and its parts as they were written.
func TestMailboxGetsTheRenderedMail(t *testing.T) {
	t.Parallel()
	w, box := writer(t), &kept{}
	for _, m := range messages() {
		_, o := posted(t, w, m)
		l, err := write(m, w.site, submitted)
		require.NoError(t, err)
		msg, err := w.compose(m.To, submitted, l)
		require.NoError(t, err)
		require.NoError(t, mailboxSender{box}.send(t.Context(), msg))
		got := (*box)[len(*box)-1]
		require.Equal(t, m.To, got.To)
		require.Equal(t, o.text, got.Text)
		require.Equal(t, strings.ReplaceAll(o.html, "\r\n", "\n"), got.HTML)
		require.Contains(t, string(got.Source), "Content-Type: multipart/alternative")
	}
}
