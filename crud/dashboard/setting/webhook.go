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

// SetETag implements client.TaggedResource.
func (w *hook) SetETag(tag string) { w.ETag = tag }

// hookForm is the form of a webhook.
type hookForm struct {
	frame.Form
	Formats []frame.Option // to choose from; none: the webhook has one
	Kinds   []frame.Option
	About   string // label of the kinds
	Hint    string // of the URL
}

func newHookForm(v *frame.Visit, f webhook.Format, typed frame.Form) hookForm {
	form := hookForm{Form: typed, About: v.Say("setting.webhooks.kinds"), Hint: v.Say("setting.webhooks.address.hint")}
	for _, kind := range f.Kinds() {
		form.Kinds = append(form.Kinds,
			frame.Option{Value: string(kind), Words: v.Say("setting.webhooks.kind." + string(kind))})
	}
	if f != webhook.JSON {
		form.About, form.Hint = v.Say("setting.webhooks.notices"), v.Say("setting.webhooks.address.secret")
	}
	return form
}

type webhooksData struct {
	Done      string
	New, Chat hookForm
	Webhooks  list[webhookRow]
}

type webhookRow struct {
	hook
	Screen  string
	Program string // of a chat; "": none
	Failing frame.Instant
}

func (s *Screens) showWebhooks(v *frame.Visit) error {
	return s.drawWebhooks(v, http.StatusOK, frame.Form{})
}

// drawWebhooks lists the webhooks below a form that was typed, which may be empty.
func (s *Screens) drawWebhooks(v *frame.Visit, status int, typed frame.Form) error {
	webhooks, err := read(v, webhooksPath, nil, func(w hook) webhookRow {
		return webhookRow{w, v.Path(screenPath + "/webhooks/" + w.ID.String()),
			program(v, w.Format), v.WhenOf(w.FailingSince)}
	})
	if err != nil {
		return err
	}
	events := frame.Form{Values: url.Values{"format": {string(webhook.JSON)},
		"kinds": {"form.submitted", "session.ended"}}}
	chat := frame.Form{Values: url.Values{"format": {string(webhook.Slack)},
		"kinds": jsonschema.Values(webhook.Slack.Kinds())}}
	switch typed.Value("format") {
	case "":
	case string(webhook.JSON):
		events = typed
	default:
		chat = typed
	}
	chat.ID = "chat"
	d := webhooksData{Done: done(v), New: newHookForm(v, webhook.JSON, events),
		Chat: newHookForm(v, webhook.Slack, chat), Webhooks: webhooks}
	for _, f := range webhook.Formats()[1:] {
		d.Chat.Formats = append(d.Chat.Formats, frame.Option{Value: string(f), Words: program(v, f)})
	}
	return s.show(v, "webhooks", "setting.webhooks", status, d)
}

// program returns the name of a chat program, "" for a format that is none.
func program(v *frame.Visit, f webhook.Format) string {
	if f == webhook.JSON {
		return ""
	}
	return v.Say("setting.webhooks.format." + string(f))
}

func webhookBody(typed url.Values) map[string]any {
	return map[string]any{"url": typed.Get("url"), "description": frame.Optional(typed.Get("description")),
		"kinds": append([]string{}, typed["kinds"]...)}
}

// createWebhook makes a webhook, and shows its secret this once.
func (s *Screens) createWebhook(v *frame.Visit) error {
	typed, err := form(v)
	if err != nil {
		return err
	}
	body := webhookBody(typed)
	body["format"] = typed.Get("format")
	made, err := frame.Send[hook](v, http.MethodPost, webhooksPath, body, nil)
	if f, ok := frame.Rejected(typed, err); ok {
		return s.drawWebhooks(v, http.StatusUnprocessableEntity, f)
	}
	if err != nil {
		return err
	}
	return s.drawWebhook(v, http.StatusCreated, made.ID.String(), webhookView{Secret: made.Secret})
}

// webhookView is the data of a webhook's screen beside the webhook.
type webhookView struct {
	Edit    *frame.Form
	Refused string
	Secret  *string
	Before  secretsBefore
	Trial   *trial
}

// secretsBefore is the fate of the secrets before a new one.
type secretsBefore struct {
	Until frame.Instant // they sign as well
	Ended bool          // they sign no longer
}

// trial is how a test message went.
type trial struct{ State, Outcome string }

type webhookData struct {
	webhookView
	Webhook    *hook
	Form       hookForm
	Done, Self string
	Failing    frame.Instant
	Disabled   frame.Instant
	Deliveries deliveries
}

func (s *Screens) showWebhook(v *frame.Visit) error {
	return s.drawWebhook(v, http.StatusOK, id(v), webhookView{})
}

func (s *Screens) drawWebhook(v *frame.Visit, status int, id string, also webhookView) error {
	w, err := frame.Get[hook](v, webhooksPath+"/"+id, nil)
	if err != nil {
		return err
	}
	log, err := readDeliveries(v, id)
	if err != nil {
		return err
	}
	d := webhookData{
		webhookView: also, Webhook: &w, Done: done(v), Self: screenPath + "/webhooks/" + id,
		Failing: v.WhenOf(w.FailingSince), Disabled: v.WhenOf(w.DisabledAt),
		Deliveries: log,
	}
	edit := also.Edit
	if edit == nil {
		edit = &frame.Form{Values: url.Values{"format": {string(w.Format)},
			"kinds": jsonschema.Values(w.Kinds), "etag": {w.ETag}}}
		if w.Format == webhook.JSON {
			edit.Values.Set("url", w.URL)
		}
		if w.Description != nil {
			edit.Values.Set("description", *w.Description)
		}
	}
	if d.Form = newHookForm(v, w.Format, *edit); w.Format != webhook.JSON {
		d.Form.Hint = v.Say("setting.webhooks.address.keep")
	}
	return s.show(v, "webhook", "setting.webhooks", status, d)
}

// changeWebhook changes a webhook, unless someone else did so meanwhile. The address of a chat
// stays unless another one is given.
func (s *Screens) changeWebhook(v *frame.Visit) error {
	typed, err := form(v)
	if err != nil {
		return err
	}
	header := http.Header{}
	if tag := typed.Get("etag"); tag != "" {
		header.Set("If-Match", tag)
	}
	body := webhookBody(typed)
	if typed.Get("url") == "" && typed.Get("format") != string(webhook.JSON) {
		delete(body, "url")
	}
	_, err = frame.Send[hook](v, http.MethodPatch, webhooksPath+"/"+id(v), body, header)
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Status == http.StatusPreconditionFailed {
		typed.Del("etag") // whoever sends it again has seen this
		f := frame.Form{Values: typed, Detail: v.Say("setting.webhook.stale")}
		return s.drawWebhook(v, http.StatusConflict, id(v), webhookView{Edit: &f})
	}
	if f, ok := frame.Rejected(typed, err); ok {
		return s.drawWebhook(v, http.StatusUnprocessableEntity, id(v), webhookView{Edit: &f})
	}
	if err != nil {
		return err
	}
	return s.redirect(v, "/webhooks/"+id(v), "saved")
}

// activateWebhook starts or stops the messages to a webhook.
func (s *Screens) activateWebhook(v *frame.Visit) error {
	if _, err := frame.Send[hook](v, http.MethodPatch, webhooksPath+"/"+id(v),
		map[string]any{"is_active": v.R.PostFormValue("is_active") == "true"}, nil); err != nil {
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
	return s.drawWebhook(v, http.StatusOK, id(v), webhookView{Trial: &trial{string(sent.State), sent.outcome(v)}})
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
	made, err := frame.Send[hook](v, http.MethodPost, webhooksPath+"/"+id(v)+"/rotate-secret?keep_previous_hours="+
		strconv.Itoa(hours), nil, nil)
	if f, ok := conflict(err); ok {
		return s.drawWebhook(v, http.StatusConflict, id(v), webhookView{Refused: f.Detail})
	}
	if err != nil {
		return err
	}
	return s.drawWebhook(v, http.StatusOK, id(v), webhookView{Secret: made.Secret, Before: before})
}

// deleteWebhook deletes a webhook with its log, once its host is typed.
func (s *Screens) deleteWebhook(v *frame.Visit) error {
	w, err := frame.Get[hook](v, webhooksPath+"/"+id(v), nil)
	if err != nil {
		return err
	}
	if v.R.PostFormValue("confirm") != w.Host() {
		return s.drawWebhook(v, http.StatusUnprocessableEntity, id(v),
			webhookView{Refused: v.Say("setting.webhook.delete.refused", "host", w.Host())})
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
