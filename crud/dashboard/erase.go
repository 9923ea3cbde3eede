package dashboard

import (
	"encoding/json"
	"net/http"
	"net/url"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/person"
	"lodestone/pkg/email"
)

const erasureForm = "erase" // tells it from the other forms of a reader's screen

// eraseReader erases everything that is stored about the reader, once the address is typed.
func (d *Dashboard) eraseReader(v *frame.Visit) error {
	address, err := readerEmail(v)
	if err != nil {
		return err
	}
	if typed, err := email.Parse(v.R.PostFormValue("confirm")); err != nil || typed.Key != email.Key(address) {
		return d.showReader(v, http.StatusUnprocessableEntity, frame.Form{ID: erasureForm, Values: v.R.PostForm,
			Wrong: map[string]string{"confirm": v.Say("reader.erase.wrong")}}, nil)
	}
	done, err := frame.Send[person.PersonErasure](v, http.MethodPost, "/api/v1/people/erase",
		map[string]any{"email": address}, nil)
	if err != nil {
		return err
	}
	return v.Redirect("/dashboard/erasures/" + done.ID.String())
}

// erasureData is the screen of an erasure.
type erasureData struct {
	person.PersonErasure
	At, BlankedAt, Due, Queues, Records, Backups frame.Instant
	Receipt                                      string // address of the file
}

func erasurePath(v *frame.Visit) string {
	return "/api/v1/erasures/" + url.PathEscape(v.R.PathValue("id"))
}

// erasure shows the result of an erasure.
func (d *Dashboard) erasure(v *frame.Visit) error {
	e, err := frame.Get[person.PersonErasure](v, erasurePath(v), nil)
	if err != nil {
		return err
	}
	return v.Show(d.screens["erasure"], frame.Screen{Title: v.Say("erasure.title"), Nav: frame.Readers, Data: erasureData{
		e, v.WhenOf(&e.ErasedAt), v.WhenOf(e.BlankedAt), v.WhenOf(&e.DueAt), v.WhenOf(&e.QueuesUntil),
		v.WhenOf(e.RecordsUntil), v.WhenOf(e.BackupsUntil),
		v.Path("/dashboard/erasures/" + e.ID.String() + "/receipt"),
	}})
}

// receipt is the signed receipt of an erasure, as a file.
func (d *Dashboard) receipt(v *frame.Visit) error {
	document, err := frame.Get[json.RawMessage](v, erasurePath(v), nil)
	if err != nil {
		return err
	}
	return sendFile(v, "receipt.json", document)
}

// sendFile answers with a JSON document for the disk.
func sendFile(v *frame.Visit, name string, document []byte) error {
	h := v.W.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	_, err := v.W.Write(document)
	return err
}
