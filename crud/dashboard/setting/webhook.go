package setting

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/webhook"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
)

const webhooksPath = "/api/v1/webhooks"

// hook is a webhook. It has its secret if that was just made.
type hook struct {
	webhook.FullWebhook
	ETag string `json:"-"`
}

// SetETag implements client.Tagged.
func (w *hook) SetETag(tag string) { w.ETag = tag }

// kinds are the kinds of messages to choose from, and what they are about.
func kinds(v *frame.Visit) (list []frame.Option) {
	for _, kind := range webhook.Kinds() {
		list = append(list, frame.Option{Value: string(kind), Words: v.Say("setting.webhooks.kind." + string(kind))})
	}
	return list
}

type webhooksData struct {
	frame.Form
	Done     string
	Kinds    []frame.Option
	Webhooks list[webhookRow]
}

type webhookRow struct {
	hook
	Screen  string
	Failing frame.When
}

func (s *Screens) showWebhooks(v *frame.Visit) error {
	return s.drawWebhooks(v, http.StatusOK, frame.Form{Values: url.Values{"kinds": {"form.submitted", "session.ended"}}})
}

func (s *Screens) drawWebhooks(v *frame.Visit, status int, typed frame.Form) error {
	webhooks, err := read(v, webhooksPath, nil, func(w hook) webhookRow {
		return webhookRow{w, v.Path(screenPath + "/webhooks/" + w.ID.String()), v.WhenOf(w.FailingSince)}
	})
	if err != nil {
		return err
	}
	d := webhooksData{Form: typed, Done: done(v), Kinds: kinds(v), Webhooks: webhooks}
	return s.show(v, "webhooks", "setting.webhooks", status, d)
}

func webhookBody(typed url.Values) map[string]any {
	return map[string]any{"url": typed.Get("url"), "description": frame.Optional(typed.Get("description")), "kinds": append([]string{}, typed["kinds"]...)}
}

// createWebhook makes a webhook, and shows its secret this once.
func (s *Screens) createWebhook(v *frame.Visit) error {
	typed, err := form(v)
	if err != nil {
		return err
	}
	made, err := frame.Send[hook](v, http.MethodPost, webhooksPath, webhookBody(typed), nil)
	if f, ok := frame.Rejected(typed, err); ok {
		return s.drawWebhooks(v, http.StatusUnprocessableEntity, f)
	}
	if err != nil {
		return err
	}
	return s.drawWebhook(v, http.StatusCreated, made.ID.String(), webhookShown{Secret: made.Secret})
}

// webhookShown is what the screen of a webhook shows beside the webhook.
type webhookShown struct {
	Edit    *frame.Form
	Refused string
	Secret  string
	Before  secretsBefore
	Trial   *trial
}

// secretsBefore is what became of the secrets before one that was just made.
type secretsBefore struct {
	Until frame.When // they sign as well
	Ended bool       // they sign no longer
}

// trial is how a test message went.
type trial struct{ State, Outcome string }

type webhookData struct {
	webhookShown
	Webhook    *hook
	Form       frame.Form
	Done, Self string
	Kinds      []frame.Option
	Failing    frame.When
	Disabled   frame.When
	Deliveries deliveries
}

func (s *Screens) showWebhook(v *frame.Visit) error {
	return s.drawWebhook(v, http.StatusOK, id(v), webhookShown{})
}

func (s *Screens) drawWebhook(v *frame.Visit, status int, id string, also webhookShown) error {
	w, err := frame.Get[hook](v, webhooksPath+"/"+id, nil)
	if err != nil {
		return err
	}
	log, err := readDeliveries(v, id)
	if err != nil {
		return err
	}
	d := webhookData{
		webhookShown: also, Webhook: &w, Done: done(v), Self: screenPath + "/webhooks/" + id, Kinds: kinds(v), Failing: v.WhenOf(w.FailingSince), Disabled: v.WhenOf(w.DisabledAt),
		Deliveries: log,
	}
	if also.Edit != nil {
		d.Form = *also.Edit
	} else {
		d.Form.Values = url.Values{"url": {w.URL}, "kinds": jsonschema.Values(w.Kinds), "etag": {w.ETag}}
		if w.Description != nil {
			d.Form.Values.Set("description", *w.Description)
		}
	}
	return s.show(v, "webhook", "setting.webhooks", status, d)
}

// changeWebhook changes a webhook, unless someone else did so meanwhile.
func (s *Screens) changeWebhook(v *frame.Visit) error {
	typed, err := form(v)
	if err != nil {
		return err
	}
	header := http.Header{}
	if tag := typed.Get("etag"); tag != "" {
		header.Set("If-Match", tag)
	}
	_, err = frame.Send[hook](v, http.MethodPatch, webhooksPath+"/"+id(v), webhookBody(typed), header)
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Status == http.StatusPreconditionFailed {
		typed.Del("etag") // whoever sends it again has seen this
		f := frame.Form{Values: typed, Detail: v.Say("setting.webhook.stale")}
		return s.drawWebhook(v, http.StatusConflict, id(v), webhookShown{Edit: &f})
	}
	if f, ok := frame.Rejected(typed, err); ok {
		return s.drawWebhook(v, http.StatusUnprocessableEntity, id(v), webhookShown{Edit: &f})
	}
	if err != nil {
		return err
	}
	return s.redirect(v, "/webhooks/"+id(v), "saved")
}

// activateWebhook starts or stops the messages to a webhook.
func (s *Screens) activateWebhook(v *frame.Visit) error {
	if _, err := frame.Send[hook](v, http.MethodPatch, webhooksPath+"/"+id(v), map[string]any{"is_active": v.R.PostFormValue("is_active") == "true"}, nil); err != nil {
		return err
	}
	return s.redirect(v, "/webhooks/"+id(v), "saved")
}

// testWebhook sends a test message, and shows how it went.
func (s *Screens) testWebhook(v *frame.Visit) error {
	sent, err := frame.Send[delivery](v, http.MethodPost, webhooksPath+"/"+id(v)+"/test", nil, nil)
	if err != nil {
		return err
	}
	return s.drawWebhook(v, http.StatusOK, id(v), webhookShown{Trial: &trial{string(sent.State), sent.outcome(v)}})
}

// overlapHours is for how long the secret before a new one signs as well, so that the receiver has
// time to change.
const overlapHours = 24

// rotateSecret makes a new secret, shows it this once, and says until when the one before signs.
func (s *Screens) rotateSecret(v *frame.Visit) error {
	var before secretsBefore
	hours := overlapHours
	if before.Ended = v.R.PostFormValue("at_once") == "true"; before.Ended {
		hours = 0
	} else {
		until := time.Now().Add(overlapHours * time.Hour)
		before.Until = v.When(&until)
	}
	made, err := frame.Send[hook](v, http.MethodPost, webhooksPath+"/"+id(v)+"/rotate-secret?keep_previous_hours="+strconv.Itoa(hours), nil, nil)
	if f, ok := conflict(err); ok {
		return s.drawWebhook(v, http.StatusConflict, id(v), webhookShown{Refused: f.Detail})
	}
	if err != nil {
		return err
	}
	return s.drawWebhook(v, http.StatusOK, id(v), webhookShown{Secret: made.Secret, Before: before})
}

// deleteWebhook deletes a webhook with its log, once its host is typed.
func (s *Screens) deleteWebhook(v *frame.Visit) error {
	w, err := frame.Get[hook](v, webhooksPath+"/"+id(v), nil)
	if err != nil {
		return err
	}
	if v.R.PostFormValue("confirm") != w.Host() {
		return s.drawWebhook(v, http.StatusUnprocessableEntity, id(v), webhookShown{Refused: v.Say("setting.webhook.delete.refused", "host", w.Host())})
	}
	if _, err := frame.Send[frame.Nothing](v, http.MethodDelete, webhooksPath+"/"+id(v), nil, nil); err != nil {
		return err
	}
	return s.redirect(v, "/webhooks", "deleted")
}

// Host is the host of the webhook's address.
func (w *hook) Host() string {
	u, err := url.Parse(w.URL)
	if err != nil {
		return w.URL
	}
	return u.Host
}
