package setting

import (
	"net/http"
	"net/url"

	"lodestone/crud/account"
	"lodestone/crud/dashboard/frame"
	"lodestone/pkg/auth"
)

const keysPath = "/api/v1/keys"

type keysData struct {
	frame.Form
	Done    string
	Made    *account.NewAPIKey // with its text, which is shown once
	Keys    list[keyRow]
	Choices []frame.Option
}

type keyRow struct {
	account.APIKey
	Created, Used, Until frame.Instant
}

func (s *Screens) showKeys(v *frame.Visit) error {
	return s.drawKeys(v, http.StatusOK, frame.Form{Values: url.Values{"scopes": {string(auth.Read)}}}, nil)
}

func (s *Screens) drawKeys(v *frame.Visit, status int, typed frame.Form, made *account.NewAPIKey) error {
	keys, err := read(v, keysPath, nil, func(k account.APIKey) keyRow {
		return keyRow{k, v.WhenOf(&k.CreatedAt), v.WhenOf(k.LastUsedAt), v.WhenOf(k.ExpiresAt)}
	})
	if err != nil {
		return err
	}
	d := keysData{Form: typed, Done: done(v), Made: made, Keys: keys}
	for _, scope := range auth.Scopes() {
		if v.May(scope) {
			d.Choices = append(d.Choices,
				frame.Option{Value: string(scope), Words: v.Say("setting.keys.scope." + string(scope))})
		}
	}
	return s.show(v, "keys", "setting.keys", status, d)
}

// createKey makes a key, and shows it this once.
func (s *Screens) createKey(v *frame.Visit) error {
	typed, err := form(v)
	if err != nil {
		return err
	}
	body := map[string]any{"name": typed.Get("name"), "scopes": append([]string{}, typed["scopes"]...)}
	if day := typed.Get("expires_at"); day != "" {
		body["expires_at"] = day
		if at, ok := v.EndOfDay(day); ok {
			body["expires_at"] = at
		}
	}
	made, err := frame.Send[account.NewAPIKey](v, http.MethodPost, keysPath, body, nil)
	if f, ok := frame.Rejected(typed, err); ok {
		return s.drawKeys(v, http.StatusUnprocessableEntity, f, nil)
	}
	if err != nil {
		return err
	}
	return s.drawKeys(v, http.StatusCreated, frame.Form{Values: url.Values{"scopes": {string(auth.Read)}}}, &made)
}

// revokeKey ends a key, and those that it made.
func (s *Screens) revokeKey(v *frame.Visit) error {
	if _, err := frame.Send[frame.Nothing](v, http.MethodDelete, keysPath+"/"+id(v), nil, nil); err != nil {
		return err
	}
	return s.redirect(v, "/keys", "revoked")
}
