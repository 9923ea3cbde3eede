package kafka

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// forever is the longest time that a Duration can be, in milliseconds: nearly 300 years.
const forever = int64(math.MaxInt64 / time.Millisecond)

// Retention returns how long the topics keep a record at most: their retention time, and that of a
// segment, which goes as a whole. It reports false if one of them keeps records forever, or does
// not say.
func Retention(ctx context.Context, cl *kgo.Client, topics ...string) (longest time.Duration, bounded bool, err error) {
	all, err := kadm.NewClient(cl).DescribeTopicConfigs(ctx, topics...)
	if err != nil {
		return 0, false, fmt.Errorf("read retention of topics: %w", err)
	}
	for _, topic := range topics {
		values, err := settings(all, topic)
		if err != nil {
			return 0, false, fmt.Errorf("read retention of topic %s: %w", topic, err)
		}
		keep, err := strconv.ParseInt(values["retention.ms"], 10, 64)
		if err != nil || keep < 0 {
			return 0, false, nil //nolint:nilerr // it does not say
		}
		segment, err := strconv.ParseInt(values["segment.ms"], 10, 64)
		if err != nil {
			segment = 0 // the broker has no segments
		}
		if keep > forever || segment > forever-keep {
			return 0, false, nil
		}
		longest = max(longest, time.Duration(keep+segment)*time.Millisecond)
	}
	return longest, true, nil
}
