package collector_test

import (
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/collector"
	"lodestone/ingest/producer"
	"lodestone/pkg/config"
)

func TestDefaultsAreValid(t *testing.T) {
	t.Parallel()
	var flags struct {
		Collector collector.Config `embed:""`
		Producer  producer.Config  `embed:""`
	}
	parser, err := kong.New(&flags)
	require.NoError(t, err)
	_, err = parser.Parse(nil)
	require.NoError(t, err)
	require.NoError(t, flags.Collector.Validate())
	require.Equal(t, "127.0.0.1:8081", flags.Collector.Listen)
	require.Equal(t, collector.MaxBodyBytes, flags.Collector.MaxBodyBytes)
	require.Positive(t, flags.Collector.ViewLimit, "tokens of landing pages are public")
	require.Positive(t, flags.Collector.ReadTimeout, "constants are set")
	require.Positive(t, flags.Producer.MaxBufferedRecords)
	_, err = parser.Parse([]string{"--collector-trusted-proxies=10.0.0.0/8,::1"})
	require.NoError(t, err)
	require.Equal(t, []string{"10.0.0.0/8", "::1"}, flags.Collector.TrustedProxies)
	require.NoError(t, flags.Collector.Validate())
}

func TestEveryProblemOfTheSettingsIsNamed(t *testing.T) {
	t.Parallel()
	err := collector.Config{TrustedProxies: []string{"10.0.0.0/33"}, MaxBodyBytes: collector.MaxBodyBytes + 1}.Validate()
	require.True(t, config.IsInvalid(err))
	for _, name := range []string{
		"listen", "ack-timeout", "write-timeout", "max-body-bytes",
		"max-connections", "trusted-proxies", "forwarded-header", "privacy-signals",
	} {
		require.ErrorContains(t, err, "--collector-"+name+" ")
	}
	c := collectorConfig()
	c.AckTimeout = c.WriteTimeout
	require.ErrorContains(t, c.Validate(), "--collector-write-timeout")
	c.AckTimeout = c.WriteTimeout - time.Second
	require.NoError(t, c.Validate())
}

func TestATakenAddressNamesTheFlag(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	c := collectorConfig()
	c.Listen = s.Addr().String()
	err := newUnstarted(t, s, c).Start(t.Context())
	require.True(t, config.IsInvalid(err), "%v", err)
	require.ErrorContains(t, err, "--collector-listen (LODESTONE_COLLECTOR_LISTEN) is "+c.Listen)
}
