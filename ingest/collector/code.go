package collector

// Code says why one element of a request was refused.
type Code string

// The codes of elements. When several apply, the first of this list is given.
const (
	InvalidToken     Code = "invalid_token"
	UnknownField     Code = "unknown_field"
	InvalidEventType Code = "invalid_event_type"
	InvalidEventData Code = "invalid_event_data"
	InvalidEventID   Code = "invalid_event_id"
	InvalidSessionID Code = "invalid_session_id"
	InvalidTimestamp Code = "invalid_timestamp"
)

var codes = [...]Code{InvalidToken, UnknownField, InvalidEventType, InvalidEventData, InvalidEventID, InvalidSessionID, InvalidTimestamp}

// rejection is one element that was refused, as the answer tells it.
type rejection struct {
	index   int // from 0, in the order of the request
	code    Code
	message string
}

// refusal is a whole request that was refused, with the code of the answer.
type refusal struct {
	status int
	code   string
	detail string
}

// Codes of whole requests.
const (
	codeInvalidJSON      = "invalid_json"
	codeInvalidParameter = "invalid_parameter"
	codeValidation       = "validation_error"
	codeNotFound         = "not_found"
	codeMethod           = "method_not_allowed"
	codeTooLarge         = "payload_too_large"
	codeMediaType        = "unsupported_media_type"
	codeUnavailable      = "unavailable"
	codeInternal         = "internal"
	codeRateLimited      = "rate_limited"
)
