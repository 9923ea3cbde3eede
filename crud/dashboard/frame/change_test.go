package frame

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/web"
)

// plainVoice says the key of a text and its arguments.
type plainVoice struct{}

func (plainVoice) Figure(r Row, metric string) Figure { return FigureOf(r, metric) }
func (plainVoice) Say(key string, args ...any) string { return key + fmt.Sprint(args...) }
func (plainVoice) Sentence(key string, args ...any) Sentence {
	for i, a := range args {
		if f, ok := a.(*Figure); ok {
			args[i] = f.Text()
		}
	}
	return Sentence{web.Part{Text: fmt.Sprintf("%s %v", key, args)}}
}

// The source or campaign whose readers finish clearly more often than all is named, if it has
// enough of them.
func TestBestOriginIsNamed(t *testing.T) {
	t.Parallel()
	origin := func(dimension, name string, people, rate float64) Row {
		return Row{dimension: name, "people": people, "people_finish_rate": rate}
	}
	for name, c := range map[string]struct {
		sources, campaigns []Row
		want               []string
	}{
		"source": {[]Row{origin("utm_source", "news", 40, 0.7)}, []Row{origin("utm_campaign", "spring", 40, 0.7)},
			[]string{"overview.changed.source [name news rate 70 % readers 40 all 50 %]"}},
		"campaign": {[]Row{origin("utm_source", "news", 40, 0.7)}, []Row{origin("utm_campaign", "spring", 20, 0.9)},
			[]string{"overview.changed.campaign [name spring rate 90 % readers 20 all 50 %]"}},
		"few readers":   {nil, []Row{origin("utm_campaign", "spring", 9, 1)}, nil},
		"hardly better": {[]Row{origin("utm_source", "news", 40, 0.54)}, nil, nil},
		"none, and the rest": {[]Row{
			{"utm_source": nil, "people": 40.0, "people_finish_rate": 0.9},
			{"utm_source": "x", "other": true, "people": 40.0, "people_finish_rate": 0.9},
		}, nil, nil},
	} {
		b, err := BatchOf(Answers{Data: []Answer{
			{ID: ByTime, Totals: Row{"people": 100.0, "people_finish_rate": 0.5}},
			{ID: ByMagnet}, {ID: BySource, Rows: c.sources}, {ID: ByCampaign, Rows: c.campaigns},
		}}, 4)
		require.NoError(t, err)
		var got []string
		for _, s := range Changes(plainVoice{}, b) {
			got = append(got, s[0].Text)
		}
		require.Equal(t, c.want, got, name)
	}
}
