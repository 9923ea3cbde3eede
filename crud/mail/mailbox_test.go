package mail

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud/web"
	"lodestone/pkg/locale"
)

// kept is a mailbox in memory.
type kept []RenderedMail

func (k *kept) Prune(time.Time) error { return nil }

func (k *kept) Deliver(m RenderedMail) error {
	*k = append(*k, m)
	return nil
}

// What shows a mail shows the pictures in it.
func TestMailboxGetsPictures(t *testing.T) {
	t.Parallel()
	w, box := writer(t), &kept{}
	b := Brand{Name: "Northwind", Accent: web.Token("accent"),
		Logo: &Picture{"logo", "image/png", 32, 32, []byte("pixels")}}
	m := messages()["confirm"]
	l, err := write(m, w.texts.In(""), b, w.site, submitted)
	require.NoError(t, err)
	msg, err := w.compose(m.To, submitted, l, b)
	require.NoError(t, err)
	require.NoError(t, mailboxSender{box}.send(t.Context(), m.Kind, msg))
	require.Contains(t, (*box)[0].HTML, `src="data:image/png;base64,cGl4ZWxz"`)
	require.Contains(t, string((*box)[0].Source), "cGl4ZWxz")
}

// A mailbox gets what a server would get, and its parts as they were written.
func TestMailboxGetsTheRenderedMail(t *testing.T) {
	t.Parallel()
	w, box := writer(t), &kept{}
	for _, m := range messages() {
		_, o := posted(t, w, m)
		l, err := write(m, w.texts.In(""), Brand{Accent: web.Token("accent")}, w.site, submitted)
		require.NoError(t, err)
		l.Language = locale.English
		msg, err := w.compose(m.To, submitted, l, Brand{Accent: web.Token("accent")})
		require.NoError(t, err)
		require.NoError(t, mailboxSender{box}.send(t.Context(), m.Kind, msg))
		got := (*box)[len(*box)-1]
		require.Equal(t, m.To, got.To)
		require.Equal(t, o.text, got.Text)
		require.Equal(t, strings.ReplaceAll(o.html, "\r\n", "\n"), got.HTML)
		require.Contains(t, string(got.Source), "Content-Type: multipart/alternative")
	}
}
