package setting

import (
	"maps"
	"net/http"
	"net/url"

	"lodestone/crud/chat"
	"lodestone/crud/dashboard/frame"
)

const chatsPath = "/api/v1/chat-channels"

type chatsData struct {
	frame.Form
	Done     string
	Kinds    []frame.Option
	About    []frame.Option
	Channels list[chatRow]
	Trial    *chatTrial
}

type chatRow struct {
	chat.Channel
	Edit         frame.Form
	Program      string
	Sent, Failed frame.When
}

// chatTrial is how a test message went.
type chatTrial struct {
	Name  string
	Error *string
}

func (s *Screens) showChats(v *frame.Visit) error {
	typed := url.Values{"kind": {string(chat.Slack)}}
	for _, subject := range chat.Subjects() {
		typed.Add("about", string(subject))
	}
	return s.drawChats(v, http.StatusOK, frame.Form{Values: typed}, nil)
}

func (s *Screens) drawChats(v *frame.Visit, status int, typed frame.Form, trial *chatTrial) error {
	channels, err := read(v, chatsPath, nil, func(c chat.Channel) chatRow {
		edit := frame.Form{ID: "c" + c.ID.String(), Values: url.Values{"name": {c.Name}}}
		for _, subject := range c.About {
			edit.Values.Add("about", string(subject))
		}
		frame.Remember(edit.Values, "name", "about")
		return chatRow{c, edit, v.Say("setting.chat.kind." + string(c.Kind)), v.WhenOf(c.LastSentAt), v.WhenOf(c.LastFailedAt)}
	})
	if err != nil {
		return err
	}
	d := chatsData{Form: typed, Done: done(v), Trial: trial, Channels: channels}
	for _, k := range chat.Kinds() {
		d.Kinds = append(d.Kinds, frame.Option{Value: string(k), Words: v.Say("setting.chat.kind." + string(k))})
	}
	for _, subject := range chat.Subjects() {
		d.About = append(d.About, frame.Option{Value: string(subject), Words: v.Say("setting.chat.about." + string(subject))})
	}
	return s.show(v, "chats", "setting.chat", status, d)
}

func (s *Screens) createChat(v *frame.Visit) error {
	typed, err := form(v)
	if err != nil {
		return err
	}
	body := map[string]any{"kind": typed.Get("kind"), "name": typed.Get("name"), "url": typed.Get("url"), "about": append([]string{}, typed["about"]...)}
	_, err = frame.Send[chat.Channel](v, http.MethodPost, chatsPath, body, nil)
	if f, ok := frame.Rejected(typed, err); ok {
		return s.drawChats(v, http.StatusUnprocessableEntity, f, nil)
	}
	if err != nil {
		return err
	}
	return s.redirect(v, "/chat", "saved")
}

// changeChat changes a channel. Its address stays unless another one is given.
func (s *Screens) changeChat(v *frame.Visit) error {
	typed, err := form(v)
	if err != nil {
		return err
	}
	body := map[string]any{"name": typed.Get("name"), "about": append([]string{}, typed["about"]...)}
	maps.DeleteFunc(body, func(name string, _ any) bool { return !frame.Changed(typed, name) })
	if address := typed.Get("url"); address != "" {
		body["url"] = address
	}
	_, err = frame.Send[chat.Channel](v, http.MethodPatch, chatsPath+"/"+id(v), body, nil)
	if f, ok := frame.Rejected(typed, err); ok {
		folded := frame.Form{Values: typed, Detail: f.Any()} // the form of the channel is
		return s.drawChats(v, http.StatusUnprocessableEntity, folded, nil)
	}
	if err != nil {
		return err
	}
	return s.redirect(v, "/chat", "saved")
}

// activateChat starts or stops the messages to a channel.
func (s *Screens) activateChat(v *frame.Visit) error {
	if _, err := frame.Send[chat.Channel](v, http.MethodPatch, chatsPath+"/"+id(v), map[string]any{"is_active": v.R.PostFormValue("is_active") == "true"}, nil); err != nil {
		return err
	}
	return s.redirect(v, "/chat", "saved")
}

// testChat sends a test message, and shows how it went.
func (s *Screens) testChat(v *frame.Visit) error {
	channel, err := frame.Get[chat.Channel](v, chatsPath+"/"+id(v), nil)
	if err != nil {
		return err
	}
	trial, err := frame.Send[chat.Trial](v, http.MethodPost, chatsPath+"/"+id(v)+"/test", nil, nil)
	if err != nil {
		return err
	}
	return s.drawChats(v, http.StatusOK, frame.Form{Values: url.Values{}}, &chatTrial{channel.Name, trial.Error})
}

func (s *Screens) deleteChat(v *frame.Visit) error {
	if _, err := frame.Send[frame.Nothing](v, http.MethodDelete, chatsPath+"/"+id(v), nil, nil); err != nil {
		return err
	}
	return s.redirect(v, "/chat", "deleted")
}
