package chart

import "slices"

// label names a line, right of its end.
type label struct {
	text, colour string
	y            float64
}

// labelApart is the distance of two labels in pixels.
const labelApart = 15

// ends writes labels, one below the other where ends are close.
func (d *drawing) ends(labels []label) {
	slices.SortStableFunc(labels, func(a, b label) int { return int(b.y - a.y) })
	for i := 1; i < len(labels); i++ { // from the lowest up
		labels[i].y = min(labels[i].y, labels[i-1].y-labelApart)
	}
	top := 10.0
	for i := len(labels) - 1; i >= 0; i-- { // and back into the picture
		labels[i].y = max(labels[i].y, top)
		top = labels[i].y + labelApart
	}
	d.group(`font-weight="600"`, func() {
		for _, one := range labels {
			d.text(1, one.y, "start", one.text, `dx="8" fill="`+one.colour+`"`)
		}
	})
}
