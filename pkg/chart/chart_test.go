package chart_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"lodestone/pkg/chart"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// examples are the charts of the golden files. testdata/*.html opens in a browser.
func examples() map[string]chart.Chart {
	days := []string{"1 Nov", "2 Nov", "3 Nov", "4 Nov", "5 Nov", "6 Nov", "7 Nov"}
	gap := chart.Gap()
	hours := make([]string, 24)
	for i := range hours {
		hours[i] = []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17",
			"18", "19", "20", "21", "22", "23"}[i]
	}
	week := make([][]float64, 7)
	for d := range week {
		week[d] = make([]float64, 24)
		for h := range week[d] {
			week[d][h] = float64(max(0, 9-(h-14)*(h-14)/4-d))
		}
	}
	return map[string]chart.Chart{
		"line": chart.Line{Title: "Readers by day", Labels: days, Partial: true, Series: []chart.Series{
			{Name: "Readers", Metric: "readers", Values: []float64{3, 8, 5, gap, 9, 14, 11}},
			{Name: "Before", Kind: chart.Before, Values: []float64{2, 4, 4, 6, 7, 7, 10}},
			{Name: "Finished", Metric: "finished", Kind: chart.Second, Values: []float64{1, 2, 3, 2, 6, 6, 10}},
		}},
		"line_rate": chart.Line{Title: "Read to the end by day", Labels: days, Format: chart.Share,
			Series: []chart.Series{{Name: "Finished", Metric: "finish_rate",
				Values: []float64{gap, 0.5, gap, gap, 0.25, 1, 0.466}}}},
		"line_marks": chart.Line{
			Title: "Readers by day", Labels: days, Step: "day", First: "2026-11-01",
			Marks:  []chart.Mark{{At: 0, Name: "Version 1"}, {At: 4, Name: "Version 2–3"}},
			Series: []chart.Series{{Name: "Readers", Metric: "readers", Values: []float64{3, 8, 5, 7, 9, 14, 11}}},
		},
		"line_empty": chart.Line{Title: "Readers by day"},
		"bars": chart.Bars{Title: "Readers by source", Name: "Source", Metric: "readers",
			Words: "Readers", Items: []chart.Bar{
				{Label: "newsletter", URL: "/dashboard/readers?utm_source=newsletter", Value: 1420, Before: 900},
				{Label: "no source", Value: 37},
				{Label: "a source whose name is longer than a phone is wide", Value: 0},
			}},
		"funnel": chart.Funnel{Title: "From the landing page to the end", Steps: []chart.Step{
			{Name: "Landing page viewed", Metric: "link_views", Count: 400, Rate: gap, Before: 300},
			{Name: "Form sent", Metric: "submissions", Count: 180, Rate: 0.45, Before: 200},
			{Name: "Opened", URL: "/people?a=1&b=2", Count: 120, Rate: 0.667, Before: gap},
			{Name: "Read to the end", Count: 0, Rate: 0, Before: gap},
			{Name: "More than all", Count: 190, Rate: 1.5, Before: gap},
		}},
		"funnel_small": chart.Funnel{Title: "Small", Small: true,
			Steps: []chart.Step{{Count: 40}, {Count: 20}, {Count: 5}, {}}},
		"pages": chart.Pages{Title: "How far readers get", Was: "Version 1",
			URL: func(int, bool) string { return "/people" }, Rows: []chart.PageRow{
				{1, 40, 4, 3100}, {2, 36, 12, 12_400}, {3, 24, 2, 41_000}, {4, 22, 22, gap},
			}, Before: []chart.PageRow{{1, 80, 40, 1000}, {2, 40, 20, 1000}, {3, 20, 20, 1000}}},
		"strip": chart.Strip{Title: "A session", Pages: 12, Visits: []chart.Visit{{1, 0, 4000}, {2, 4500, 20_000},
			{3, 30_000, 5000}, {7, 60_000, gap}, {2, 70_000, 9000}}},
		"heat": chart.Heat{Title: "When people read", Name: "Weekday", Metric: "page_views",
			Rows: []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}, Columns: hours, Values: week},
		"heat_written": chart.Heat{Title: "Who returns", Name: "Week", Rows: []string{"5 Oct", "12 Oct"},
			Columns: []string{"0", "1", "2"}, Written: true, Format: chart.Share,
			Values: [][]float64{{1, 0.5, 0.21}, {1, 0.33, gap}}},
		"spark": chart.Spark{Title: "Readers", Labels: days, Metric: "readers", Values: []float64{1, 2, 0, gap, 4, 3, 9}},
	}
}

// The pictures and tables are in testdata, to be looked at and reviewed.
func TestFigures(t *testing.T) {
	t.Parallel()
	for name, c := range examples() {
		file := filepath.Join("testdata", name+".html")
		text := "<!doctype html><meta charset=utf-8><style>" + chart.CSS + "</style>\n" +
			strings.ReplaceAll(string(chart.Figure(c)), "><", ">\n<") + "\n"
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), text, "%s: run with -update, and look at the file", name)
	}
}

// Every picture is named, and its numbers are beside it.
func TestEveryChartHasItsTable(t *testing.T) {
	t.Parallel()
	all := examples()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		d := read(t, c.SVG())
		require.Equal(t, "svg", d.elements[0], name)
		require.Equal(t, "title", d.elements[1], name)
		require.Contains(t, c.SVG(), `role="img"`, name)
		require.Contains(t, c.SVG(), "<title>"+c.Table().Title+"</title>", name)
		require.NotContains(t, c.SVG(), "style=", "%s: policies of pages forbid it", name)
		for _, bad := range []string{"NaN", "Inf", "%!"} {
			require.NotContains(t, string(chart.Figure(c)), bad, name)
		}
		for _, row := range c.Table().Rows {
			require.Len(t, row, len(c.Table().Head), name)
		}
	}
}

// A gap is a gap in the line, and an empty cell of the table.
func TestGaps(t *testing.T) {
	t.Parallel()
	l := chart.Line{Title: "Gap", Labels: []string{"a", "b", "c", "d"},
		Series: []chart.Series{{Name: "N", Metric: "readers", Values: []float64{1, chart.Gap(), 2, 4}}}}
	require.Contains(t, l.SVG(), `d="M0 142M2 100l1-84"`)
	require.Contains(t, l.Table().HTML(), `<td data-metric=readers data-value="">–`)
	require.Contains(t, l.Table().HTML(), `<td data-metric=readers data-value=2>2`)
}

// Bars and lines begin at zero, and the largest value fills the width of bars.
func TestZeroBased(t *testing.T) {
	t.Parallel()
	b := chart.Bars{Title: "Bars", Items: []chart.Bar{{Label: "a", Value: 100}, {Label: "b", Value: 99}}}
	require.Contains(t, b.SVG(), `width="99%"`)
	l := chart.Line{Title: "Line", Labels: []string{"a", "b"}, Series: []chart.Series{{Values: []float64{100, 99}}}}
	require.Contains(t, l.SVG(), `M0 16l1 2`)
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0": chart.Count(0), "999": chart.Count(999), "1,000": chart.Count(1000), "12,345,678": chart.Count(12_345_678),
		"−1,200": chart.Count(-1200), chart.None: chart.Count(chart.Gap()),
		"0 %": chart.Share(0), "47 %": chart.Share(0.466), "0.4 %": chart.Share(0.004),
		"100 %": chart.Share(1), "120 %": chart.Share(1.2),
		"840 ms": chart.Time(840), "4.2 s": chart.Time(4200), "10 s": chart.Time(9960), "1 min": chart.Time(59_600),
		"1 min 5 s": chart.Time(65_000), "2 h 3 min": chart.Time(7_380_000), "3 d": chart.Time(3 * 86_400_000),
		"10 h": chart.Time(35_980_000), "18 h": chart.Time(66_480_000), "2 d": chart.Time(47.6 * 3_600_000),
	} {
		require.Equal(t, want, got)
	}
	require.Equal(t, "0.4666666666666667", chart.Exact(7.0/15))
	require.Equal(t, "12345678", chart.Exact(12_345_678))
}

type parsed struct {
	elements []string
	text     string
}

// read reads a picture as XML.
func read(t *testing.T, svg string) parsed {
	t.Helper()
	var p parsed
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return p
		}
		require.NoError(t, err, svg)
		switch token := token.(type) {
		case xml.StartElement:
			p.elements = append(p.elements, token.Name.Local)
		case xml.CharData:
			p.text += string(token)
		}
	}
}

// Text of strangers is text: it adds no element and no attribute, in HTML and in XML.
func FuzzText(f *testing.F) {
	for _, seed := range []string{`"><script>alert(1)</script>`, "' onload='x", "<svg/onload=1>", "&amp;&lt;",
		"\x00\x1b\xff\ufffe", "]]>", "--><x>", "</title><b>", "</table>", "a\r\nb", strings.Repeat("ä", 80)} {
		f.Add(seed, 3.5)
	}
	f.Fuzz(func(t *testing.T, text string, v float64) {
		text = "x" + text // an empty name is left out
		url := "/people?q=" + text
		for _, build := range []func(text, url string) chart.Chart{
			func(text, _ string) chart.Chart {
				return chart.Line{Title: text, Labels: []string{text, text},
					Series: []chart.Series{{Name: text, Metric: text, Values: []float64{v, 1}}}}
			},
			func(text, url string) chart.Chart {
				return chart.Bars{Title: text, Name: text, Metric: text, Words: text,
					Items: []chart.Bar{{Label: text, URL: url, Value: v}}}
			},
			func(text, url string) chart.Chart {
				return chart.Funnel{Title: text, Steps: []chart.Step{{Name: text, Metric: text, URL: url, Count: v, Rate: v}}}
			},
			func(text, _ string) chart.Chart {
				return chart.Heat{Title: text, Name: text, Metric: text, Rows: []string{text}, Columns: []string{text},
					Values: [][]float64{{v}}, Written: true}
			},
			func(text, url string) chart.Chart {
				return chart.Pages{Title: text, Was: text, Rows: []chart.PageRow{{1, v, v, v}, {2, 1, 1, 1}},
					Before: []chart.PageRow{{1, 3, v, 1}}, URL: func(int, bool) string { return url }}
			},
			func(text, _ string) chart.Chart {
				return chart.Strip{Title: text, Pages: 3, Visits: []chart.Visit{{1, 0, v}, {3, max(v, 0), 5}}}
			},
			func(text, _ string) chart.Chart {
				return chart.Spark{Title: text, Labels: []string{text}, Metric: text, Values: []float64{v}}
			},
		} {
			mine, plain := build(text, url), build("plain", "/people?q=plain")
			require.Equal(t, read(t, plain.SVG()).elements, read(t, mine.SVG()).elements)
			require.Equal(t, shape(t, plain), shape(t, mine))
		}
	})
}

// shape is the elements of a figure with the names of their attributes, as a browser reads them.
func shape(t *testing.T, c chart.Chart) []string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(string(chart.Figure(c))))
	require.NoError(t, err)
	var out []string
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		out = append(out, n.Data)
		for _, a := range n.Attr {
			out = append(out, "@"+a.Key)
		}
	}
	return out
}
