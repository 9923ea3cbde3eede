package share

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/crud/picture"
	"lodestone/crud/web"
	"lodestone/pkg/auth"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/store"
)

const (
	// unlockedFor is how long a browser need not give the password again.
	unlockedFor  = 12 * time.Hour
	unlockCookie = "lodestone-share"
	unlockGrant  = "share"
)

// viewsOf bounds how often a network asks for pages of shares, whether they exist or not.
func viewsOf() ratelimit.Rule {
	return ratelimit.Rule{Name: "share-views", Quota: 300, Window: time.Hour}
}

// triesOf bounds guesses of one share's password: those of a network, and those of everyone.
func triesOf() (network, everyone ratelimit.Rule) {
	return ratelimit.Rule{Name: "share-passwords-network", Quota: 10, Window: 15 * time.Minute},
		ratelimit.Rule{Name: "share-passwords", Quota: 200, Window: time.Hour}
}

// visitorShare is a share whose token a visitor has.
type visitorShare struct {
	store.ShareByTokenRow
	share auth.Share
	brand web.Brand
}

// open returns the share of a request, or the status page that says why there is none.
func (s *Shares) open(r *http.Request) (o visitorShare, err error) {
	ctx := r.Context()
	wait, err := s.deps.Limiter.TakeAddress(ctx, viewsOf(), s.deps.Addresses.Client(r), "")
	if err != nil {
		return o, fmt.Errorf("open share: %w", err)
	}
	if wait > 0 {
		return o, limited(wait, web.Brand{})
	}
	text := r.PathValue("token")
	if !auth.IsShareToken(text) {
		return o, web.Error(web.NotFound, web.Brand{})
	}
	keys := s.keys()
	hash := auth.ShareOf(text, keys[0]).TokenHash
	err = s.deps.Postgres.Transaction(ctx, func(tx pgx.Tx) error {
		row, err := store.New(tx).ShareByToken(ctx, hash[:])
		if errors.Is(err, pgx.ErrNoRows) {
			return web.Error(web.NotFound, web.Brand{})
		}
		if err != nil {
			return fmt.Errorf("find share: %w", err)
		}
		o = visitorShare{ShareByTokenRow: row, brand: web.Brand{Name: row.AccountName, Language: row.Language}}
		if row.BrandColor != nil {
			o.brand.Accent = *row.BrandColor
		}
		pictures, err := picture.ForMagnet(ctx, tx, s.deps.Pages.URL(""), row.LeadMagnetID)
		if p := pictures.Logo; err == nil && p != nil && p.Height > 0 {
			o.brand.Logo, o.brand.LogoWidth = p.Path, p.Width*web.LogoHeight/p.Height
		}
		return err
	})
	if err != nil {
		return o, err
	}
	if o.Expired {
		return o, web.Error(web.Expired, o.brand)
	}
	for _, key := range keys { // a key of the ring that came later did not derive it
		if o.share = auth.ShareOf(text, key); bytes.Equal(o.share.KeyHash[:], o.KeyHash) {
			return o, nil
		}
	}
	return o, web.Error(web.Expired, o.brand) // the key that derived it is gone
}

func limited(wait time.Duration, brand web.Brand) error {
	st := web.Error(web.TooManyRequests, brand)
	st.Wait = wait
	return st
}

// show returns the handler of the page. Its numbers come from an API.
func (s *Shares) show(a http.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		o, err := s.open(r)
		if err != nil {
			return err
		}
		if !s.isUnlocked(r, o) {
			return s.writeLocked(w, r, http.StatusOK, o, "")
		}
		period := periodOf(r.URL.Query().Get("days"))
		found, err := s.reports.get(r, a, o, period)
		if err != nil {
			return web.Error(web.Unavailable, o.brand).Because(err)
		}
		if r.Method != http.MethodHead {
			if err := s.count(r.Context(), o); err != nil {
				return err
			}
		}
		t := s.deps.Pages.Texts(r, o.brand)
		p := web.Page{Title: t.Say("share.title", "title", o.Title), Class: "share", Brand: o.brand, Texts: t,
			Policy: web.Policy{NoReferrer: true}, Data: s.view(t, o, found, period)}
		if err := s.shown.Write(w, r, http.StatusOK, p); err != nil {
			return fmt.Errorf("write page of share: %w", err)
		}
		return nil
	}
}

func (s *Shares) count(ctx context.Context, o visitorShare) error {
	if err := store.New(s.deps.Postgres.Unscoped()).CountShareView(ctx, o.ID); err != nil {
		return fmt.Errorf("count view of share: %w", err)
	}
	return nil
}

// subject returns the bytes that the grant of an unlocked share is bound to.
func (o visitorShare) subject() []byte { return append(o.ID[:], *o.PasswordHash...) }

func (s *Shares) isUnlocked(r *http.Request, o visitorShare) bool {
	if o.PasswordHash == nil {
		return true
	}
	c, err := r.Cookie(unlockCookie)
	if err != nil {
		return false
	}
	_, err = s.deps.Tokens.OpenGrant(unlockGrant, o.subject(), c.Value, s.deps.Now())
	return err == nil
}

type lockedData struct{ Action, Wrong string }

// writeLocked asks for the password; wrong is the key of what was wrong with the one before, or "".
// It keeps the referrer policy of other pages, which sends nothing to other hosts: with none at
// all, old browsers send the form without an origin, and it would be refused.
func (s *Shares) writeLocked(w http.ResponseWriter, r *http.Request, status int, o visitorShare, wrong string) error {
	t := s.deps.Pages.Texts(r, o.brand)
	title := t.Say("share.locked.title")
	if wrong != "" {
		wrong, title = t.Say(wrong), t.Say("share.locked.check", "title", title)
	}
	d := lockedData{s.deps.Pages.Path(pagePath + o.share.Token), wrong}
	if err := s.locked.Write(w, r, status, web.Page{Title: title, Brand: o.brand, Texts: t, Data: d}); err != nil {
		return fmt.Errorf("write page of share: %w", err)
	}
	return nil
}

// unlock takes the password.
func (s *Shares) unlock(w http.ResponseWriter, r *http.Request) error {
	o, err := s.open(r)
	if err != nil {
		return err
	}
	if err := r.ParseForm(); err != nil {
		return web.BadForm(err)
	}
	if o.PasswordHash != nil {
		if err := s.takeTry(r, o); err != nil {
			return err
		}
		right, err := s.passwords.Check(r.Context(), r.PostForm.Get("password"), *o.PasswordHash)
		if err != nil {
			return fmt.Errorf("check password of share: %w", err)
		}
		if !right {
			return s.writeLocked(w, r, http.StatusUnprocessableEntity, o, "share.locked.wrong")
		}
		http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure wherever the site is https
			Name: unlockCookie, Value: s.deps.Tokens.Grant(unlockGrant, o.subject(), nil, s.deps.Now().Add(unlockedFor)),
			Path: s.deps.Pages.Path(pagePath + o.share.Token), MaxAge: int(unlockedFor.Seconds()), HttpOnly: true,
			Secure: s.secure, SameSite: http.SameSiteLaxMode,
		})
	}
	w.Header().Set("Location", s.deps.Pages.Path(pagePath+o.share.Token))
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// takeTry counts a guess of a password.
func (s *Shares) takeTry(r *http.Request, o visitorShare) error {
	network, everyone := triesOf()
	wait, err := s.deps.Limiter.TakeAddress(r.Context(), network, s.deps.Addresses.Client(r), o.ID.String())
	if err == nil && wait == 0 {
		wait, err = s.deps.Limiter.Take(r.Context(), everyone, o.ID.String())
	}
	if err != nil {
		return fmt.Errorf("count try of password: %w", err)
	}
	if wait > 0 {
		return limited(wait, o.brand)
	}
	return nil
}
