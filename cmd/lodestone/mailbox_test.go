package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/test/enginetest"
)

// mailTo waits for a mail to an address whose subject begins so, and returns its links.
func (u *up) mailTo(address, subject string) (links []string) {
	u.t.Helper()
	require.Eventually(u.t, func() bool {
		_, body := get(u.t, u.env["LODESTONE_URL"]+"/dev/mailbox.json?to="+address, u.env["LODESTONE_DEV_SECRET"])
		var box struct {
			Mails []struct {
				Subject string
				Links   []string
			}
		}
		if json.Unmarshal([]byte(body), &box) != nil {
			return false
		}
		for _, m := range box.Mails {
			if strings.HasPrefix(m.Subject, subject) {
				links = m.Links
				return true
			}
		}
		return false
	}, enginetest.Timeout, interval, "%s: %s\n%s", address, subject, u.out)
	return links
}

// showsItsMails shows that mails are shown, survive kills, and wait while the SMTP server is away.
// away is for a start with an SMTP server that is away; shown for one without.
func (u *up) showsItsMails(t *testing.T) (away, shown func()) {
	t.Helper()
	site := u.env["LODESTONE_URL"]
	require.NotContains(t, u.out.String(), u.env["LODESTONE_DEV_SECRET"], "a service manager keeps what is printed")
	api := client.New(client.Config{URL: site, Key: u.env["LODESTONE_API_KEY"]})
	magnet, err := api.CreateLeadMagnet(t.Context(), client.NewLeadMagnet{Title: "Guide"})
	require.NoError(t, err)
	pdf, err := os.ReadFile("demo/guide.pdf")
	require.NoError(t, err)
	_, err = api.UploadFile(t.Context(), magnet.ID, "guide.pdf", bytes.NewReader(pdf))
	require.NoError(t, err)
	link, err := api.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: magnet.ID})
	require.NoError(t, err)
	submit := func(address string) {
		form := strings.NewReader(url.Values{"email": {address}}.Encode())
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, link.URL, form)
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := (&http.Client{CheckRedirect: func(*http.Request,
			[]*http.Request) error {
			return http.ErrUseLastResponse
		}}).Do(r)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusSeeOther, res.StatusCode)
	}
	submit("jo@example.com")
	links := u.mailTo("jo@example.com", "Your document")
	require.Len(t, links, 1)
	require.True(t, strings.HasPrefix(links[0], site+"/a/"))
	status, _ := get(t, links[0], "")
	require.Equal(t, http.StatusOK, status)
	links = u.mailTo(demoOwner, "New lead: jo@example.com")
	require.True(t, slices.ContainsFunc(links, func(l string) bool { return strings.HasPrefix(l, site+"/notices/") }))

	away = func() {
		status, _ := get(t, site+"/dev/mailbox", u.env["LODESTONE_DEV_SECRET"])
		require.Equal(t, http.StatusNotFound, status, "mails go to an SMTP server")
		submit("an@example.com")
		// Both, and those of before the end if that came before theirs was written down: after two
		// minutes they are sent again.
		waiting := regexp.MustCompile(`lodestone_queue_jobs\{queue="mail",state="retryable"\} [2-4]\n`)
		require.Eventually(t, func() bool {
			_, metrics := get(t, u.env["LODESTONE_ADMIN_URL"]+"/metrics", "")
			return waiting.MatchString(metrics)
		}, enginetest.Timeout, interval)
	}
	return away, func() {
		u.mailTo("jo@example.com", "Your document")
		u.mailTo("an@example.com", "Your document")
		u.mailTo(demoOwner, "New lead: an@example.com")
		require.NotContains(t, u.out.String(), "@example.com", "a log with an address")
	}
}

// What `lodestone up` has for the person who started it, over its starts: an orderly end, two
// kills, and other settings.
func TestUpOverItsStarts(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.start()
	ended, streams := u.streams(t)
	signsIn := u.signsIn(t)
	elsewhere := u.keepsItsPages(t)
	away, shown := u.showsItsMails(t)
	u.interrupt(enginetest.Timeout)
	ended()
	u.more = []string{"--smtp-url=smtp://127.0.0.1:1", "--mail-from=hello@example.com"}
	u.start()
	streams()
	signsIn()
	away()
	u.kill()
	u.more = nil
	u.start()
	shown()
	u.kill()
	u.more = []string{"--public-url=https://links.example.com"}
	u.start()
	elsewhere()
	u.interrupt(enginetest.Timeout)
}
