package bench

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// axis says what a plot shows.
type axis struct {
	title, x, y string
	values      []string // where the case names none
	alone       bool     // without the limits
}

// axes are those of the plots, by their names. Others are named by what they plot.
var axes = map[string]axis{
	"connections": {title: "Events a second over keep-alive connections, one event a request, acknowledged", x: "connections", y: "events/s", values: []string{Rate}},
	"query":       {title: "GET /api/v1/analytics over stored events", x: "events", y: "ms", values: []string{Latency(0.5), Latency(0.99)}, alone: true},
}

// line is one line of a plot.
type line struct {
	name   string
	limit  bool // drawn dashed
	points []point
}

type point struct{ x, y float64 }

// The size of a plot and of the part within the axes.
const (
	plotWidth, plotHeight                        = 760, 420
	plotLeft, plotRight, plotTop, plotBottom     = 76, 40, 92, 56
	plotColours                                  = 4
	plotInnerWidth                               = plotWidth - plotLeft - plotRight
	plotInnerHeight                              = plotHeight - plotTop - plotBottom
	plotLegendColumns, plotLegendTop, plotLegend = 2, 46, 18
)

// plots returns the names of the plots of results, in their order.
func plots(results []*Result) []string {
	var names []string
	for _, r := range results {
		if r.Plot != "" && !slices.Contains(names, r.Plot) {
			names = append(names, r.Plot)
		}
	}
	return names
}

// lines returns what a plot shows: for each Line of its cases, side and value, the medians over X.
func lines(results []*Result, plot string) []*line {
	var all []*line
	what := axes[plot]
	for _, r := range results {
		if r.Plot != plot {
			continue
		}
		values := r.PlotValues
		if len(values) == 0 {
			values = what.values
		}
		sides := r.Sides
		if what.alone {
			sides = sides[:1]
		}
		for i, s := range sides {
			for _, value := range values {
				y, ok := s.Median(value)
				if !ok || s.Name == bareLimit { // it would leave no room for the others
					continue
				}
				words := []string{r.Line}
				if len(sides) > 1 {
					words = append(words, s.Name)
				}
				if len(values) > 1 {
					words = append(words, strings.TrimSuffix(value, " ms"))
				}
				name := strings.TrimSpace(strings.Join(words, ", "))
				at := slices.IndexFunc(all, func(l *line) bool { return l.name == name })
				if at < 0 {
					at = len(all)
					all = append(all, &line{name: name, limit: i > 0})
				}
				all[at].points = append(all[at].points, point{r.X, y})
			}
		}
	}
	for _, l := range all {
		slices.SortFunc(l.points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	}
	return all
}

// writePlot draws a plot as SVG, which is readable on light and dark pages.
func writePlot(w io.Writer, results []*Result, plot string) error {
	all := lines(results, plot)
	what, known := axes[plot]
	if !known {
		what.title = plot
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title">
<title id="title">%s</title>
<style>
text { font: 12px -apple-system, BlinkMacSystemFont, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; fill: #59636e }
.title { font-size: 14px; font-weight: 600; fill: #1f2328 }
.grid { stroke: #d0d7de; stroke-width: 1 }
.line { fill: none; stroke-width: 2 }
.limit { stroke-dasharray: 5 4 }
.c0 { stroke: #2c50d8 } .c1 { stroke: #b35900 } .c2 { stroke: #1a7f37 } .c3 { stroke: #8250df }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 } .title { fill: #f0f6fc } .grid { stroke: #3d444d }
.c0 { stroke: #7d9bff } .c1 { stroke: #f0a35e } .c2 { stroke: #57c972 } .c3 { stroke: #c297ff }
}
</style>
`, plotWidth, plotHeight, escape(what.title))
	fmt.Fprintf(&b, "<text class=\"title\" x=\"8\" y=\"24\">%s</text>\n", escape(what.title))
	xs, low, high, most := extent(all)
	place := func(p point) (x, y float64) {
		share := 0.5
		if high > low {
			share = (math.Log(p.x) - math.Log(low)) / (math.Log(high) - math.Log(low))
		}
		return plotLeft + 12 + share*(plotInnerWidth-24), plotTop + plotInnerHeight*(1-p.y/most)
	}
	for _, y := range steps(most) {
		_, at := place(point{low, y})
		fmt.Fprintf(&b, "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			plotLeft, at, plotWidth-plotRight, plotLeft-8, at+4, strings.TrimSuffix(number(y), ".0"))
	}
	for _, x := range xs {
		at, _ := place(point{x, 0})
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", at, plotHeight-plotBottom+20, strings.TrimSuffix(number(x), ".0"))
	}
	fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
		plotLeft+plotInnerWidth/2, plotHeight-14, escape(what.x), plotLeft-8, plotTop-14, escape(what.y))
	drawLines(&b, all, place)
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// drawLines draws the lines and says above which is which. A limit has its system's colour.
func drawLines(b *strings.Builder, all []*line, place func(point) (x, y float64)) {
	colour := -1
	for i, l := range all {
		if !l.limit || i == 0 {
			colour = (colour + 1) % plotColours
		}
		class := fmt.Sprintf("line c%d", colour)
		if l.limit {
			class += " limit"
		}
		var path []string
		for _, p := range l.points {
			x, y := place(p)
			path = append(path, fmt.Sprintf("%.1f %.1f", x, y))
			fmt.Fprintf(b, "<circle class=\"line c%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>\n", colour, x, y)
		}
		fmt.Fprintf(b, "<path class=\"%s\" d=\"M%s\"/>\n", class, strings.Join(path, "L"))
		x := 8 + i%plotLegendColumns*(plotWidth-16)/plotLegendColumns
		y := plotLegendTop + i/plotLegendColumns*plotLegend
		fmt.Fprintf(b, "<path class=\"%s\" d=\"M%d %dh28\"/><text x=\"%d\" y=\"%d\">%s</text>\n", class, x, y-4, x+36, y, escape(l.name))
	}
}

// extent returns the values on the x axis, the least and the most of them, and the end of the y axis.
func extent(all []*line) (xs []float64, low, high, most float64) {
	for _, l := range all {
		for _, p := range l.points {
			if !slices.Contains(xs, p.x) {
				xs = append(xs, p.x)
			}
			most = max(most, p.y)
		}
	}
	if len(xs) == 0 {
		return nil, 1, 1, 1
	}
	slices.Sort(xs)
	return xs, xs[0], xs[len(xs)-1], most * 1.08
}

// steps returns round values from 0 to the end of an axis.
func steps(most float64) []float64 {
	step := math.Pow(10, math.Floor(math.Log10(most)))
	for _, part := range []float64{0.1, 0.2, 0.25, 0.5, 1} {
		if most/(step*part) <= 6 {
			step *= part
			break
		}
	}
	var all []float64
	for y := 0.0; y <= most; y += step {
		all = append(all, y)
	}
	return all
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder takes everything
	return b.String()
}
