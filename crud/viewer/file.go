package viewer

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/crud/file"
	"lodestone/crud/magnet"
	"lodestone/crud/session"
	"lodestone/crud/watermark"
	"lodestone/crud/web"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/limit"
)

const (
	_ = uint64(magnet.KeepOpened - session.Longest) // replaced files outlive the sessions that read them
	// enterTimeout bounds the look-ups before a file is sent.
	enterTimeout = 15 * time.Second
	// sendAgain is when one who was refused a file is asked to try again.
	sendAgain = 5 * time.Second
	// recordTimeout bounds the wait for Postgres after bytes went out.
	recordTimeout = 20 * time.Second
)

// file serves the document of a session, whole or in parts, for reading.
func (v *Viewer) file(w http.ResponseWriter, r *http.Request) {
	in, err := v.enter(r)
	if err != nil {
		v.deps.Pages.WriteBranded(w, r, asPage(err, web.Brand{}), v.brand)
		return
	}
	d, err := v.deliver(r, &in)
	if err != nil {
		v.deps.Pages.WriteBranded(w, r, err, v.brand)
		return
	}
	defer d.Close()
	v.send(w, r, in, d, "inline")
}

// place takes a place among the files that are sent at a time, of a visitor's address and in all.
// The error is a page.
func (v *Viewer) place(r *http.Request) (release func(), err error) {
	release, err = v.sending.Take(clientaddr.Network(v.deps.Addresses.Client(r)), 1)
	if err == nil {
		return release, nil
	}
	status := web.Error(web.Unavailable, web.Brand{})
	if errors.Is(err, limit.ErrOwner) {
		status = web.Error(web.TooManyRequests, web.Brand{})
	}
	status.Wait = sendAgain
	return nil, status
}

func (v *Viewer) enter(r *http.Request) (session.Session, error) {
	ctx, cancel := context.WithTimeout(r.Context(), enterTimeout)
	defer cancel()
	r = r.WithContext(ctx)
	link, err := v.find(r)
	if err != nil {
		return session.Session{}, err
	}
	return v.deps.Sessions.Enter(ctx, link, r.URL.Query().Get("s"))
}

// download serves the document of a session for keeping, and records which bytes went out. Its URL
// names the download, so that a browser that goes on with it after a break adds to the same one.
func (v *Viewer) download(w http.ResponseWriter, r *http.Request) {
	in, err := v.enter(r)
	if err != nil {
		v.deps.Pages.WriteBranded(w, r, asPage(err, web.Brand{}), v.brand)
		return
	}
	if !in.Downloadable {
		v.deps.Pages.WriteBranded(w, r, v.noDownload(r), v.brand)
		return
	}
	d, err := v.deliver(r, &in)
	if err != nil {
		v.deps.Pages.WriteBranded(w, r, err, v.brand)
		return
	}
	defer d.Close()
	id, err := uuid.Parse(r.URL.Query().Get("d"))
	if in.ID == uuid.Nil || err != nil || r.Method != http.MethodGet {
		v.send(w, r, in, d, "attachment") // a preview, or nothing goes out: there is nothing to record
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), enterTimeout)
	err = v.deps.Sessions.StartDownload(ctx, in, id)
	cancel()
	if err != nil {
		v.deps.Pages.WriteBranded(w, r, asPage(err, web.Brand{}), v.brand)
		return
	}
	first, last := v.send(w, r, in, d, "attachment")
	if first == last {
		return
	}
	// The visitor may be gone by now, and what went out did go out.
	ctx, cancel = context.WithTimeout(context.WithoutCancel(r.Context()), recordTimeout)
	defer cancel()
	if err := v.deps.Sessions.Served(ctx, in, id, first, last, v.visitor(r)); err != nil {
		v.deps.Log.Error("cannot record a download", "session_id", in.ID, "error", err)
	}
}

// noDownload is the error of a document that is for reading only. It leads to the reading page,
// whose address says who reads.
func (v *Viewer) noDownload(r *http.Request) error {
	st := web.Error(web.NoDownload, web.Brand{})
	st.Action = web.Action{Key: "status.no_download.action", URL: v.path(r)}
	return st
}

// content is the bytes of a document.
type content interface {
	io.ReadSeeker
	Close()
}

// content opens the document of a session, with the mark of its reader if it has one: then its size
// is another. What cannot be read fails here. The tag stands for the bytes.
func (v *Viewer) content(ctx context.Context, in *session.Session) (opened content, tag string, err error) {
	if in.Watermarked {
		marked, err := v.deps.Marks.Open(ctx, in.File, in.Link.Email, in.StartedAt)
		if err != nil {
			return nil, "", busyPage(err)
		}
		in.File.FileSize = marked.Size()
		return marked, marked.Tag(), nil
	}
	stored := v.deps.Files.Open(ctx, in.File)
	if err := stored.Check(); err != nil {
		stored.Close()
		return nil, "", err
	}
	return stored, file.Tag(in.File), nil
}

// busyPage turns the error of a document that can be read later into the page that says so.
func busyPage(err error) error {
	if !errors.Is(err, watermark.ErrBusy) {
		return err
	}
	st := web.Error(web.Unavailable, web.Brand{}).Because(err)
	st.Wait = sendAgain
	return st
}

// delivery is a document that has a place among those that are sent. Close it.
type delivery struct {
	content
	tag     string
	release func()
}

// Close gives the place back.
func (d *delivery) Close() {
	d.content.Close()
	d.release()
}

// deliver opens the document of a session, before the answer begins. One with a mark is opened
// first, since others can have the place while it is stamped.
func (v *Viewer) deliver(r *http.Request, in *session.Session) (d *delivery, err error) {
	d = &delivery{}
	if in.Watermarked {
		if d.content, d.tag, err = v.content(r.Context(), in); err != nil {
			return nil, err
		}
	}
	if d.release, err = v.place(r); err != nil {
		if d.content != nil {
			d.content.Close()
		}
		return nil, err
	}
	if d.content != nil {
		return d, nil
	}
	if d.content, d.tag, err = v.content(r.Context(), in); err != nil {
		d.release()
		return nil, err
	}
	return d, nil
}

// send writes the document of a session, or the part of it that is asked for. It returns what went
// out: the bytes from first up to, and without, last.
func (v *Viewer) send(w http.ResponseWriter, r *http.Request, in session.Session, d *delivery,
	kind string) (first, last int64) {
	f := in.File
	file.KeepOneRange(r, f.FileSize)
	h := w.Header()
	h.Set("Content-Type", f.ContentType)
	h.Set("Content-Disposition", magnet.Disposition(kind, f.FileName))
	h.Set("Content-Security-Policy", "frame-ancestors 'none'")  // more would keep the browser's own viewer out
	h.Set("Cache-Control", "private, max-age=43200, immutable") // the URL names session and version
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("ETag", d.tag)
	if kind == "attachment" {
		h.Set("Cache-Control", "private, no-store") // what comes from a cache would not count
	}
	out := &countingWriter{ResponseWriter: magnet.NewPace(w, f.FileSize), connection: http.NewResponseController(w)}
	http.ServeContent(out, r, "", f.CreatedAt, d)
	if err := out.connection.Flush(); err != nil && out.failed == nil && !errors.Is(err, http.ErrNotSupported) {
		out.failed = err
	}
	// What is short of what it announced is seen to be cut off: net/http breaks the connection.
	if stored, ok := d.content.(*file.Content); ok && stored.Failed() != nil && r.Context().Err() == nil {
		v.deps.Log.Error("a file was cut off", "lead_magnet_id", f.LeadMagnetID, "error", stored.Failed())
	}
	if r.Method == http.MethodHead || out.bytes == 0 {
		return 0, 0
	}
	switch out.status {
	case http.StatusOK:
	case http.StatusPartialContent:
		from, _, _ := strings.Cut(strings.TrimPrefix(h.Get("Content-Range"), "bytes "), "-")
		var err error
		if first, err = strconv.ParseInt(from, 10, 64); err != nil {
			return 0, 0
		}
	default:
		return 0, 0
	}
	last = first + out.bytes
	if out.failed != nil && last > first {
		last-- // the end of what was written did not leave
	}
	return first, last
}

// countingWriter counts what is written.
type countingWriter struct {
	http.ResponseWriter
	connection *http.ResponseController
	status     int
	bytes      int64
	failed     error
}

func (c *countingWriter) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

func (c *countingWriter) Write(b []byte) (int, error) {
	if c.status == 0 {
		c.WriteHeader(http.StatusOK)
	}
	n, err := c.ResponseWriter.Write(b)
	c.bytes += int64(n)
	if err != nil {
		c.failed = err
	}
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (c *countingWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func seconds(d time.Duration) string { return strconv.Itoa(int((d + time.Second - 1) / time.Second)) }
