package home

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/crud/catalogue"
	"lodestone/pkg/chart"
	"lodestone/pkg/locale"
	"lodestone/pkg/store"
	"lodestone/pkg/timezone"
	"lodestone/query/report"
)

// today is the numbers of the day, as the reports define them.
type today struct {
	Numbers []number
	Zone    string // whose day it is
	Bots    int64  // events of bots that are left out
}

type number struct {
	Metric, Label, Define string // the word of the API, what people call it, and what it counts
	Exact, Text           string
	URL                   string // what is behind it
}

// today asks for the numbers of the day in the account's time zone.
func (h *Home) today(ctx context.Context) (today, error) {
	var account store.BrandOfAccountRow
	err := h.deps.Postgres.Account(ctx, h.deps.Account, func(tx pgx.Tx) (err error) {
		account, err = store.New(tx).BrandOfAccount(ctx, h.deps.Account)
		return err
	})
	if err != nil {
		return today{}, fmt.Errorf("read the account: %w", err)
	}
	words, err := catalogue.Dashboard()
	if err != nil {
		return today{}, err
	}
	text := words.In(locale.English)
	zone := timezone.OrUTC(account.Timezone)
	now := time.Now().In(zone)
	metrics := []string{"visitors", "submissions", "people", "people_finished"}
	answers, err := h.deps.Reports.Answer(ctx, h.deps.Account, []report.Question{{
		Metrics: metrics, From: now.Format(time.DateOnly), To: timezone.AddDays(now, 1).Format(time.DateOnly), Timezone: zone.String(),
	}}, []string{""})
	if err != nil {
		return today{}, fmt.Errorf("ask for the numbers of the day: %w", err)
	}
	t := today{Zone: zone.String(), Bots: answers[0].ExcludedBots}
	screens := map[string]string{"visitors": "/dashboard?days=1", "submissions": "/dashboard?days=1", "people": "/dashboard/readers?days=1", "people_finished": "/dashboard/readers?days=1&finished=true"}
	for i, metric := range metrics {
		n := number{Metric: metric, Label: text.Say("metric." + metric), Define: text.Say("metric." + metric + ".means"), URL: h.deps.Pages.Path(screens[metric])}
		value := 0.0
		if v := answers[0].Totals.Now[i]; v != nil {
			value = *v
		}
		n.Exact, n.Text = chart.Exact(value), chart.Count(value)
		t.Numbers = append(t.Numbers, n)
	}
	return t, nil
}
