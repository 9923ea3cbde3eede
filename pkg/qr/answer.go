package qr

import (
	"net/http"
	"strconv"

	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
)

// Format is the format of a picture.
type Format string

// The formats.
const (
	SVG Format = "svg"
	PNG Format = "png"
)

// EnumValues implements jsonschema.Enum.
func (Format) EnumValues() []string { return jsonschema.Values([]Format{SVG, PNG}) }

// contentTypes are those of the formats.
var contentTypes = map[Format]string{SVG: "image/svg+xml", PNG: "image/png"}

// Input holds the parameters of a code. Operations embed it.
type Input struct {
	Format Format `query:"format" default:"svg" doc:"Format of the picture. SVG scales without loss, for print."`
	Size   int    `query:"size" default:"1024" minimum:"256" maximum:"4096" doc:"Width and height in pixels, with the quiet zone. An SVG scales from there."`
}

// Answers describes the answers, for api.Operation.
func Answers() map[string]*jsonschema.Schema {
	return map[string]*jsonschema.Schema{contentTypes[SVG]: {Type: jsonschema.String},
		contentTypes[PNG]: jsonschema.Binary()}
}

// Write answers a request with the code of an address. name is that of the file, without its
// ending.
func Write(w http.ResponseWriter, r *http.Request, in Input, name, address string) error {
	code, err := New(address)
	if err != nil {
		return problem.New(problem.InvalidParameter,
			"The address is too long for a QR code: shorten its campaign parameters.").Because(err)
	}
	body := code.SVG(in.Size)
	if in.Format == PNG {
		if body, err = code.PNG(in.Size); err != nil {
			return err
		}
	}
	h := w.Header()
	h.Set("Content-Type", contentTypes[in.Format])
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Content-Disposition", `inline; filename="`+name+"."+string(in.Format)+`"`)
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Cache-Control", "private, no-store")
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that left needs no answer
	}
	return nil
}
