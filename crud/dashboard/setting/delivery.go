package setting

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/webhook"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

// delivery is a message, with its body as it was sent.
type delivery struct {
	webhook.Delivery
	Body json.RawMessage `json:"body"`
}

// outcome says how the last attempt went.
func (d *delivery) outcome(v *frame.Visit) string {
	if len(d.Attempts) == 0 {
		return ""
	}
	last := d.Attempts[len(d.Attempts)-1]
	switch {
	case last.Error != nil:
		return *last.Error
	case last.StatusCode != nil:
		return v.Say("setting.webhook.answered", "status", http.StatusText(*last.StatusCode))
	default:
		return ""
	}
}

// deliveries is a page of the log of a webhook.
type deliveries struct {
	Rows   []deliveryRow
	Total  int64
	States []frame.Option
	State  string
	First  string // address of the first page; "": this is it
	Older  string
}

type deliveryRow struct {
	delivery
	Created, Next frame.Instant
	Tone          string
	Outcome       string // of the last attempt
	Text          string // body, with line ends
	Replay        string
	Tries         []attemptRow
}

type attemptRow struct {
	webhook.Attempt
	When  frame.Instant
	Words string // how it went
}

// words says what an attempt came to, and how long it took.
func words(v *frame.Visit, a *webhook.Attempt) string {
	if a.StatusCode == nil {
		return v.Say("setting.webhook.try.none", "ms", a.LatencyMS)
	}
	return v.Say("setting.webhook.try", "status", strconv.Itoa(*a.StatusCode), "ms", a.LatencyMS)
}

// states are those of messages to choose from; "" is any.
var states = []string{"", "pending", "delivered", "failed"}

func readDeliveries(v *frame.Visit, id string) (deliveries, error) {
	asked := v.R.URL.Query()
	if v.R.Method != http.MethodGet {
		asked = url.Values{}
	}
	query := url.Values{}
	d := deliveries{}
	for _, state := range states {
		chosen := state == asked.Get("state")
		if chosen && state != "" {
			d.State = state
			query.Set("state", state)
		}
		d.States = append(d.States, frame.Option{Value: state, Words: v.Say("setting.webhook.state." + cmp.Or(state, "all")),
			Chosen: chosen})
	}
	if cursor := asked.Get("cursor"); cursor != "" {
		query.Set("cursor", cursor)
	}
	found, err := frame.Get[client.Page[delivery]](v, webhooksPath+"/"+id+"/deliveries", query)
	if problem.Is(err, problem.InvalidParameter) { // an address that was changed by hand
		found, err = frame.Get[client.Page[delivery]](v, webhooksPath+"/"+id+"/deliveries", nil)
	}
	if err != nil {
		return d, err
	}
	d.Total = found.Pagination.Total
	if query.Has("cursor") {
		asked.Del("cursor")
		d.First = "?" + asked.Encode() + "#log"
	}
	if next := found.Pagination.NextCursor; next != nil {
		asked.Set("cursor", *next)
		d.Older = "?" + asked.Encode() + "#log"
	}
	for i := range found.Data {
		one := found.Data[i]
		row := deliveryRow{
			delivery: one, Created: v.WhenOf(&one.CreatedAt), Next: v.WhenOf(one.NextAttemptAt),
			Tone:    map[string]string{"delivered": "good", "failed": "bad"}[string(one.State)],
			Outcome: one.outcome(v),
			Replay:  v.Path(screenPath + "/webhooks/" + id + "/deliveries/" + one.ID.String() + "/replay"),
		}
		var text bytes.Buffer
		if string(one.Body) != "null" && json.Indent(&text, one.Body, "", "  ") == nil {
			row.Text = text.String()
		}
		for _, a := range one.Attempts {
			row.Tries = append(row.Tries, attemptRow{a, v.WhenOf(&a.AttemptedAt), words(v, &a)})
		}
		d.Rows = append(d.Rows, row)
	}
	return d, nil
}

// replay has a message sent again.
func (s *Screens) replay(v *frame.Visit) error {
	_, err := frame.Send[delivery](v, http.MethodPost, webhooksPath+"/"+id(v)+"/deliveries/"+
		url.PathEscape(v.R.PathValue("delivery"))+"/replay", nil, nil)
	if f, ok := conflict(err); ok {
		return s.drawWebhook(v, http.StatusConflict, id(v), webhookView{Refused: f.Detail})
	}
	if err != nil {
		return err
	}
	return s.redirect(v, "/webhooks/"+id(v), "replayed")
}
