package replica

import "time"

// Clocks is the statement of Conn.Clock.
const Clocks = clocks

// SilentSince lets the service believe that the writer of a shard has not answered since a time.
func (f *Failover) SilentSince(shard uint16, writer string, since time.Time) {
	f.silent[shard] = silence{writer, since}
}
