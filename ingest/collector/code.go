package collector

import "lodestone/pkg/problem"

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
	LimitReached     Code = "limit_reached" // the account has used up its plan's events of the month
	RateLimited      Code = "rate_limited"  // too many views from one address
)

var codes = [...]Code{InvalidToken, UnknownField, InvalidEventType, InvalidEventData, InvalidEventID, InvalidSessionID, InvalidTimestamp, LimitReached, RateLimited}

// rejection is one element that was refused, as the answer tells it.
type rejection struct {
	index   int // from 0, in the order of the request
	code    Code
	message string
}

// refusal is a whole request that was refused, with the code of the answer.
type refusal struct {
	status int
	code   problem.Code
	detail string
}

// Codes of whole requests.
const (
	codeInvalidJSON      = problem.InvalidJSON
	codeInvalidParameter = problem.InvalidParameter
	codeValidation       = problem.ValidationError
	codeNotFound         = problem.NotFound
	codeMethod           = problem.MethodNotAllowed
	codeTooLarge         = problem.PayloadTooLarge
	codeMediaType        = problem.UnsupportedMediaType
	codeUnavailable      = problem.Unavailable
	codeInternal         = problem.Internal
	codeRateLimited      = problem.RateLimited
	codeLimitReached     = problem.LimitReached
)
