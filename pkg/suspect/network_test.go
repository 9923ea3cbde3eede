package suspect_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/config"
	"lodestone/pkg/suspect"
)

func open(t *testing.T, content string) (*suspect.Networks, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "networks.txt")
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return suspect.Config{File: file}.Open()
}

func TestNetworks(t *testing.T) {
	t.Parallel()
	n, err := open(t, "# data centres\n198.51.100.0/24\n198.51.100.64/26 # within it\n\n2001:db8:7::/48\n203.0.113.9\r\n198.51.101.0/25\n")
	require.NoError(t, err)
	for addr, in := range map[string]bool{
		"198.51.100.0": true, "198.51.100.255": true, "::ffff:198.51.100.7": true, "198.51.101.127": true,
		"198.51.101.128": false, "198.51.99.255": false, "203.0.113.9": true, "203.0.113.8": false, "203.0.113.10": false,
		"2001:db8:7:1::1": true, "2001:db8:8::": false, "2001:db8:6:ffff::": false,
	} {
		require.Equal(t, in, n.Has(netip.MustParseAddr(addr)), addr)
	}
	require.False(t, n.Has(netip.Addr{}))
	var none *suspect.Networks
	require.Empty(t, none.Rule(netip.MustParseAddr("198.51.100.1")))
}

func TestAWrongFileNamesTheLine(t *testing.T) {
	t.Parallel()
	_, err := open(t, "198.51.100.0/24\nexample.com\n")
	require.True(t, config.IsInvalid(err))
	require.ErrorContains(t, err, "--data-centre-networks (LODESTONE_DATA_CENTRE_NETWORKS)")
	require.ErrorContains(t, err, "line 2")
	require.True(t, config.IsInvalid(suspect.Config{File: filepath.Join(t.TempDir(), "none")}.Validate()))
}
