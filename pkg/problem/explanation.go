package problem

// Cause says when a code occurs.
func (c Code) Cause() string { return explanations[c.kind().code].cause }

// Remedy says what to do about a code.
func (c Code) Remedy() string { return explanations[c.kind().code].remedy }

type explanation struct{ cause, remedy string }

var explanations = map[Code]explanation{
	InvalidLeadMagnet: {
		"lead_magnet_id names no lead magnet of the account whose key was sent. It was deleted, belongs to another account, or is not an id at all.",
		"List the lead magnets with GET /api/v1/lead-magnets, and send the id of one of them.",
	},
	SlugTaken: {
		"A slug is unique in the installation, and stays with the account that used it first, also after its link was renamed or deleted.",
		"Choose another slug, or leave it out: then one is derived from the title.",
	},
	LimitReached: {
		"The account has as many of these as its plan or the installation allows.",
		"Delete what is not needed any more, or ask whoever runs the installation for another plan. GET /api/v1/account shows limits and usage.",
	},
	ValidationError: {
		"The body is JSON, but a field has a value that is not allowed, is unknown, or is read-only.",
		"Correct the fields that errors names. Nothing was changed.",
	},
	Unauthorized: {
		"The request has no API key, or one that does not exist or was revoked.",
		"Send the header Authorization: Bearer, followed by a key that works.",
	},
	Forbidden: {
		"The API key works, but lacks the scope that the operation needs.",
		"Use a key with this scope. GET /api/v1/keys shows the scopes of each key.",
	},
	NotFound: {
		"Nothing of the account is at this path: it was deleted, belongs to another account, or the path is wrong.",
		"Check the path and the id. Objects of other accounts do not exist for a key.",
	},
	MethodNotAllowed: {
		"The path exists, but does not take this method.",
		"Use one of the methods that the header Allow lists.",
	},
	InvalidJSON: {
		"The body is not one JSON value, has a key twice, or is not valid UTF-8.",
		"Check the body with a JSON parser. The detail says where reading stopped.",
	},
	InvalidParameter: {
		"A query parameter is unknown, empty, given twice, or has a value that is not allowed.",
		"Correct the parameters that errors names. Unknown parameters are refused, so that a misspelt filter cannot be overlooked.",
	},
	PayloadTooLarge: {
		"The body or the file is larger than the operation takes.",
		"Send less: split a batch, or make the file smaller. The detail names the limit.",
	},
	UnsupportedMediaType: {
		"The Content-Type of the body is not one that the operation reads.",
		"Send application/json, or for uploads one of the types that the detail names.",
	},
	RateLimited: {
		"More requests came in the present window than the limit allows.",
		"Wait for the seconds of the header Retry-After. The headers RateLimit and X-RateLimit-* show what is left.",
	},
	Conflict: {
		"The request does not fit the present state: the object was changed meanwhile, is in use, or a request with the same Idempotency-Key is still running.",
		"Read the object again, and decide again. Nothing was changed.",
	},
	Unavailable: {
		"A part of the service is temporarily unreachable or overloaded.",
		"Send the same request again after the seconds of the header Retry-After. With an Idempotency-Key, a POST is done once only.",
	},
	Internal: {
		"The service failed. The error is logged under the X-Request-Id of the answer.",
		"Try again later. If it happens again, report it with the X-Request-Id.",
	},
}
