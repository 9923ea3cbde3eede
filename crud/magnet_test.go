package crud_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
	"lodestone/pkg/test"
)

func TestLeadMagnet(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	r := u.post(t, "/api/v1/lead-magnets", `{"title":"Guide","description":"two\nlines"}`)
	require.Equal(t, 201, r.status)
	made := r.object(t)
	require.Equal(t, "/api/v1/lead-magnets/"+made["id"].(string), r.header.Get("Location"))
	want := map[string]any{
		"id": made["id"], "title": "Guide", "description": "two\nlines", "file_name": nil,
		"file_size": nil, "page_count": nil,
		"author": nil, "author_about": nil, "end_text": nil, "end_button": nil, "end_url": nil, "downloadable": true,
		"content_type": nil, "is_active": true, "generic_link_count": 0.0, "access_link_count": 0.0,
		"created_at": made["created_at"], "updated_at": made["updated_at"],
	}
	require.Equal(t, want, made)
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, made["created_at"])
	require.Equal(t, want, u.get(t, r.header.Get("Location")).object(t))

	link, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: made["id"].(string)})
	require.NoError(t, err)
	for i := range 2 {
		_, err = u.CreateAccessLink(t.Context(), client.NewAccessLink{LeadMagnetID: link.LeadMagnetID,
			Email: fmt.Sprintf("r%d@example.com", i)})
		require.NoError(t, err)
	}
	m, err := u.LeadMagnet(t.Context(), link.LeadMagnetID)
	require.NoError(t, err)
	require.EqualValues(t, 1, m.GenericLinkCount)
	require.EqualValues(t, 2, m.AccessLinkCount)
}

func TestLeadMagnetList(t *testing.T) {
	t.Parallel()
	f := start(t)
	u, other := f.user(t, account.Free), f.user(t, account.Free)
	page, err := u.LeadMagnets(t.Context(), client.Paging{})
	require.NoError(t, err)
	require.Equal(t, []client.LeadMagnet{}, page.Data)
	require.Equal(t, client.Pagination{Page: 1, PerPage: 20}, page.Pagination)
	other.magnet(t)
	var ids []string
	for range 25 {
		ids = append([]string{u.magnet(t).ID}, ids...)
	}
	var got []string
	for n := 1; n <= 3; n++ {
		page, err := u.LeadMagnets(t.Context(), client.Paging{Page: n, PerPage: 10})
		require.NoError(t, err)
		require.Equal(t, client.Pagination{Page: n, PerPage: 10, Total: 25, TotalPages: 3}, page.Pagination)
		for _, m := range page.Data {
			got = append(got, m.ID)
		}
	}
	require.Equal(t, ids, got)
	r := u.get(t, "/api/v1/lead-magnets?page=9&per_page=10")
	require.Contains(t, r.body, `"data":[]`)
	require.Equal(t, `</api/v1/lead-magnets?page=1&per_page=10>; rel="first", </api/v1/lead-magnets?page=3&per_page=10>; rel="prev", `+
		`</api/v1/lead-magnets?page=3&per_page=10>; rel="last"`, r.header.Get("Link"))
	require.Equal(t, 200, u.get(t, "/api/v1/lead-magnets?page=2147483647&per_page=100").status)
}

func TestUpload(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	m := u.magnet(t)
	require.Equal(t, problem.NotFound, u.get(t, "/api/v1/lead-magnets/"+m.ID+"/file").problem(t).Code)

	first := test.StripPDF(7, 3<<20) // several chunks
	got, err := u.UploadFile(t.Context(), m.ID, "Ünser guide.pdf", bytes.NewReader(first))
	require.NoError(t, err)
	require.Equal(t, "Ünser guide.pdf", *got.FileName)
	require.EqualValues(t, len(first), *got.FileSize)
	require.Equal(t, 7, *got.PageCount)
	require.Equal(t, "application/pdf", *got.ContentType)
	require.False(t, got.UpdatedAt.Before(m.UpdatedAt))

	path := "/api/v1/lead-magnets/" + m.ID + "/file"
	r := u.get(t, path)
	require.Equal(t, 200, r.status)
	require.Equal(t, sha256.Sum256(first), sha256.Sum256([]byte(r.body)))
	require.Equal(t, "application/pdf", r.header.Get("Content-Type"))
	require.Equal(t, "attachment; filename*=utf-8''%C3%9Cnser%20guide.pdf", r.header.Get("Content-Disposition"))
	require.NotEmpty(t, r.header.Get("ETag"))
	require.Equal(t, 304, u.send(t, "GET", path, http.NoBody, "If-None-Match", r.header.Get("ETag")).status)
	for header, want := range map[string][]byte{
		"bytes=1048570-1048590": first[1048570:1048591],
		"bytes=-5":              first[len(first)-5:],
		"bytes=3145728-":        first[3145728:],
	} {
		part := u.send(t, "GET", path, http.NoBody, "Range", header)
		require.Equal(t, 206, part.status, header)
		require.Equal(t, string(want), part.body, header)
	}
	for _, header := range []string{"bytes=99999999-", "bytes=5-1", "bytes=a-b", "lines=1-2",
		"bytes=0-1,4-5", "bytes=-0", "bytes=-"} {
		require.Equal(t, 200, u.send(t, "GET", path, http.NoBody, "Range", header).status, header)
	}

	// A second upload is another version, and events of new tokens tell so.
	link, err := u.CreateAccessLink(t.Context(), client.NewAccessLink{LeadMagnetID: m.ID, Email: "jo@example.com"})
	require.NoError(t, err)
	claims, err := u.fixture.tokens.Verify([]byte(link.TrackingToken))
	require.NoError(t, err)
	require.EqualValues(t, 1, claims.MagnetVersion)
	_, err = u.UploadFile(t.Context(), m.ID, "", bytes.NewReader(test.StripPDF(2, 0)))
	require.NoError(t, err)
	link, err = u.AccessLink(t.Context(), link.ID)
	require.NoError(t, err)
	claims, err = u.fixture.tokens.Verify([]byte(link.TrackingToken))
	require.NoError(t, err)
	require.EqualValues(t, 2, claims.MagnetVersion)
	require.Equal(t, string(test.StripPDF(2, 0)), u.get(t, path).body)
	again, err := u.LeadMagnet(t.Context(), m.ID)
	require.NoError(t, err)
	require.Equal(t, "The Complete Guide.pdf", *again.FileName)
	require.Equal(t, 2, *again.PageCount)
}

func form(t *testing.T, part, name string, content []byte) (io.Reader, string) {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	require.NoError(t, w.WriteField("comment", "hello"))
	h := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="%s"; filename="%s"`, part, name)}}
	p, err := w.CreatePart(h)
	require.NoError(t, err)
	_, err = p.Write(content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return &body, w.FormDataContentType()
}

func TestUploadForms(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	path := "/api/v1/lead-magnets/" + u.magnet(t).ID + "/file"
	body, kind := form(t, "file", `C:\\docs\\my guide.pdf`, test.StripPDF(3, 0))
	require.Equal(t, "my guide.pdf", u.send(t, "PUT", path, body, "Content-Type", kind).object(t)["file_name"])
	for name, want := range map[string]string{
		"?file_name=..%2F..%2Fetc%2Fa.pdf": "a.pdf",
		"":                                 "The Complete Guide.pdf",
	} {
		r := u.send(t, "PUT", path+name, bytes.NewReader(test.StripPDF(1, 0)), "Content-Type", "application/pdf")
		require.Equal(t, want, r.object(t)["file_name"])
	}
	for disposition, want := range map[string]string{
		`attachment; filename*=UTF-8''%e2%82%ac.pdf`:     "€.pdf",
		"attachment; filename*=UTF-8''b%e2%80%aefdp.exe": "b-fdp.exe.pdf",
		`;;;nonsense`: "The Complete Guide.pdf",
		`attachment; filename*=UTF-8''%ff%fe%00x.pdf`: "",
	} {
		r := u.send(t, "PUT", path, bytes.NewReader(test.StripPDF(1, 0)), "Content-Type", "application/pdf",
			"Content-Disposition", disposition)
		if want == "" {
			require.Equal(t, "file_name", fields(r.problem(t)), disposition)
			continue
		}
		require.Equal(t, want, r.object(t)["file_name"], disposition)
	}
}

// A file is served under the name of a PDF, also one that was stored under another before.
func TestOldFileName(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	m := u.magnet(t)
	_, err := u.UploadFile(t.Context(), m.ID, "a.pdf", bytes.NewReader(test.StripPDF(1, 0)))
	require.NoError(t, err)
	for stored, want := range map[string]string{
		"setup.exe":          `attachment; filename=setup.exe.pdf`,
		`a"b.bat`:            `attachment; filename=a-b.bat.pdf`,
		"a\r\nSet-Cookie: x": `attachment; filename="a--Set-Cookie: x.pdf"`,
	} {
		_, err = f.db.Unscoped().Exec(t.Context(), "UPDATE lead_magnet_files SET file_name = $1 WHERE account_id = $2",
			stored, u.account)
		require.NoError(t, err)
		r := u.get(t, "/api/v1/lead-magnets/"+m.ID+"/file")
		require.Equal(t, want, r.header.Get("Content-Disposition"))
		require.Equal(t, "nosniff", r.header.Get("X-Content-Type-Options"))
	}
}

func TestUploadRefused(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *crud.Config) { c.MaxFileBytes = 2 << 20 })
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	m := u.magnet(t)
	path := "/api/v1/lead-magnets/" + m.ID + "/file"
	good := test.StripPDF(2, 0)
	whole, kind := form(t, "file", "a.pdf", good)
	text, err := io.ReadAll(whole)
	require.NoError(t, err)
	wrongPart, wrongKind := form(t, "document", "a.pdf", good)
	for name, test := range map[string]struct {
		body   io.Reader
		code   problem.Code
		header []string
	}{
		"no content type": {bytes.NewReader(good), problem.UnsupportedMediaType, nil},
		"JSON": {strings.NewReader("{}"), problem.UnsupportedMediaType,
			[]string{"Content-Type", "application/json"}},
		"Word": {bytes.NewReader(good), problem.UnsupportedMediaType,
			[]string{"Content-Type", "application/msword"}},
		"packed": {bytes.NewReader(good), problem.UnsupportedMediaType,
			[]string{"Content-Type", "application/pdf", "Content-Encoding", "gzip"}},
		"form, no boundary": {bytes.NewReader(text), problem.UnsupportedMediaType,
			[]string{"Content-Type", "multipart/form-data"}},
		"empty": {http.NoBody, problem.ValidationError, []string{"Content-Type", "application/pdf"}},
		"no PDF": {strings.NewReader("PK\x03\x04 a Word document"), problem.ValidationError,
			[]string{"Content-Type", "application/pdf"}},
		"HTML": {strings.NewReader("<html><script>alert(1)</script> %PDF-"), problem.ValidationError,
			[]string{"Content-Type", "application/pdf"}},
		"HTML, then a PDF": {io.MultiReader(strings.NewReader("<html><script>alert(1)</script>"), bytes.NewReader(good)),
			problem.ValidationError, []string{"Content-Type", "application/pdf"}},
		"damaged": {bytes.NewReader(good[:200]), problem.ValidationError,
			[]string{"Content-Type", "application/pdf"}},
		"no pages": {bytes.NewReader(test.StripPDF(0, 0)), problem.ValidationError,
			[]string{"Content-Type", "application/pdf"}},
		"form, other part": {wrongPart, problem.ValidationError, []string{"Content-Type", wrongKind}},
		"form cut off":     {bytes.NewReader(text[:len(text)-60]), problem.ValidationError, []string{"Content-Type", kind}},
		"form, other text": {strings.NewReader("nonsense"), problem.ValidationError, []string{"Content-Type", kind}},
		"too large": {bytes.NewReader(test.StripPDF(1, 2<<20)), problem.PayloadTooLarge,
			[]string{"Content-Type", "application/pdf"}},
		"much too large": {bytes.NewReader(test.StripPDF(1, 8<<20)), problem.PayloadTooLarge,
			[]string{"Content-Type", "application/pdf"}},
		"too large, chunked": {io.MultiReader(bytes.NewReader(test.StripPDF(1, 4<<20))), problem.PayloadTooLarge,
			[]string{"Content-Type", "application/pdf"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.code, u.send(t, "PUT", path, test.body, test.header...).problem(t).Code)
		})
	}
	t.Run("elsewhere", func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{"/api/v1/lead-magnets/nonsense/file", path} {
			r := other.send(t, "PUT", path, bytes.NewReader(good), "Content-Type", "application/pdf")
			require.Equal(t, problem.NotFound, r.problem(t).Code)
			require.Equal(t, problem.NotFound, other.get(t, path).problem(t).Code)
		}
		r := u.send(t, "POST", path, bytes.NewReader(good))
		require.Equal(t, problem.MethodNotAllowed, r.problem(t).Code)
		require.Equal(t, "GET, HEAD, PUT, OPTIONS", r.header.Get("Allow"))
	})
	t.Cleanup(func() { // after all of the above: nothing was stored
		var files int
		err := f.db.Unscoped().QueryRow(context.Background(), "SELECT count(*) FROM lead_magnet_files WHERE account_id = $1",
			u.account).Scan(&files)
		require.NoError(t, err)
		require.Zero(t, files)
	})
}

// Uploads of one account that stand still leave room for those of another, and the account itself
// is asked to wait.
func TestStalledUploadsOfAnother(t *testing.T) {
	t.Parallel()
	f := start(t)
	busy, u := f.user(t, account.Team), f.user(t, account.Team)
	path := "/api/v1/lead-magnets/" + busy.magnet(t).ID + "/file"
	for range 4 {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(f.url, "http://"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		_, err = fmt.Fprintf(c,
			"PUT %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/pdf\r\nContent-Length: %d\r\n\r\n%%PDF-1.7",
			path, busy.key, 5<<20)
		require.NoError(t, err)
	}
	var refused reply
	require.Eventually(t, func() bool {
		refused = busy.send(t, "PUT", path, strings.NewReader("no PDF"), "Content-Type", "application/pdf")
		return refused.status != http.StatusUnprocessableEntity
	}, testTimeout, time.Millisecond)
	require.Equal(t, problem.RateLimited, refused.problem(t).Code)
	require.NotEmpty(t, refused.header.Get("Retry-After"))
	_, err := u.UploadFile(t.Context(), u.magnet(t).ID, "a.pdf", bytes.NewReader(test.StripPDF(1, 0)))
	require.NoError(t, err)
}

// The first file says who wrote it, unless the owner did; what the owner clears stays clear.
func TestTheFirstFileNamesTheAuthor(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	m := u.magnet(t)
	upload := func(id, author string) any {
		_, err := u.UploadFile(t.Context(), id, "a.pdf", bytes.NewReader(test.AuthoredPDF(author)))
		require.NoError(t, err)
		return u.get(t, "/api/v1/lead-magnets/"+id).object(t)["author"]
	}
	require.Equal(t, "Ada Lovelace", upload(m.ID, "(Ada Lovelace)"))
	require.Equal(t, "Ada Lovelace", upload(m.ID, "(Charles Babbage)"))
	path := "/api/v1/lead-magnets/" + m.ID
	require.Nil(t, u.send(t, "PATCH", path, strings.NewReader(`{"author":null}`), "Content-Type",
		"application/json").object(t)["author"])
	require.Nil(t, upload(m.ID, "(Charles Babbage)"))
	given := u.post(t, "/api/v1/lead-magnets",
		`{"title":"Notes","author":"Countess of Lovelace"}`).object(t)["id"].(string)
	require.Equal(t, "Countess of Lovelace", upload(given, "(Ada Lovelace)"))
}
