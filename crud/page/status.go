package page

import (
	"net/http"
	"strconv"
	"time"

	"lodestone/pkg/problem"
)

// Kind is what a status page says.
type Kind int

// The kinds. Each says what happened and what to do next.
const (
	NotFound        Kind = iota // nothing is at this address
	Gone                        // there was something, and it will not come back
	Inactive                    // the link is switched off
	Disabled                    // a personal link is switched off
	Expired                     // the time of a personal link is over
	UsedUp                      // a personal link was opened as often as it may be
	NotReady                    // there is no document yet
	TooManyRequests             // of one visitor
	Refused                     // a form came from another site
	TooLarge                    // what was sent
	TooSlow                     // what was sent did not arrive in time
	Unreadable                  // what was sent is no form
	Unavailable                 // something is down and will be back
	NoCookie                    // a form came without the cookie of its page
	InvitationGone              // an invitation was used, taken back, or is too old
	Private                     // a page of `lodestone up` that was opened without its secret
	Failed                      // our fault
	Other                       // a problem of the API that has no words of its own here
)

// Action is the one thing to do next.
type Action struct{ Words, URL string }

// Status is a status page: an error that a handler returns, or a page that it writes.
type Status struct {
	Kind   Kind
	Brand  Brand
	Action Action        // instead of the kind's own; most kinds have none
	Wait   time.Duration // after which it may work again; 0: unknown
	cause  error

	problem *problem.Problem // of the kind Other
}

// Error implements error.
func (s *Status) Error() string {
	if s.cause != nil {
		return words[s.Kind].heading + ": " + s.cause.Error()
	}
	return words[s.Kind].heading
}

// Unwrap returns the cause.
func (s *Status) Unwrap() error { return s.cause }

// Error returns the page of a kind as an error.
func Error(kind Kind, brand Brand) *Status { return &Status{Kind: kind, Brand: brand} }

type wording struct {
	status        int
	tone, mark    string
	heading       string
	text          []string
	actionHere    string // words of a link to the same address
	tellRequestID bool
}

// Marks, as paths in a square of 48.
const (
	markSearch = "M21 34a13 13 0 1 0 0-26 13 13 0 0 0 0 26zM30.5 30.5 41 41"
	markClosed = "M24 43a19 19 0 1 0 0-38 19 19 0 0 0 0 38zM16 24h16"
	markClock  = "M24 43a19 19 0 1 0 0-38 19 19 0 0 0 0 38zM24 13v11l7 5"
	markPage   = "M12 5h16l9 9v29H12zM28 5v9h9M18 24h12M18 31h8"
	markAlert  = "M24 6 44 41H4zM24 19v10M24 35v.5"
)

var words = map[Kind]wording{
	NotFound: {http.StatusNotFound, "", markSearch, "There is no page here",
		[]string{"The address may have a typing mistake, or the link was cut off on its way to you.", "Check the link, or ask whoever gave it to you for a new one."}, "", false},
	Gone: {http.StatusGone, "", markClosed, "This page is no longer there",
		[]string{"Whoever offered something here has taken it down.", "Ask them if they offer it elsewhere."}, "", false},
	Inactive: {http.StatusGone, "", markClosed, "This offer is closed",
		[]string{"The page is switched off at the moment.", "If you already have your personal link, look for it in your mail. Otherwise ask whoever gave you this address."}, "", false},
	Disabled: {http.StatusGone, "", markClosed, "This link is switched off",
		[]string{"Whoever sent it has closed the document for now.", "Ask them to open it again."}, "", false},
	Expired: {http.StatusGone, "", markClock, "This link has expired",
		[]string{"It was valid for a limited time.", "Ask whoever sent it for a new one."}, "", false},
	UsedUp: {http.StatusGone, "", markClock, "This link is used up",
		[]string{"It has been opened as many times as is allowed.", "Ask whoever sent it for a new one."}, "", false},
	NotReady: {http.StatusNotFound, "", markPage, "The document is not here yet",
		[]string{"The page is ready, but its document has not been uploaded.", "Come back a little later."}, "Try again", false},
	TooManyRequests: {http.StatusTooManyRequests, "warn", markClock, "Too many requests",
		[]string{"We received too many requests from your network in a short time."}, "", false},
	Refused: {http.StatusForbidden, "warn", markAlert, "This form came from another page",
		[]string{"For your safety we accept this form only from our own page. Nothing was sent."}, "Open our page", false},
	TooLarge: {http.StatusRequestEntityTooLarge, "warn", markAlert, "That was too long",
		[]string{"The form was longer than this page allows. Nothing was stored."}, "Back to the page", false},
	TooSlow: {http.StatusRequestTimeout, "warn", markClock, "That took too long",
		[]string{"What you sent did not arrive in time; your connection may be slow. Nothing was stored."}, "Back to the page", false},
	Unreadable: {http.StatusBadRequest, "warn", markAlert, "We could not read that",
		[]string{"The data we received does not match the form of this page. Nothing was stored."}, "Back to the page", false},
	NoCookie: {http.StatusForbidden, "warn", markAlert, "Your browser did not keep our cookie",
		[]string{"Signing in needs one cookie of this site, which no other site can read. Allow cookies here, and try again.",
			"Over plain HTTP, it works only on the machine that Lodestone runs on."}, "Try again", false},
	InvitationGone: {http.StatusGone, "", markClosed, "This invitation no longer works",
		[]string{"It was used, taken back, repeated by a later mail, or is older than seven days.", "If you have joined, sign in at the dashboard. Otherwise ask for another invitation."}, "", false},
	Unavailable: {http.StatusServiceUnavailable, "warn", markAlert, "We will be back in a moment",
		[]string{"A part of our service is temporarily unavailable. None of your data is lost."}, "Try again", false},
	Private: {http.StatusNotFound, "", markClosed, "This page is for the person who started Lodestone",
		[]string{"Open the address that “lodestone up” printed, with the secret at its end. The secret is also in the file lodestone.env of the data directory."}, "", false},
	Failed: {http.StatusInternalServerError, "warn", markAlert, "Something went wrong on our side",
		[]string{"It is not your fault, and the error was logged. Trying again may help."}, "Try again", true},
}

// StatusCode returns the HTTP status of a kind.
func (k Kind) StatusCode() int { return words[k].status }

type statusData struct {
	Tone, Mark, Heading, RequestID string
	Text                           []string
	Action                         Action
	Quiet                          bool
}

func (s *Status) wording() wording {
	if s.Kind != Other {
		return words[s.Kind]
	}
	text := []string{"This address is one of the API, for programs."}
	if s.problem.Detail != "" {
		text = append([]string{s.problem.Detail}, text...)
	}
	return wording{status: s.problem.Status, tone: "warn", mark: markAlert, heading: s.problem.Title, text: text}
}

// WriteStatus answers with a status page.
func (s *Site) WriteStatus(w http.ResponseWriter, r *http.Request, st *Status, requestID string) {
	text := st.wording()
	data := statusData{Tone: text.tone, Mark: text.mark, Heading: text.heading, Text: text.text, Action: st.Action}
	if data.Action.URL == "" && text.actionHere != "" {
		data.Action = Action{text.actionHere, s.Path(r.URL.EscapedPath())}
	}
	if text.tellRequestID {
		data.RequestID = requestID
	}
	if st.Wait > 0 {
		seconds := int64((st.Wait + time.Second - 1) / time.Second)
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
		data.Text = append([]string{}, data.Text...)
		data.Text = append(data.Text, "Try again in "+span(st.Wait)+".")
	} else if st.Kind == Unavailable {
		w.Header().Set("Retry-After", "5")
	}
	if err := s.status.Write(w, r, text.status, Page{Title: text.heading, Brand: st.Brand, Data: data}); err != nil {
		s.log.Error("cannot write a status page", "request_id", requestID, "error", err)
		http.Error(w, text.heading, text.status)
	}
}

// span says a time in words, rounded up to a whole number of the largest unit that it fills.
func span(d time.Duration) string {
	n, word := int64((d+time.Second-1)/time.Second), "second"
	for _, larger := range []string{"minute", "hour"} {
		if n < 60 {
			break
		}
		n, word = (n+59)/60, larger
	}
	if n == 1 {
		return "1 " + word
	}
	return strconv.FormatInt(n, 10) + " " + word + "s"
}
