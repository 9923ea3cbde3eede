package collector_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/collector"
	"lodestone/pkg/event"
	"lodestone/pkg/problem"
	"lodestone/pkg/token"
)

func TestOneEventBecomesOneRecord(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	id, session := uuid.New(), uuid.New()
	a := s.post(t, s.event(
		"event_data", `{ "page" : 3, "duration_ms": 8200, "zoom": [1.50, "\u00e9"] }`,
		"event_id", `"`+id.String()+`"`,
		"session_id", `"`+strings.ToUpper(session.String())+`"`,
		"created_at", `"2026-03-14T16:09:20.035+01:00"`,
		"sent_at", `null`,
	), "User-Agent", "Mozilla/5.0 Firefox/143.0")
	require.Equal(t, http.StatusAccepted, a.status, a.body)
	require.Equal(t, `{"accepted":1,"rejected":[]}`, strings.TrimSuffix(a.body, "\n")) //nolint:testifylint // to the letter
	require.Equal(t, "application/json", a.header.Get("Content-Type"))

	record := s.records(t, 1)[0]
	require.Equal(t, s.claims.AccessLinkID[:], record.Key)
	var e event.Event
	require.NoError(t, e.Decode(record.Value))
	require.NotZero(t, e.IPHash)
	e.IPHash = [16]byte{}
	require.Equal(t, event.Event{
		AccountID: s.claims.AccountID, LeadMagnetID: s.claims.LeadMagnetID, GenericLinkID: s.claims.GenericLinkID,
		AccessLinkID: s.claims.AccessLinkID, MagnetVersion: 3, EventID: id, SessionID: session,
		Type: event.PageViewed, Page: 3, DurationMS: 8200,
		Data:      []byte(`{"page":3,"duration_ms":8200,"zoom":[1.50,"\u00e9"]}`),
		UserAgent: []byte("Mozilla/5.0 Firefox/143.0"),
		CreatedAt: now.Add(-6500 * time.Millisecond).UnixMilli(), ReceivedAt: now.UnixMilli(),
	}, e)
}

func TestAbsentFieldsAreFilled(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	require.Equal(t, http.StatusAccepted, s.post(t, s.event("event_type", `"download_started"`), "User-Agent", "").status)
	e := s.stored(t)
	require.Equal(t, event.DownloadStarted, e.Type)
	require.Equal(t, uuid.Version(7), e.EventID.Version())
	require.Equal(t, uuid.Nil, e.SessionID)
	require.Equal(t, "{}", string(e.Data))
	require.Equal(t, now.UnixMilli(), e.CreatedAt)
	require.Zero(t, e.Page)
}

func TestBatchKeepsGoodElementsAndNamesBadOnes(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	other := claims()
	a := s.post(t, "["+strings.Join([]string{
		s.event(),
		s.event("event_type", `"opened"`),
		s.event("token", `"`+s.ring.Sign(other)+`"`),
		`7`,
		s.event("x", `1`),
	}, ", ")+"]\n")
	require.Equal(t, http.StatusAccepted, a.status)
	require.Equal(t, 2, a.Accepted)
	for _, known := range event.Types() {
		require.Contains(t, a.Rejected[0].Message, known.String())
	}
	require.Equal(t, []rejection{
		{1, "invalid_event_type", a.Rejected[0].Message}, // names every type: above
		{3, "invalid_token", "the element is a number; an event is an object with at least token and event_type"},
		{4, "unknown_field",
			`"x" is not a field of an event; allowed are token, event_type, event_data, event_id, session_id, created_at and sent_at`},
	}, a.Rejected)
	keys := map[string]bool{}
	for _, r := range s.records(t, 2) {
		keys[string(r.Key)] = true
	}
	require.Equal(t, map[string]bool{string(s.claims.AccessLinkID[:]): true, string(other.AccessLinkID[:]): true}, keys)
	require.InDelta(t, 2, s.metric(t, "lodestone_collector_accepted_events_total"), 0)
	require.InDelta(t, 3, s.metric(t, "lodestone_collector_rejected_events_total"), 0)
}

func TestRejectedElements(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	otherRing, err := token.NewKeys(1).Ring()
	require.NoError(t, err)
	landing := s.claims
	landing.AccessLinkID = uuid.Nil
	str := func(text string) string { return `"` + text + `"` }
	deep := strings.Repeat(`{"a":`, 4) + "[]" + strings.Repeat("}", 4)
	for name, c := range map[string]struct{ body, code string }{
		"token missing":           {s.event("token", ""), "invalid_token"},
		"token null":              {s.event("token", "null"), "invalid_token"},
		"token empty":             {s.event("token", `""`), "invalid_token"},
		"token a number":          {s.event("token", "1"), "invalid_token"},
		"token of another key":    {s.event("token", str(otherRing.Sign(s.claims))), "invalid_token"},
		"token altered":           {s.event("token", str(flip(s.token))), "invalid_token"},
		"token of a landing page": {s.event("token", str(s.ring.Sign(landing))), "invalid_token"},
		"token twice":             {`{"token":` + str(s.token) + `,` + s.event()[1:], "invalid_token"},
		"not an object":           {`"hello"`, "invalid_token"},
		"null":                    {`null`, "invalid_token"},
		"array within":            {`[[]]`, "invalid_token"},
		"empty object":            {`{}`, "invalid_token"},
		"unknown field":           {s.event("evnet_id", `1`), "unknown_field"},
		"field in other case":     {s.event("Event_Type", `1`), "unknown_field"},
		"field with NUL":          {s.event(`token\u0000`, `1`), "unknown_field"},
		"empty field":             {s.event("", `1`), "unknown_field"},
		"type missing":            {s.event("event_type", ""), "invalid_event_type"},
		"type in other case":      {s.event("event_type", `"Page_Viewed"`), "invalid_event_type"},
		"type an array":           {s.event("event_type", `["page_viewed"]`), "invalid_event_type"},
		"type twice":              {`{"event_type":"page_viewed",` + s.event()[1:], "invalid_event_type"},
		"data a string":           {s.event("event_data", `"{}"`), "invalid_event_data"},
		"data an array":           {s.event("event_data", `[]`), "invalid_event_data"},
		"data false":              {s.event("event_data", `false`), "invalid_event_data"},
		"data too deep":           {s.event("event_data", deep), "invalid_event_data"},
		"data too long": {s.event("event_data", `{"a":"`+strings.Repeat("x", event.MaxDataBytes)+`"}`),
			"invalid_event_data"},
		"data with a member twice": {s.event("event_data", `{"a":1,"\u0061":2}`), "invalid_event_data"},
		"data with a deep double":  {s.event("event_data", `{"a":{"b":1,"b":2}}`), "invalid_event_data"},
		"half a surrogate pair":    {s.event("event_data", `{"a":"\ud800"}`), "invalid_event_data"},
		"half a pair as a name":    {s.event("event_data", `{"\udfff":1}`), "invalid_event_data"},
		"half a pair as a field":   {s.event(`\udfff`, `1`), "unknown_field"},
		"half a pair as a token":   {s.event("token", `"\udfff"`), "invalid_token"},
		"number of no double":      {s.event("event_data", `{"a":[0,1e999]}`), "invalid_event_data"},
		"digits of no double":      {s.event("event_data", `{"a":-1`+strings.Repeat("0", 400)+`}`), "invalid_event_data"},
		"data twice":               {`{"event_data":{},` + s.event("event_data", `{}`)[1:], "invalid_event_data"},
		"page 0":                   {s.event("event_data", `{"page":0}`), "invalid_event_data"},
		"page -1":                  {s.event("event_data", `{"page":-1}`), "invalid_event_data"},
		"page a fraction":          {s.event("event_data", `{"page":1.5}`), "invalid_event_data"},
		"page with exponent":       {s.event("event_data", `{"page":1e1}`), "invalid_event_data"},
		"page a string":            {s.event("event_data", `{"page":"1"}`), "invalid_event_data"},
		"page an object":           {s.event("event_data", `{"page":{"page":1}}`), "invalid_event_data"},
		"page too large":           {s.event("event_data", `{"page":1000001}`), "invalid_event_data"},
		"page overflowing":         {s.event("event_data", `{"page":18446744073709551617}`), "invalid_event_data"},
		"page of a download": {s.event("event_type", `"download_started"`, "event_data", `{"page":0}`),
			"invalid_event_data"},
		"page escaped":        {s.event("event_data", `{"p\u0061ge":0}`), "invalid_event_data"},
		"duration negative":   {s.event("event_data", `{"duration_ms":-5}`), "invalid_event_data"},
		"duration over a day": {s.event("event_data", `{"duration_ms":86400001}`), "invalid_event_data"},
		"event_id empty":      {s.event("event_id", `""`), "invalid_event_id"},
		"event_id nil":        {s.event("event_id", str(uuid.Nil.String())), "invalid_event_id"},
		"event_id a number":   {s.event("event_id", `7`), "invalid_event_id"},
		"event_id without dashes": {s.event("event_id", str(strings.ReplaceAll(uuid.NewString(), "-", ""))),
			"invalid_event_id"},
		"event_id in braces":    {s.event("event_id", `"{`+uuid.NewString()+`}"`), "invalid_event_id"},
		"event_id as a URN":     {s.event("event_id", `"urn:uuid:`+uuid.NewString()+`"`), "invalid_event_id"},
		"event_id with a space": {s.event("event_id", `"`+uuid.NewString()[:35]+` "`), "invalid_event_id"},
		"event_id twice": {`{"event_id":null,` + s.event("event_id", str(uuid.NewString()))[1:],
			"invalid_event_id"},
		"session_id no UUID":       {s.event("session_id", `"abc"`), "invalid_session_id"},
		"session_id true":          {s.event("session_id", `true`), "invalid_session_id"},
		"created_at a date":        {s.event("created_at", `"2026-03-14"`), "invalid_timestamp"},
		"created_at without zone":  {s.event("created_at", `"2026-03-14T10:00:00"`), "invalid_timestamp"},
		"created_at with a comma":  {s.event("created_at", `"2026-03-14T10:00:00,5Z"`), "invalid_timestamp"},
		"created_at short hour":    {s.event("created_at", `"2026-03-14T1:00:00Z"`), "invalid_timestamp"},
		"created_at 30 February":   {s.event("created_at", `"2026-02-30T10:00:00Z"`), "invalid_timestamp"},
		"created_at 25 o'clock":    {s.event("created_at", `"2026-03-14T25:00:00Z"`), "invalid_timestamp"},
		"created_at a wide zone":   {s.event("created_at", `"2026-03-14T10:00:00+25:00"`), "invalid_timestamp"},
		"created_at zone of 24 h":  {s.event("created_at", `"2026-03-14T10:00:00+24:00"`), "invalid_timestamp"},
		"created_at bare fraction": {s.event("created_at", `"2026-03-14T10:00:00.Z"`), "invalid_timestamp"},
		"created_at leap second":   {s.event("created_at", `"2026-12-31T23:59:60Z"`), "invalid_timestamp"},
		"created_at with rubbish":  {s.event("created_at", `"2026-03-14T10:00:00Z "`), "invalid_timestamp"},
		"created_at Unix time":     {s.event("created_at", `1773500000`), "invalid_timestamp"},
		"sent_at no timestamp":     {s.event("sent_at", `"now"`), "invalid_timestamp"},
		"sent_at without created":  {s.event("sent_at", `"yesterday"`), "invalid_timestamp"},
		"sent_at twice":            {`{"sent_at":null,` + s.event("sent_at", `null`)[1:], "invalid_timestamp"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := s.post(t, c.body)
			require.Equal(t, http.StatusUnprocessableEntity, a.status, a.body)
			require.Equal(t, "application/problem+json", a.header.Get("Content-Type"))
			require.Equal(t, "validation_error", a.Code)
			require.Len(t, a.Rejected, 1)
			require.Equal(t, 0, a.Rejected[0].Index)
			require.Equal(t, c.code, a.Rejected[0].Code, a.Rejected[0].Message)
			require.NotEmpty(t, a.Rejected[0].Message)
		})
	}
}

func flip(token string) string {
	last := byte('A')
	if token[20] == last {
		last = 'B'
	}
	return token[:20] + string(last) + token[21:]
}

func TestAcceptedElements(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	big := `{"a":"` + strings.Repeat("x", event.MaxDataBytes-8) + `"}`
	for name, body := range map[string]string{
		"every optional field null": s.event("event_data", "null", "event_id", "null", "session_id", "null",
			"created_at", "null", "sent_at", "null"),
		"data at the limit": s.event("event_data", big),
		"data at the limit, spaced": s.event("event_data", strings.Repeat(" ", 10_000)+strings.Replace(big, ":",
			strings.Repeat("\n\t", 5000)+":", 1)),
		"data at the depth":          s.event("event_data", `{"a":{"b":[{"c":1},{}]}}`),
		"data with brackets in text": s.event("event_data", `{"a":"[[[[[[{{{{{{\"\\"}`),
		"data with an escaped NUL":   s.event("event_data", `{"a":"\u0000","":0}`),
		"data with a long number":    s.event("event_data", `{"a":123456789012345678901234567890e99,"b":1e-999}`),
		"data with a pair":           s.event("event_data", `{"a":"\ud83d\ude00","b":"\\ud800"}`),
		"page and duration null":     s.event("event_data", `{"page":null,"duration_ms":null}`),
		"page at the limit":          s.event("event_data", `{"page":1000000,"duration_ms":86400000}`),
		"page within an object":      s.event("event_data", `{"a":{"page":-1}}`),
		"escaped names and values": strings.NewReplacer("token", `t\u006fken`, "page_viewed",
			`\u0070age_viewed`).Replace(s.event()),
		"whitespace around":           " \r\n\t" + s.event() + "\n ",
		"event_id of version 1":       s.event("event_id", `"`+uuid.Must(uuid.NewUUID()).String()+`"`),
		"an array of one":             "[" + s.event() + "]",
		"created_at lower case":       s.event("created_at", `"2026-03-14t10:00:00z"`),
		"created_at lower case, zone": s.event("created_at", `"2026-03-14t10:00:00.5+01:00"`),
		"a byte order mark":           "\ufeff" + s.event(),
		"created_at with nanosecond":  s.event("created_at", `"2026-03-14T10:00:00.123456789-07:00"`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := s.post(t, body)
			require.Equal(t, http.StatusAccepted, a.status, a.body)
			require.Equal(t, 1, a.Accepted)
			require.Empty(t, a.Rejected)
		})
	}
}

func TestCreatedAt(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339Nano) }
	for name, c := range map[string]struct {
		created, sent string
		want          time.Duration // from now
	}{
		"taken as it is":              {at(-time.Hour), "", -time.Hour},
		"client's clock an hour slow": {at(-61 * time.Minute), at(-time.Hour), -time.Minute},
		"client's clock a year fast":  {at(365*24*time.Hour - time.Minute), at(365 * 24 * time.Hour), -time.Minute},
		"48 h back":                   {at(-48 * time.Hour), "", -48 * time.Hour},
		"more than 48 h back":         {at(-48*time.Hour - time.Millisecond), "", 0},
		"in the future":               {at(time.Millisecond), "", 0},
		"created after sent":          {at(-time.Minute), at(-time.Hour), 0},
		"in the year 1":               {"0001-01-01T00:00:00Z", "", 0},
		"in the year 9999":            {"9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z", 0},
		"sent without created":        {"", at(-time.Hour), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStack(t)
			quoted := func(text string) string {
				if text == "" {
					return ""
				}
				return `"` + text + `"`
			}
			require.Equal(t, http.StatusAccepted,
				s.post(t, s.event("created_at", quoted(c.created), "sent_at", quoted(c.sent))).status)
			e := s.stored(t)
			require.Equal(t, now.Add(c.want).UnixMilli(), e.CreatedAt)
			require.Equal(t, now.UnixMilli(), e.ReceivedAt)
		})
	}
}

func TestRefusedBodies(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for name, c := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"empty":                    {"", 400, "invalid_json"},
		"whitespace":               {" \n", 400, "invalid_json"},
		"text":                     {"hello", 400, "invalid_json"},
		"cut off":                  {s.event()[:30], 400, "invalid_json"},
		"cut off array":            {"[" + s.event() + ",", 400, "invalid_json"},
		"trailing comma":           {"[" + s.event() + ",]", 400, "invalid_json"},
		"two values":               {s.event() + s.event(), 400, "invalid_json"},
		"rubbish after":            {"[" + s.event() + "]x", 400, "invalid_json"},
		"single quotes":            {"{'token':1}", 400, "invalid_json"},
		"NaN":                      {s.event("event_data", `{"a":NaN}`), 400, "invalid_json"},
		"leading zero":             {s.event("event_data", `{"page":01}`), 400, "invalid_json"},
		"control character":        {s.event("event_data", "{\"a\":\"\x00\"}"), 400, "invalid_json"},
		"bad escape":               {s.event("event_data", `{"a":"\x"}`), 400, "invalid_json"},
		"invalid UTF-8":            {s.event("event_data", "{\"a\":\"\xff\"}"), 400, "invalid_json"},
		"endless nesting":          {strings.Repeat("[", 1<<20), 400, "invalid_json"},
		"endless nesting in data":  {s.event("event_data", strings.Repeat(`{"a":`, 100_000)), 400, "invalid_json"},
		"bad after 499 good":       {"[" + strings.Repeat(s.event()+",", 499) + "{]", 400, "invalid_json"},
		"an empty array":           {"[]", 422, "validation_error"},
		"501 elements":             {"[" + strings.Repeat("1,", 500) + "1]", 413, "payload_too_large"},
		"a long wrong literal":     {strings.Repeat("[", 290) + "t" + strings.Repeat("x", 1<<19), 400, "invalid_json"},
		"a body over the limit":    {strings.Repeat(" ", collector.MaxBodyBytes) + s.event(), 413, "payload_too_large"},
		"a body far over the limt": {strings.Repeat(" ", 5<<20), 413, "payload_too_large"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := s.post(t, c.body)
			require.Equal(t, c.status, a.status, a.body)
			require.Equal(t, c.code, a.Code)
			require.Equal(t, c.status, a.Status)
			require.Equal(t, problem.Code(c.code).Title(), a.Title)
			require.Equal(t, "/api/v1/problems/"+c.code, a.Type)
			require.Equal(t, 200, s.do(t, http.MethodGet, a.Type, http.NoBody).status)
			require.NotEmpty(t, a.Detail)
			require.Equal(t, "application/problem+json", a.header.Get("Content-Type"))
			require.NotEmpty(t, a.header.Get("X-Request-Id"))
			require.Equal(t, "*", a.header.Get("Access-Control-Allow-Origin"))
			require.Less(t, len(a.body), 1000)
		})
	}
}

func TestFiveHundredEvents(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	list := make([]string, collector.MaxElements)
	for i := range list {
		list[i] = s.event("event_data", fmt.Sprintf(`{"page":%d}`, i+1))
	}
	a := s.post(t, "["+strings.Join(list, ",")+"]")
	require.Equal(t, http.StatusAccepted, a.status, a.body)
	require.Equal(t, len(list), a.Accepted)
	ids := map[uuid.UUID]bool{}
	for i, r := range s.records(t, len(list)) {
		var e event.Event
		require.NoError(t, e.Decode(r.Value))
		require.EqualValues(t, i+1, e.Page) // one key: the order is kept
		ids[e.EventID] = true
	}
	require.Len(t, ids, len(list))
}
