package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/client"
)

// reader asks the query processes for reports.
type reader struct {
	queries []string          // addresses
	site    string            // address of the process of lead magnets, links and people
	keys    map[string]string // by account
}

// answers are the numbers of a report for an account: those of people.
type answers struct {
	Events    int64 `json:"events"`
	Readers   int64 `json:"readers"`
	Sessions  int64 `json:"sessions"`
	LinkViews int64 `json:"link_views"`
}

// atLeast reports whether no number is smaller than before.
func (a answers) atLeast(before answers) bool {
	return a.Events >= before.Events && a.Readers >= before.Readers && a.Sessions >= before.Sessions &&
		a.LinkViews >= before.LinkViews
}

func (r *reader) accounts() []string { return slices.Sorted(maps.Keys(r.keys)) }

// promptly bounds a report that is asked for while faults happen, and reportLimit one of
// everything.
const promptly, reportLimit = 10 * time.Second, time.Minute

// report asks a query process once. Everything that was stored until asOf is in the answer.
func (r *reader) report(ctx context.Context, limit time.Duration, address, account string) (a answers,
	asOf time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	api := client.New(client.Config{URL: address, Key: r.keys[account]})
	now := time.Now().UTC()
	body := fmt.Sprintf(`{"metrics":["events","readers","sessions","link_views"],"from":%q,"to":%q}`,
		now.Add(-48*time.Hour).Format(time.RFC3339), now.Add(48*time.Hour).Format(time.RFC3339))
	var out struct {
		Data []struct {
			Totals answers   `json:"totals"`
			AsOf   time.Time `json:"as_of"`
		} `json:"data"`
	}
	_, err = api.Do(ctx, http.MethodPost, "/api/v1/analytics/query", http.Header{"Content-Type": {"application/json"}},
		strings.NewReader(body), &out)
	if err == nil && len(out.Data) != 1 {
		err = errors.New("the report has no totals")
	}
	if err != nil {
		return a, asOf, err
	}
	return out.Data[0].Totals, out.Data[0].AsOf, nil
}

// await returns a report as soon as a query process answers.
func (r *reader) await(ctx context.Context, account string) (a answers, err error) {
	return a, probe.Until(ctx, startTimeout, retryInterval, "ask for a report", func() (err error) {
		a, _, err = r.report(ctx, promptly, r.queries[0], account)
		return err
	})
}

// ask asks both query processes until a time, and complains about an answer with less than before.
func (r *reader) ask(ctx context.Context, account string, before answers, until time.Time,
	wrong func(format string, args ...any)) (answered int) {
	for i := 0; time.Now().Before(until) && ctx.Err() == nil; i++ {
		a, _, err := r.report(ctx, promptly, r.queries[i%len(r.queries)], account)
		if err == nil {
			answered++
			if !a.atLeast(before) {
				wrong("a report answers %+v, and answered %+v before", a, before)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
	return answered
}

// reader compares the reports of each query process with the rows.
func (f *findings) reader(ctx context.Context, r *reader) {
	for account, want := range f.people {
		for _, address := range r.queries {
			f.Asked++
			var got answers
			err := probe.Until(ctx, reportLimit, 500*time.Millisecond, "compare the reports", func() (err error) {
				if got, _, err = r.report(ctx, reportLimit, address, account.String()); err == nil && got != *want {
					err = errWrong
				}
				return err
			})
			if err != nil {
				f.Differ++
				f.examplef("the report of account %s at %s is %+v, and the rows are %+v: %v", account, address, got, *want, err)
			}
		}
	}
}
