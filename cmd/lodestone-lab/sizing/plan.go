package sizing

import (
	"fmt"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Plan is an installation for a number of events a day.
type Plan struct {
	PerDay     float64
	Partitions int
	Collectors int
	Consumers  int
	Shards     int
	Cores      int // of ClickHouse, a shard
}

const (
	// peak is the rate in the busiest minutes beside that of the day. A campaign that begins is three to five times the average.
	peak = 4
	day  = 86_400.0
)

// Plans are the rows of the table.
var Plans = []Plan{
	{PerDay: 1e6, Partitions: 12, Collectors: 1, Consumers: 1, Shards: 1, Cores: 4},
	{PerDay: 1e8, Partitions: 12, Collectors: 2, Consumers: 2, Shards: 1, Cores: 8},
	{PerDay: 1e9, Partitions: 48, Collectors: 3, Consumers: 2, Shards: 2, Cores: 16},
	{PerDay: 1e10, Partitions: 192, Collectors: 12, Consumers: 8, Shards: 16, Cores: 32},
}

// Need is what a plan's events take at their peak.
type Need struct {
	Rate      float64 // events a second
	Collector float64 // cores, of all collectors, with one event a request
	Kafka     float64 // cores, of one copy
	Consumer  float64 // cores, of all consumers
	Inserts   float64 // a second, in all shards
	Rows      float64 // of an insert
	Shard     float64 // cores that inserts and merges take of each
	Postgres  float64 // cores
	Year      float64 // bytes on the disk of a shard, one copy
	Week      float64 // bytes in Kafka, one copy
	Sessions  float64 // bytes in Postgres, a year
}

// Need returns what the plan's events take.
func (p Plan) Need() Need {
	rate := p.PerDay / day * peak
	age := blockAge(p.Partitions / p.Consumers)
	// A block begins with its first event, so a partition that gets few events waits for one first.
	perPartition := rate / float64(p.Partitions)
	between := age + 1/perPartition
	rows := min(perPartition*between, float64(blocks.BlockRows))
	inserts := rate / rows
	return Need{
		Rate: rate, Collector: rate * collectorCost, Kafka: rate * kafkaCost, Consumer: rate * consumerCost,
		Inserts: inserts, Rows: rows, Shard: inserts * insertCost(rows) / float64(p.Shards), Postgres: rate * postgresCost,
		Year: p.PerDay * 365 * eventBytes / float64(p.Shards), Week: p.PerDay * 7 * recordBytes,
		Sessions: p.PerDay * 365 / sessionEvents * sessionBytes,
	}
}

// Table returns the table of docs/scaling.md.
func Table() string {
	var b strings.Builder
	b.WriteString("| Events a day | At the peak | Collectors | Kafka, a copy | Partitions | Consumers | Inserts at the peak | Shards × cores | Used by inserts | Disk of a shard, a year | Postgres, a year |\n")
	b.WriteString("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, p := range Plans {
		n := p.Need()
		fmt.Fprintf(&b, "| %s | %s/s | %d, %s | %s, %s a week | %d | %d, %s | %.0f/s of %s rows | %d × %d | %.0f %% | %s | %s, %s |\n",
			count(p.PerDay), group(n.Rate), p.Collectors, cores(n.Collector), cores(n.Kafka), size(n.Week), p.Partitions, p.Consumers, cores(n.Consumer),
			n.Inserts, group(n.Rows), p.Shards, p.Cores, 100*n.Shard/float64(p.Cores), size(n.Year), cores(n.Postgres), size(n.Sessions))
	}
	return b.String()
}

func cores(n float64) string {
	if c := up(n); c != 1 {
		return fmt.Sprintf("%d cores", c)
	}
	return "1 core"
}

func count(n float64) string {
	if n >= 1e9 {
		return fmt.Sprintf("%.0f billion", n/1e9)
	}
	return fmt.Sprintf("%.0f million", n/1e6)
}

func size(bytes float64) string {
	switch {
	case bytes >= 1e12:
		return fmt.Sprintf("%.1f TB", bytes/1e12)
	case bytes >= 10e9:
		return fmt.Sprintf("%.0f GB", bytes/1e9)
	default:
		return fmt.Sprintf("%.1f GB", bytes/1e9)
	}
}

// group writes a whole number with commas between thousands.
func group(n float64) string { return message.NewPrinter(language.English).Sprintf("%.0f", n) }
