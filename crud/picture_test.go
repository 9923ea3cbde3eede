package crud_test

import (
	"bytes"
	"image"
	"image/color"
	_ "image/jpeg"
	"image/png"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/crud/picture"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/test"
)

const logoPath = "/api/v1/account/logo"

func flag(t *testing.T, width, height int, c color.Color) []byte {
	t.Helper()
	i := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			i.Set(x, y, c)
		}
	}
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, i))
	return out.Bytes()
}

// upload makes a lead magnet with a file and a link to it, and returns the link's path.
func (u *user) upload(t *testing.T) (magnet, link uuid.UUID, path string) {
	t.Helper()
	m := u.magnet(t)
	_, err := u.UploadFile(t.Context(), m.ID, "guide.pdf", bytes.NewReader(test.StripPDF(3, 0)))
	require.NoError(t, err)
	l := u.link(t, m.ID)
	return uuid.MustParse(m.ID), uuid.MustParse(l.ID), linksPath + "/" + l.ID
}

func (u *user) pictures(t *testing.T, link uuid.UUID, external *string) picture.Page {
	t.Helper()
	var page picture.Page
	require.NoError(t, u.fixture.db.AccountSnapshot(t.Context(), u.account, func(tx pgx.Tx) (err error) {
		page, err = picture.ForLink(t.Context(), tx, site, link, external)
		return err
	}))
	return page
}

// public asks without a key.
func (f *fixture) public(t *testing.T, method, path string, header ...string) reply {
	t.Helper()
	anybody := &user{fixture: f}
	return anybody.send(t, method, path, http.NoBody, header...)
}

func TestPicturesOfADocument(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	empty := u.link(t, u.magnet(t).ID)
	require.Equal(t, picture.Page{}, u.pictures(t, uuid.MustParse(empty.ID), nil))

	magnet, link, _ := u.upload(t)
	page := u.pictures(t, link, nil)
	require.Equal(t, picture.LargeWidth, page.Thumbnail.Width)
	require.Equal(t, picture.SmallWidth, page.Thumbnail.Small.Width)
	require.Equal(t, picture.PreviewWidth, page.Preview.Width)
	require.Nil(t, page.Logo)
	require.Equal(t, site+page.Thumbnail.Path, page.Thumbnail.URL)
	require.Equal(t, page.Thumbnail.Small.Path+" 480w, "+page.Thumbnail.Path+" 960w", page.Thumbnail.SrcSet())
	require.Equal(t, "First page of G", page.Thumbnail.Alt("G"))
	for _, p := range []picture.Picture{page.Thumbnail.Picture, page.Thumbnail.Small, *page.Preview} {
		r := u.fixture.public(t, "GET", p.Path)
		require.Equal(t, 200, r.status)
		require.Equal(t, p.ContentType, r.header.Get("Content-Type"))
		decoded, format, err := image.Decode(strings.NewReader(r.body))
		require.NoError(t, err)
		require.Equal(t, p.ContentType, "image/"+format)
		require.Equal(t, image.Pt(p.Width, p.Height), decoded.Bounds().Size())
		require.Equal(t, "nosniff", r.header.Get("X-Content-Type-Options"))
		require.Equal(t, "sandbox; default-src 'none'", r.header.Get("Content-Security-Policy"))
		require.Equal(t, "public, max-age=31536000, immutable", r.header.Get("Cache-Control"))
		require.Empty(t, r.header.Get("Set-Cookie"))
		require.Equal(t, 304, u.fixture.public(t, "GET", p.Path, "If-None-Match", r.header.Get("ETag")).status)
		head := u.fixture.public(t, "HEAD", p.Path)
		require.Equal(t, 200, head.status)
		require.Empty(t, head.body)
	}

	// Another file has other pictures; those of before stay where they were shown.
	before := page
	_, err := u.UploadFile(t.Context(), magnet.String(), "next.pdf", bytes.NewReader(test.StripPDF(9, 0)))
	require.NoError(t, err)
	page = u.pictures(t, link, nil)
	require.NotEqual(t, before.Thumbnail.URL, page.Thumbnail.URL)
	require.Equal(t, 200, u.fixture.public(t, "GET", before.Thumbnail.Path).status)

	// With the lead magnet they are gone.
	require.Equal(t, 204, u.send(t, "DELETE", "/api/v1/lead-magnets/"+magnet.String()+"?cascade=true", http.NoBody).status)
	for _, path := range []string{before.Thumbnail.Path, page.Thumbnail.Path, page.Preview.Path} {
		require.Equal(t, problem.NotFound, u.fixture.public(t, "GET", path).problem(t).Code)
	}
}

func TestPictureNames(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	_, link, _ := u.upload(t)
	path := u.pictures(t, link, nil).Thumbnail.Path
	id := path[len("/p/") : len(path)-len(".jpg")]
	other := map[string]string{".jpg": ".png", ".png": ".jpg"}[path[len(path)-4:]]
	for _, wrong := range []string{"/p/" + id + other, "/p/" + id, "/p/A" + strings.ToUpper(id[1:]) + ".jpg",
		"/p/" + strings.Repeat("0", 32) + ".jpg", "/p/x.jpg", "/p/%2e%2e.png", "/p/" + id + ".jpg%00"} {
		require.GreaterOrEqual(t, u.fixture.public(t, "GET", wrong).status, 400, wrong)
	}
	require.Equal(t, 405, u.fixture.public(t, "POST", path).status)
}

// A file whose first page cannot be rendered is taken all the same.
func TestADocumentWithoutAPicture(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	m := u.magnet(t)
	flat := test.AssemblePDF([]string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 90000 1] >>",
	}, 0)
	got, err := u.UploadFile(t.Context(), m.ID, "flat.pdf", bytes.NewReader(flat))
	require.NoError(t, err)
	require.Equal(t, 1, *got.PageCount)
	require.Equal(t, picture.Page{}, u.pictures(t, uuid.MustParse(u.link(t, m.ID).ID), nil))
}

func TestThumbnailOfALink(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	_, link, path := u.upload(t)
	before := u.get(t, path).object(t)
	cover := before["thumbnail_url"]
	require.Regexp(t, "^"+site+"/p/", cover, "the first page, which the link's page shows")
	require.Equal(t, cover, u.patch(t, path, `{"thumbnail_url":"`+cover.(string)+`"}`).object(t)["thumbnail_url"])
	document := u.pictures(t, link, nil)

	put := func(body []byte, header ...string) reply {
		return u.send(t, "PUT", path+"/thumbnail", bytes.NewReader(body), header...)
	}
	r := put(flag(t, 1200, 800, color.NRGBA{0, 0, 200, 255}), "Content-Type", "image/png")
	shown := r.object(t)["thumbnail_url"].(string)
	require.Greater(t, r.object(t)["updated_at"], before["updated_at"])
	require.True(t, strings.HasPrefix(shown, site+"/p/"), shown)
	require.Equal(t, shown, u.get(t, path).object(t)["thumbnail_url"])
	page := u.pictures(t, link, nil)
	require.Equal(t, shown, page.Thumbnail.URL)
	require.True(t, page.Thumbnail.Uploaded)
	require.Equal(t, 640, page.Thumbnail.Height)
	require.NotEqual(t, document.Preview.URL, page.Preview.URL)
	require.Equal(t, 200, f.public(t, "GET", page.Thumbnail.Path).status)

	// Another link of the same document has still its first page.
	other := u.link(t, before["lead_magnet_id"].(string))
	require.Equal(t, document, u.pictures(t, uuid.MustParse(other.ID), nil))

	// A client that sends back what it read changes nothing of the picture.
	got := u.patch(t, path, `{"title":"New","thumbnail_url":"`+shown+`"}`).object(t)
	require.Equal(t, "New", got["title"])
	require.Equal(t, shown, got["thumbnail_url"])
	require.Equal(t, shown, u.patch(t, path, `{"title":"Newer"}`).object(t)["thumbnail_url"])
	require.Equal(t, 200, f.public(t, "GET", page.Thumbnail.Path).status)

	// By a form, in place of the one before.
	body, contentType := form(t, "file", "cover.png", flag(t, 300, 400, color.Black))
	again := u.send(t, "PUT", path+"/thumbnail", body, "Content-Type", contentType).object(t)["thumbnail_url"].(string)
	require.NotEqual(t, shown, again)
	require.Equal(t, 404, f.public(t, "GET", page.Thumbnail.Path).status)

	// An address elsewhere takes its place, and none.
	elsewhere := "https://example.com/a.png"
	require.Equal(t, elsewhere, u.patch(t, path, `{"thumbnail_url":"`+elsewhere+`"}`).object(t)["thumbnail_url"])
	require.Equal(t, 404, f.public(t, "GET", strings.TrimPrefix(again, site)).status)
	page = u.pictures(t, link, &elsewhere)
	require.Equal(t, elsewhere, page.Thumbnail.URL)
	require.Equal(t, elsewhere, page.Preview.URL)
	require.Empty(t, page.Thumbnail.SrcSet())
	shown = put(flag(t, 64, 64, color.Black), "Content-Type", "image/png").object(t)["thumbnail_url"].(string)
	require.Equal(t, cover, u.patch(t, path, `{"thumbnail_url":null}`).object(t)["thumbnail_url"])
	require.Equal(t, 404, f.public(t, "GET", strings.TrimPrefix(shown, site)).status)

	put(flag(t, 64, 64, color.Black), "Content-Type", "image/png").object(t)
	for range 2 {
		require.Equal(t, 204, u.send(t, "DELETE", path+"/thumbnail", http.NoBody).status)
	}
	require.Equal(t, cover, u.get(t, path).object(t)["thumbnail_url"])
	require.Equal(t, document, u.pictures(t, link, nil))

	// With the link its picture is gone.
	shown = put(flag(t, 64, 64, color.Black), "Content-Type", "image/png").object(t)["thumbnail_url"].(string)
	require.Equal(t, 204, u.send(t, "DELETE", path, http.NoBody).status)
	require.Equal(t, 404, f.public(t, "GET", strings.TrimPrefix(shown, site)).status)
	require.Equal(t, 404, put(flag(t, 64, 64, color.Black), "Content-Type", "image/png").status)
}

func TestRefusedUploadsOfPictures(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	_, _, path := u.upload(t)
	good := flag(t, 64, 64, color.Black)
	for _, target := range []string{path + "/thumbnail", logoPath} {
		for name, refused := range map[string]struct {
			body        []byte
			contentType string
			code        problem.Code
			says        string
		}{
			"svg":        {[]byte("<svg/>"), "image/svg+xml", problem.ValidationError, "is an SVG"},
			"svg as png": {[]byte("<svg/>"), "image/png", problem.ValidationError, "is an SVG"},
			"text":       {[]byte("hello"), "text/plain", problem.UnsupportedMediaType, "image/png"},
			"json":       {[]byte("{}"), "application/json", problem.UnsupportedMediaType, "image/png"},
			"web page":   {[]byte("<html>"), "image/png", problem.ValidationError, "is not a picture"},
			"nothing":    {nil, "image/png", problem.ValidationError, "is empty"},
			"too many bytes": {append(bytes.Clone(good), make([]byte, picture.MaxBytes)...), "image/png",
				problem.PayloadTooLarge, "at most"},
			"cut off": {good[:len(good)/2], "image/png", problem.ValidationError, "is damaged"},
		} {
			r := u.send(t, "PUT", target, bytes.NewReader(refused.body), "Content-Type", refused.contentType)
			require.Equal(t, refused.code, r.problem(t).Code, name)
			require.Contains(t, r.body, refused.says, name)
		}
		reader, stranger := f.userOf(t, u.account, auth.Read), f.user(t, account.Team)
		for _, method := range []string{"PUT", "DELETE"} {
			require.Equal(t, 403, reader.send(t, method, target, bytes.NewReader(good), "Content-Type", "image/png").status)
			require.Equal(t, 401, f.public(t, method, target, "Authorization", "Bearer x").status)
			if target != logoPath {
				require.Equal(t, 404, stranger.send(t, method, target, bytes.NewReader(good), "Content-Type", "image/png").status)
			}
		}
	}
	require.Regexp(t, "^"+site+"/p/", u.get(t, path).object(t)["thumbnail_url"], "still the first page")
	require.Equal(t, 404, u.get(t, logoPath).status)
}

func TestLogo(t *testing.T) {
	t.Parallel()
	f := start(t)
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	_, link, _ := u.upload(t)
	_, otherLink, _ := other.upload(t)
	require.Equal(t, problem.NotFound, u.get(t, logoPath).problem(t).Code)
	require.Equal(t, 404, u.send(t, "DELETE", logoPath, http.NoBody).status)

	r := u.send(t, "PUT", logoPath, bytes.NewReader(flag(t, 1000, 250, color.NRGBA{255, 0, 0, 60})),
		"Content-Type", "image/png")
	first := r.object(t)
	require.Equal(t, map[string]any{"url": first["url"], "width": 640.0, "height": 160.0, "content_type": "image/png"},
		first)
	require.Equal(t, first, u.get(t, logoPath).object(t))
	logo := u.pictures(t, link, nil).Logo
	require.Equal(t, first["url"], logo.URL)
	decoded, _, err := image.Decode(strings.NewReader(f.public(t, "GET", logo.Path).body))
	require.NoError(t, err)
	_, _, _, alpha := decoded.At(5, 5).RGBA()
	require.EqualValues(t, 60*0x101, alpha)
	require.Nil(t, other.pictures(t, otherLink, nil).Logo)

	// Many at once leave one.
	var wait sync.WaitGroup
	for i := range 6 {
		wait.Go(func() {
			r := u.send(t, "PUT", logoPath, bytes.NewReader(flag(t, 100+i, 50, color.Black)), "Content-Type", "image/png")
			if r.status != 200 {
				t.Errorf("%d %s", r.status, r.body)
			}
		})
	}
	wait.Wait()
	require.Equal(t, 404, f.public(t, "GET", logo.Path).status)
	last := u.get(t, logoPath).object(t)
	require.Equal(t, 200, f.public(t, "GET", strings.TrimPrefix(last["url"].(string), site)).status)
	require.Equal(t, 204, u.send(t, "DELETE", logoPath, http.NoBody).status)
	require.Equal(t, 404, u.get(t, logoPath).status)
	require.Equal(t, 404, f.public(t, "GET", strings.TrimPrefix(last["url"].(string), site)).status)
}
