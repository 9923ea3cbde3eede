package web

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"lodestone/pkg/locale"
	"lodestone/pkg/problem"
)

// Kind is the message of a status page.
type Kind int

// The kinds. Each says what happened and what to do next.
const (
	NotFound        Kind = iota // nothing is at this address
	Gone                        // there was something, and it will not come back
	Inactive                    // the link is switched off
	OfferOver                   // the time of an offer is over
	Full                        // an offer has as many people as it may
	Disabled                    // a personal link is switched off
	Expired                     // the time of a personal link is over
	UsedUp                      // a personal link was opened as often as it may be
	NotReady                    // there is no document yet
	NoDownload                  // the document is for reading only
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

// Action is the one thing to do next. Its words are given, or a text of the catalogue.
type Action struct{ Words, Key, URL string }

// Status is a status page: an error that a handler returns, or a page that it writes.
type Status struct {
	Kind   Kind
	Brand  Brand
	Action Action        // instead of the kind's own; most kinds have none
	Wait   time.Duration // after which it may work again; 0: unknown
	cause  error

	problem *problem.Problem // of the kind Other
	texts   *Texts           // nil: English ones
}

// Error implements error.
func (s *Status) Error() string {
	name := "status page " + strconv.Itoa(int(s.Kind)) + " (" + http.StatusText(s.Kind.StatusCode()) + ")"
	if s.cause != nil {
		return name + ": " + s.cause.Error()
	}
	return name
}

// Unwrap returns the cause.
func (s *Status) Unwrap() error { return s.cause }

// Error returns the page of a kind as an error.
func Error(kind Kind, brand Brand) *Status { return &Status{Kind: kind, Brand: brand} }

// wording holds the texts of a kind's page. Kinds that visitors meet take them from the catalogue,
// in each language; those for owners have their own.
type wording struct {
	status        int
	tone, mark    string
	key           string // of the heading in the catalogue; its paragraphs have numbers behind it
	paragraphs    int
	action        string // key of the words of a link to the same address
	tellRequestID bool
	heading       string // without a key
	text          []string
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
	NotFound:  {status: http.StatusNotFound, mark: markSearch, key: "status.not_found", paragraphs: 2},
	Gone:      {status: http.StatusGone, mark: markClosed, key: "status.gone", paragraphs: 2},
	Inactive:  {status: http.StatusGone, mark: markClosed, key: "status.inactive", paragraphs: 2},
	OfferOver: {status: http.StatusGone, mark: markClock, key: "status.offer_over", paragraphs: 2},
	Full:      {status: http.StatusGone, mark: markClosed, key: "status.full", paragraphs: 2},
	Disabled:  {status: http.StatusGone, mark: markClosed, key: "status.disabled", paragraphs: 2},
	Expired:   {status: http.StatusGone, mark: markClock, key: "status.expired", paragraphs: 2},
	UsedUp:    {status: http.StatusGone, mark: markClock, key: "status.used_up", paragraphs: 2},
	NotReady: {status: http.StatusNotFound, mark: markPage, key: "status.not_ready",
		paragraphs: 2, action: "action.again"},
	NoDownload: {status: http.StatusForbidden, mark: markPage, key: "status.no_download", paragraphs: 1},
	TooManyRequests: {status: http.StatusTooManyRequests, tone: "warn", mark: markClock,
		key: "status.too_many", paragraphs: 1},
	Refused: {status: http.StatusForbidden, tone: "warn", mark: markAlert, key: "status.refused",
		paragraphs: 1, action: "action.open"},
	TooLarge: {status: http.StatusRequestEntityTooLarge, tone: "warn", mark: markAlert, key: "status.too_large",
		paragraphs: 1, action: "action.page"},
	TooSlow: {status: http.StatusRequestTimeout, tone: "warn", mark: markClock, key: "status.too_slow",
		paragraphs: 1, action: "action.page"},
	Unreadable: {status: http.StatusBadRequest, tone: "warn", mark: markAlert, key: "status.unreadable",
		paragraphs: 1, action: "action.page"},
	Unavailable: {status: http.StatusServiceUnavailable, tone: "warn", mark: markAlert, key: "status.unavailable",
		paragraphs: 1, action: "action.again"},
	Failed: {status: http.StatusInternalServerError, tone: "warn", mark: markAlert, key: "status.failed",
		paragraphs: 1, action: "action.again", tellRequestID: true},
	NoCookie: {status: http.StatusForbidden, tone: "warn", mark: markAlert,
		heading: "Your browser did not keep our cookie", action: "action.again",
		text: []string{"Signing in needs one cookie of this site, which no other site can read. Allow cookies here, and try again.",
			"Over plain HTTP, it works only on the machine that Lodestone runs on."}},
	InvitationGone: {status: http.StatusGone, mark: markClosed, heading: "This invitation no longer works",
		text: []string{"It was used, taken back, repeated by a later mail, or is older than seven days.",
			"If you have joined, sign in at the dashboard. Otherwise ask for another invitation."}},
	Private: {status: http.StatusNotFound, mark: markClosed, heading: "This page is for the person who started Lodestone",
		text: []string{"Open the address that “lodestone up” printed, with the secret at its end. The secret is also in the file lodestone.env of the data directory."}},
}

// StatusCode returns the HTTP status of a kind.
func (k Kind) StatusCode() int { return words[k].status }

type statusData struct {
	Tone, Mark, Heading, RequestID string
	Text                           []string
	Action                         Action
	Quiet                          bool
}

// say returns the words of a page.
func (s *Status) say(t *Texts) (heading string, text []string) {
	known := words[s.Kind]
	if s.Kind == Other {
		known.heading, known.text = s.problem.Title, []string{"This address is one of the API, for programs."}
		if s.problem.Detail != "" {
			known.text = append([]string{s.problem.Detail}, known.text...)
		}
	}
	heading, text = known.heading, slices.Clone(known.text)
	if known.key != "" {
		heading = t.Say(known.key)
	}
	for n := range known.paragraphs {
		text = append(text, t.Say(known.key+"."+strconv.Itoa(n+1)))
	}
	if s.Wait > 0 {
		text = append(text, Waiting(t, s.Wait))
	}
	return heading, text
}

// WriteStatus answers with a status page.
func (s *Site) WriteStatus(w http.ResponseWriter, r *http.Request, st *Status, requestID string) {
	texts := st.texts
	if texts == nil {
		texts = s.catalogue.In(locale.English)
	}
	known := words[st.Kind]
	if st.Kind == Other {
		known = wording{status: st.problem.Status, tone: "warn", mark: markAlert}
	}
	heading, text := st.say(texts)
	data := statusData{Tone: known.tone, Mark: known.mark, Heading: heading, Text: text, Action: st.Action}
	if data.Action.URL == "" && known.action != "" {
		data.Action = Action{Key: known.action, URL: s.Path(r.URL.EscapedPath())}
	}
	if data.Action.Words == "" && data.Action.Key != "" {
		data.Action.Words = texts.Say(data.Action.Key)
	}
	if known.tellRequestID {
		data.RequestID = requestID
	}
	if st.Wait > 0 {
		seconds := int64((st.Wait + time.Second - 1) / time.Second)
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	} else if st.Kind == Unavailable {
		w.Header().Set("Retry-After", "5")
	}
	if err := s.status.Write(w, r, known.status, Page{Title: heading, Brand: st.Brand,
		Texts: st.texts, Data: data}); err != nil {
		s.log.Error("cannot write a status page", "request_id", requestID, "error", err)
		http.Error(w, heading, known.status)
	}
}

// Waiting says how long to wait, rounded up to a whole number of the largest unit that it fills.
func Waiting(t *Texts, d time.Duration) string {
	n, unit := int64((d+time.Second-1)/time.Second), "seconds"
	for _, larger := range []string{"minutes", "hours"} {
		if n < 60 {
			break
		}
		n, unit = (n+59)/60, larger
	}
	return t.Say("status.wait."+unit, "n", n)
}
