package api

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
)

// readBody reads a JSON body into a struct that the schema was derived from.
func readBody(w http.ResponseWriter, r *http.Request, s *jsonschema.Schema, hints map[string]string, limit int64, into any) error {
	if err := requireJSON(r.Header); err != nil {
		return err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return bodyError(err)
	}
	return jsonschema.Decode(body, s, hints, into)
}

// bodyError returns the answer to a body that could not be read.
func bodyError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fmt.Errorf("read body: %w", err)
	}
	return problem.New(problem.InvalidJSON, "The body could not be read to its end.").Because(err)
}

// requireJSON refuses another content type than JSON in UTF-8.
func requireJSON(h http.Header) error {
	wrong := problem.New(problem.UnsupportedMediaType, "Send the body as Content-Type: application/json.")
	if e := h.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return problem.New(problem.UnsupportedMediaType, "Send the body without Content-Encoding.")
	}
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return wrong.Because(err)
	}
	if charset, ok := params["charset"]; kind != "application/json" || ok && !strings.EqualFold(charset, "utf-8") {
		return wrong
	}
	return nil
}
