package collector

import "time"

// moment is a deadline of a connection that is moved only when something is about to wait for it, and not for the sake
// of a fraction of a second: the server sets three for each request, most of which nothing ever waits for.
type moment struct{ wanted, set time.Time }

// due returns the deadline to set, if it has to be: what is set ends at the wanted time or up to slack later.
func (m *moment) due(slack time.Duration) (at time.Time, due bool) {
	if m.wanted.IsZero() {
		due = !m.set.IsZero()
		m.set = m.wanted
		return m.set, due
	}
	if late := m.set.Sub(m.wanted); late >= 0 && late <= slack {
		return m.set, false
	}
	m.set = m.wanted.Add(slack)
	return m.set, true
}
