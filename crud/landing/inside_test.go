package landing_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A headline of the link's own leaves the description of the document.
func TestTitleAndDescriptionFallBackSeparately(t *testing.T) {
	t.Parallel()
	f := start(t)
	for set, want := range map[string][2]string{
		"title = 'Ours'":          {"Ours", "What we learnt in ten years."},
		"description = 'Our own'": {"The Complete Guide", "Our own"},
	} {
		r := f.get(t, "/l/"+f.link(t, set))
		require.Contains(t, r.body, "<h1>"+want[0]+"</h1>")
		require.Contains(t, r.body, `<p class="lead">`+want[1]+"</p>")
		require.Contains(t, r.body, `<meta name="description" content="`+want[1]+`">`)
	}
}

func TestThePageShowsWhatIsInTheDocument(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	f.exec(t, `UPDATE lead_magnet_files SET outline = '[{"level":1,"title":"Why <b> guides","page":2},{"level":2,"title":"A part","page":3},{"level":1,"title":"How","page":5}]'`)
	f.exec(t, `INSERT INTO pictures (id, account_id, kind, lead_magnet_id, version, content_type, width, height, bytes)
		SELECT md5(k), account_id, k, lead_magnet_id, version, 'image/jpeg', 360, 509, '' FROM lead_magnet_files, unnest(ARRAY['inside1', 'inside2', 'inside3']) k`)
	f.exec(t, `UPDATE lead_magnets SET author = 'Ada Lovelace', author_about = 'Writes programs.'`)
	body := f.get(t, "/l/"+slug).body
	require.Contains(t, body,
		`<li><span>Why &lt;b&gt; guides</span><span class="number"><span class="unseen">, page 2</span><span aria-hidden="true">2</span></span></li>`)
	require.Contains(t, body, `<li class="part"><span>A part</span>`)
	require.Equal(t, 3, strings.Count(body, `width="360" height="509" alt="" loading="lazy"`))
	require.Contains(t, body, "<strong>Ada Lovelace</strong><br>Writes programs.")

	f.exec(t, `UPDATE generic_links SET show_contents = false, show_pages = false`)
	body = f.get(t, "/l/"+slug).body
	require.NotContains(t, body, "guides</span>")
	require.NotContains(t, body, `height="509"`)
	require.Contains(t, body, "Ada Lovelace")
}

// How many people read the document is shown only if the owner wants it, as it is, and once they
// are ten.
func TestThePageShowsTheTrueNumberOfReaders(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug, wanted := f.link(t), f.link(t, "show_readers = true")
	read := func(slug string, people int) {
		for i := range people {
			for range 2 { // who reads twice is one reader
				id := uuid.Must(uuid.NewV7())
				f.exec(t, `INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key)
					SELECT $1, account_id, lead_magnet_id, $2, $2, sha256(uuid_send($1)), '', 1 FROM generic_links WHERE slug = $3`,
					id, strings.Repeat("x", i+1)+"@example.com", slug)
				f.exec(t, `INSERT INTO access_link_counts (id, account_id, views) SELECT id, account_id, 1 FROM access_links WHERE id = $1`, id)
			}
		}
		f.pass(time.Minute)
	}
	// finish lets the first people come to a page, with as many minutes of reading as each one's
	// number.
	finish := func(slug string, people, page int) {
		for i := range people {
			f.exec(t, `INSERT INTO sessions (id, account_id, access_link_id, started_at, magnet_version, last_active_at, pages, duration_ms)
				SELECT $1, a.account_id, a.id, now(), m.file_version, now(), ARRAY[1, $2::integer], $3 FROM access_links a
				JOIN lead_magnets m ON m.id = a.lead_magnet_id JOIN generic_links g ON g.lead_magnet_id = m.id
				WHERE g.slug = $4 AND a.email = $5 ORDER BY a.id LIMIT 1`,
				uuid.Must(uuid.NewV7()), page, 60_000*(i+1), slug, strings.Repeat("x", i+1)+"@example.com")
		}
		f.pass(time.Minute)
	}
	read(slug, 12)
	read(wanted, 9)
	require.NotContains(t, f.get(t, "/l/"+slug).body, "Read by")
	require.NotContains(t, f.get(t, "/l/"+wanted).body, "Read by")
	read(wanted, 11)
	body := f.get(t, "/l/"+wanted).body
	require.Contains(t, body, "<li>Read by 11 people</li>")
	require.NotContains(t, body, "finished")
	require.NotContains(t, body, "minutes to read")

	// Who came to the last page finished, and the time that half of them took is shown once there are
	// five.
	finish(wanted, 4, 12)
	require.Contains(t, f.get(t, "/l/"+wanted).body, "<li>4 finished it</li>")
	require.NotContains(t, f.get(t, "/l/"+wanted).body, "minutes to read")
	finish(wanted, 11, 2)
	require.Contains(t, f.get(t, "/l/"+wanted).body, "<li>4 finished it</li>")
	f.exec(t, `UPDATE sessions SET pages = array_append(pages, $1) WHERE duration_ms = 300000`, 12)
	f.pass(time.Minute)
	body = f.get(t, "/l/"+wanted, "Accept-Language", "de").body
	require.Contains(t, body, "<li>5 haben es zu Ende gelesen</li>")
	// the middle of 2, 4, 5, 6 and 8: all but the fifth read twice
	require.Contains(t, body, "<li>5 Minuten Lesezeit</li>")
	require.NotContains(t, f.get(t, "/l/"+slug).body, "finished")
}

// A page that fails before it is written still looks like its account.
func TestRefusalsCarryTheBrand(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	f.exec(t, `UPDATE accounts SET brand_color = '#a01030'`)
	r := f.do(t, "POST", "/l/"+slug, values("email", "jo@example.com"), "Sec-Fetch-Site", "cross-site")
	require.Equal(t, http.StatusForbidden, r.status)
	require.Contains(t, r.body, "Acme Ltd")
	require.Contains(t, r.body, "--accent:#a01030")
	long := f.post(t, "/l/"+slug, "email", strings.Repeat("a", 100_000))
	require.Equal(t, http.StatusRequestEntityTooLarge, long.status)
	require.Contains(t, long.body, "Acme Ltd")
	// What is not there is no one's.
	require.NotContains(t, f.get(t, "/l/nothing-here").body, "Acme")
}

// The account's logo is the icon of its pages.
func TestTheLogoIsTheIcon(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	require.Contains(t, f.get(t, "/l/"+slug).body, `<link rel="icon" href="/assets/look/mark-`)
	f.exec(t, `INSERT INTO pictures (id, account_id, kind, content_type, width, height, bytes) VALUES (md5('logo'), $1, 'logo', 'image/png', 64, 64, '')`, f.account)
	body := f.get(t, "/l/"+slug).body
	logo := regexp.MustCompile(`<link rel="icon" href="(/p/\w+\.png)">`).FindStringSubmatch(body)
	require.NotNil(t, logo)
	require.Contains(t, body, `<img src="`+logo[1]+`"`)
	// Landing pages keep the system's typeface unless the account chose the other.
	require.NotContains(t, body, "@font-face")
	f.exec(t, `UPDATE accounts SET brand_font = 'inter'`)
	r := f.get(t, "/l/"+slug)
	require.Contains(t, r.body, "font-display:optional")
	require.Contains(t, r.body, `rel="preload"`)
	require.Contains(t, r.header.Get("Content-Security-Policy"), "font-src 'self'")
}
