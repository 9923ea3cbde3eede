package problem

import (
	"net/http"
	"slices"
)

// Code is the stable name of a kind of problem, for programs to decide by.
type Code string

// The codes that the API answers with.
const (
	InvalidLeadMagnet    Code = "invalid_lead_magnet"
	SlugTaken            Code = "slug_taken"
	LimitReached         Code = "limit_reached"
	ValidationError      Code = "validation_error"
	Unauthorized         Code = "unauthorized"
	Forbidden            Code = "forbidden"
	NotFound             Code = "not_found"
	MethodNotAllowed     Code = "method_not_allowed"
	InvalidJSON          Code = "invalid_json"
	InvalidParameter     Code = "invalid_parameter"
	PayloadTooLarge      Code = "payload_too_large"
	UnsupportedMediaType Code = "unsupported_media_type"
	RateLimited          Code = "rate_limited"
	Conflict             Code = "conflict"
	Unavailable          Code = "unavailable"
	Internal             Code = "internal"
)

type kind struct {
	code   Code
	status int
	title  string
}

var kinds = [...]kind{
	{InvalidLeadMagnet, http.StatusBadRequest, "The lead magnet does not exist"},
	{SlugTaken, http.StatusBadRequest, "The slug is already in use"},
	{LimitReached, http.StatusForbidden, "The limit of the plan is reached"},
	{ValidationError, http.StatusUnprocessableEntity, "Some values are not valid"},
	{Unauthorized, http.StatusUnauthorized, "A valid API key is needed"},
	{Forbidden, http.StatusForbidden, "The API key does not allow this"},
	{NotFound, http.StatusNotFound, "Not found"},
	{MethodNotAllowed, http.StatusMethodNotAllowed, "The method is not allowed here"},
	{InvalidJSON, http.StatusBadRequest, "The body is not valid JSON"},
	{InvalidParameter, http.StatusBadRequest, "A parameter, a header or the form of the request is not valid"},
	{PayloadTooLarge, http.StatusRequestEntityTooLarge, "The body is too large"},
	{UnsupportedMediaType, http.StatusUnsupportedMediaType, "The content type is not supported"},
	{RateLimited, http.StatusTooManyRequests, "Too many requests"},
	{Conflict, http.StatusConflict, "This conflicts with the current state"},
	{Unavailable, http.StatusServiceUnavailable, "The service is temporarily unavailable"},
	{Internal, http.StatusInternalServerError, "Something went wrong on our side"},
}

// Codes lists every code, in a fixed order.
func Codes() []Code {
	codes := make([]Code, len(kinds))
	for i, k := range kinds {
		codes[i] = k.code
	}
	return codes
}

// EnumValues implements jsonschema.Enum.
func (Code) EnumValues() []string {
	names := make([]string, 0, len(kinds))
	for _, c := range Codes() {
		names = append(names, string(c))
	}
	return names
}

// Status returns the HTTP status of the code, 500 for one that is not in the list.
func (c Code) Status() int { return c.kind().status }

// Title returns the short summary of the code, the same for every occurrence.
func (c Code) Title() string { return c.kind().title }

func (c Code) kind() kind {
	i := slices.IndexFunc(kinds[:], func(k kind) bool { return k.code == c })
	if i < 0 {
		return kinds[len(kinds)-1]
	}
	return kinds[i]
}
