package webhook_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"lodestone/crud/webhook"
)

// A message arrives as the Standard Webhooks specification wants it, and the log tells of it.
func TestDelivery(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	to := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("thanks\x00\xff")) })
	id, secret := r.create(to.url)
	r.emit(1)
	got := to.next(t)
	w, err := standard.NewWebhook(secret)
	require.NoError(t, err)
	require.NoError(t, w.Verify(got.body, got.header))
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	require.Regexp(t, `^msg_[0-9a-f-]{36}$`, got.header.Get("Webhook-Id"))
	require.Regexp(t, `^v1,[A-Za-z0-9+/]{43}=$`, got.header.Get("Webhook-Signature"))
	var message object
	require.NoError(t, json.Unmarshal(got.body, &message))
	require.Len(t, message, 3)
	require.Equal(t, "form.verified", message["type"])
	require.Equal(t, "ada@example.com", message["data"].(object)["email"])

	d := r.only(id, "delivered", inState("delivered"))
	require.Equal(t, got.header.Get("Webhook-Id"), d["message_id"])
	require.Equal(t, "form.verified", d["kind"])
	require.Equal(t, message, d["body"])
	require.Nil(t, d["next_attempt_at"])
	require.NotNil(t, d["settled_at"])
	require.Len(t, d["attempts"], 1)
	a := attempt(d, 0)
	require.Equal(t, to.url, a["url"])
	require.EqualValues(t, 200, a["status_code"])
	require.Nil(t, a["error"])
	require.Equal(t, "thanks\ufffd\ufffd", a["response"])
	require.NotContains(t, r.log.String(), strings.TrimPrefix(secret, "whsec_"))
}

// A message that fails is tried again after 1 and 5 minutes, half an hour, 2 hours and a day, each
// within a tenth, under the same id and freshly signed; then it is given up.
func TestSchedule(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	to := newReceiver(t, status(http.StatusInternalServerError))
	id, secret := r.create(to.url)
	r.emit(1)
	first := to.next(t)
	first.verify(t, secret)
	stamp := first.header.Get("Webhook-Timestamp")
	for i, wait := range []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 24 * time.Hour} {
		d := r.only(id, "tried", tried(i+1))
		require.Equal(t, "pending", d["state"])
		a := attempt(d, i)
		require.EqualValues(t, 500, a["status_code"])
		require.Equal(t, "It answered with 500.", a["error"])
		failed, err := time.Parse(time.RFC3339, a["attempted_at"].(string))
		require.NoError(t, err)
		next, err := time.Parse(time.RFC3339, d["next_attempt_at"].(string))
		require.NoError(t, err)
		require.InDelta(t, wait.Seconds(), next.Sub(failed).Seconds(), wait.Seconds()/10+30) // the attempt took time
		require.Empty(t, to.got)
		r.clock.until(t, d["next_attempt_at"])
		again := to.next(t)
		again.verify(t, secret)
		require.Equal(t, first.header.Get("Webhook-Id"), again.header.Get("Webhook-Id"))
		require.Equal(t, first.body, again.body)
		require.NotEqual(t, stamp, again.header.Get("Webhook-Timestamp"))
		stamp = again.header.Get("Webhook-Timestamp")
	}
	d := r.only(id, "given up", inState("failed"))
	require.Len(t, d["attempts"], 6)
	require.Equal(t, "It was given up after 6 attempts.", d["reason"])
	require.NotNil(t, r.must("GET", "/"+id, "")["failing_since"])
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	answer := atomic.Pointer[string]{}
	for _, test := range []struct {
		header  string
		seconds float64
	}{
		{"600", 600},
		{"1", 60},                            // not sooner than planned
		{strconv.Itoa(48 * 3600), 24 * 3600}, // nor later than in a day
		{"soon", 60},
		{"-5", 60},
		{"99999999999999999999", 60},
	} {
		answer.Store(&test.header)
		to := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", *answer.Load())
			w.WriteHeader(http.StatusTooManyRequests)
		})
		id, _ := r.create(to.url)
		r.emit(1)
		d := r.only(id, "tried", tried(1))
		next, err := time.Parse(time.RFC3339, d["next_attempt_at"].(string))
		require.NoError(t, err)
		failed, err := time.Parse(time.RFC3339, attempt(d, 0)["attempted_at"].(string))
		require.NoError(t, err)
		require.InDelta(t, test.seconds, next.Sub(failed).Seconds(), test.seconds/10+30, test.header)
		r.must("DELETE", "/"+id, "")
	}
}

// Whoever answers 410 gets nothing more, at once; what waited for it is given up.
func TestGone(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *webhook.Config) { c.PerEndpoint = 1 })
	to := newReceiver(t, status(http.StatusGone))
	id, _ := r.create(to.url)
	r.emit(1)
	d := r.only(id, "given up", inState("failed"))
	require.Len(t, d["attempts"], 1)
	hook := r.must("GET", "/"+id, "")
	require.Equal(t, false, hook["is_active"])
	require.Equal(t, "It answered with 410: it wants no more messages.", hook["disabled_reason"])
	require.NotNil(t, hook["disabled_at"])
	r.emit(1)
	r.only(id, "no second one", func(object) bool { return true })

	code, _, _ := r.ask("POST", "/"+id+"/deliveries/"+d["id"].(string)+"/replay", "")
	require.Equal(t, http.StatusConflict, code)
	hook = r.must("PATCH", "/"+id, `{"is_active":true}`)
	require.Nil(t, hook["disabled_reason"])
	require.Nil(t, hook["disabled_at"])
	require.Nil(t, hook["failing_since"])
}

// An endpoint that fails for days, and often, is disabled; one success resets everything.
func TestFailingEndpointIsDisabled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var healthy atomic.Bool
	to := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		if !healthy.Load() {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	id, _ := r.create(to.url)
	fail := func(n int) {
		r.emit(n)
		for range n {
			to.next(t)
		}
	}
	fail(3)
	require.Eventually(t, func() bool { // all of them: a failure that is written down after the success would start again
		list := r.must("GET", "/"+id+"/deliveries", "")["data"].([]any)
		return !slices.ContainsFunc(list, func(d any) bool { return !tried(1)(d.(object)) })
	}, testTimeout, 20*time.Millisecond)
	require.NotNil(t, r.must("GET", "/"+id, "")["failing_since"])
	healthy.Store(true)
	r.emit(1)
	to.next(t)
	require.Eventually(t, func() bool { return r.must("GET", "/"+id, "")["failing_since"] == nil },
		testTimeout, 20*time.Millisecond)
	healthy.Store(false)
	fail(9)
	r.clock.advance(121 * time.Hour) // days pass; now what failed is tried again
	require.Eventually(t, func() bool { return r.must("GET", "/"+id, "")["is_active"] == false },
		testTimeout, 20*time.Millisecond)
	require.Regexp(t, `^It failed for 5 days without a success, \d+ times in a row\.$`,
		r.must("GET", "/"+id, "")["disabled_reason"])
}

// One endpoint that does not answer keeps no other one waiting, and is sent no more at once than
// the settings say, by all processes together.
func TestSlowEndpointDelaysNoOther(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t)
	var now, most atomic.Int64
	release := make(chan struct{})
	slow := newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		select {
		case <-release:
		case <-q.Context().Done():
		}
		w.WriteHeader(http.StatusNoContent)
	})
	quick := newReceiver(t, nil)
	r.create(slow.url)
	r.emit(50)
	r.create(quick.url)
	r.emit(20)
	c := settings()
	c.Timeout = testTimeout // none of the slow one's is given up meanwhile
	for range 3 {
		r.deliver(r.more(c))
	}
	for range 20 {
		quick.next(t)
	}
	require.Eventually(t, func() bool { return most.Load() == 2 }, testTimeout, time.Millisecond)
	close(release)
	for range 70 {
		slow.next(t)
	}
	require.EqualValues(t, 2, most.Load())
}

// Among several processes each message is sent once, if none of them dies.
func TestProcessesShare(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t)
	to := newReceiver(t, nil)
	id, _ := r.create(to.url)
	r.emit(200)
	for range 3 {
		r.deliver(r.more(settings()))
	}
	seen := map[string]int{}
	for range 200 {
		q := to.next(t)
		seen[q.header.Get("Webhook-Id")]++
	}
	require.Len(t, seen, 200)
	r.delivered(id, 200)
	require.Empty(t, to.got)
}

// A process that dies between sending and writing it down leaves a claim; when that has run out,
// another one sends the message again, under the same id.
func TestCrashBetween(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t)
	to := newReceiver(t, nil)
	id, secret := r.create(to.url)
	r.emit(1)
	// What a process leaves that was killed after it had sent: the claim, and nothing else.
	_, err := r.db.Unscoped().Exec(t.Context(),
		"UPDATE webhook_deliveries SET claim = gen_random_uuid(), claimed_until = $1",
		r.clock.now().Add(10*time.Minute))
	require.NoError(t, err)
	r.deliver(r.hooks)
	r.emit(1) // goes out, while the first one waits
	other := to.next(t)
	require.Empty(t, to.got)
	r.delivered(id, 1)
	r.clock.advance(11 * time.Minute)
	again := to.next(t)
	again.verify(t, secret)
	require.NotEqual(t, other.header.Get("Webhook-Id"), again.header.Get("Webhook-Id"))
	r.delivered(id, 2)
}

// A process that is stopped gives back what it had not finished, so that the next one sends it
// without waiting, and without an attempt being lost.
func TestStop(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t)
	var calls atomic.Int64
	to := newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
		if calls.Add(1) == 1 {
			<-q.Context().Done()
			return
		}
		w.WriteHeader(http.StatusOK)
	})
	id, _ := r.create(to.url)
	r.emit(1)
	stop := r.deliver(r.hooks)
	first := to.next(t)
	stop()
	r.only(id, "waits", func(d object) bool { return d["state"] == "pending" && len(d["attempts"].([]any)) == 0 })
	r.deliver(r.more(settings()))
	require.Equal(t, first.header.Get("Webhook-Id"), to.next(t).header.Get("Webhook-Id"))
	r.only(id, "delivered", inState("delivered"))
}

// What waits for an endpoint that was disabled is given up.
func TestDisabledEndpointGetsNothing(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t)
	to := newReceiver(t, nil)
	id, _ := r.create(to.url)
	r.emit(1)
	hook := r.must("PATCH", "/"+id, `{"is_active":false}`)
	require.Equal(t, "It was disabled by a request.", hook["disabled_reason"])
	r.deliver(r.hooks)
	d := r.only(id, "given up", inState("failed"))
	require.Equal(t, "The webhook is not active.", d["reason"])
	require.Empty(t, to.got)
}
