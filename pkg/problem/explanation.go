package problem

// Cause says when a code occurs.
func (c Code) Cause() string { return explanations[c.kind().code].cause }

// Remedy says what to do about a code.
func (c Code) Remedy() string { return explanations[c.kind().code].remedy }

type explanation struct{ cause, remedy string }

var explanations = map[Code]explanation{
	InvalidLeadMagnet: {
		"lead_magnet_id is not the id of a lead magnet of the key's account. The lead magnet was deleted or belongs to another account, or the id is malformed.",
		"List the lead magnets with GET /api/v1/lead-magnets, and send the id of one of them.",
	},
	SlugTaken: {
		"A slug is unique in the installation. It stays with the account that used it first, even after its link was renamed or deleted.",
		"Choose another slug, or omit it: then one is derived from the title.",
	},
	LimitReached: {
		"The account has reached a limit of its plan or of the installation.",
		"Delete objects that you no longer need, or ask the operator for another plan. GET /api/v1/account shows limits and usage.",
	},
	ValidationError: {
		"The body is JSON, but a field has a value that is not allowed, is unknown, or is read-only. Or a report takes more memory than a request may have.",
		"Correct the fields listed in errors, or ask for less as they say. Nothing was changed.",
	},
	Unauthorized: {
		"The request has no API key, or one that does not exist or was revoked.",
		"Send the header Authorization: Bearer, followed by a valid key.",
	},
	Forbidden: {
		"The API key is valid, but lacks the scope that the operation needs.",
		"Use a key with this scope. GET /api/v1/keys shows the scopes of each key.",
	},
	NotFound: {
		"The account has no object at this path. The object was deleted or belongs to another account, or the path is wrong.",
		"Check the path and the id. A key cannot see objects of other accounts.",
	},
	MethodNotAllowed: {
		"The path exists, but does not support this method.",
		"Use one of the methods listed in the header Allow.",
	},
	InvalidJSON: {
		"The body is not one JSON value, has a duplicate key, or is not valid UTF-8.",
		"Check the body with a JSON parser. The detail gives the position of the error.",
	},
	InvalidParameter: {
		"A query parameter is unknown, empty, given twice, or has a value that is not allowed; or a header has; or the request is not valid HTTP.",
		"Correct the parameters listed in errors. Unknown parameters are errors, so that a misspelt filter is noticed. Without errors, the detail says what is wrong with the request.",
	},
	PayloadTooLarge: {
		"The body or the file is larger than the operation accepts.",
		"Split the batch, or reduce the file. The detail gives the limit.",
	},
	UnsupportedMediaType: {
		"The operation does not support the Content-Type of the body.",
		"Send application/json, or for uploads one of the types listed in the detail.",
	},
	RateLimited: {
		"The number of requests in the current window is above the limit.",
		"Wait for the number of seconds in the header Retry-After. The headers RateLimit and X-RateLimit-* show the remaining requests.",
	},
	Conflict: {
		"The request conflicts with the current state. The object was changed meanwhile or is in use, or a request with the same Idempotency-Key is still running.",
		"Read the object again, then repeat the change if it still applies. Nothing was changed.",
	},
	Unavailable: {
		"A part of the service is temporarily unreachable or overloaded.",
		"Send the same request again after the number of seconds in the header Retry-After. With an Idempotency-Key, a POST takes effect only once.",
	},
	Internal: {
		"An internal error occurred. It is logged with the X-Request-Id of the answer.",
		"Try again later. If it happens again, report it with the X-Request-Id.",
	},
}
