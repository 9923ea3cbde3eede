package country_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/maxmind/mmdbwriter/mmdbtype"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/config"
	"lodestone/pkg/country"
	"lodestone/pkg/test/countrytest"
)

// Files of all makers are read, and of each record the country alone.
func TestCountries(t *testing.T) {
	t.Parallel()
	text := func(s string) mmdbtype.DataType { return mmdbtype.String(s) }
	file := countrytest.Write(t, map[string]mmdbtype.DataType{
		"203.0.113.0/25": mmdbtype.Map{"country": mmdbtype.Map{"iso_code": text("DE"),
			"names": mmdbtype.Map{"en": text("Germany")}}, "city": mmdbtype.Map{"geoname_id": mmdbtype.Uint32(1)}},
		"2001:db8:7::/48":   mmdbtype.Map{"country": mmdbtype.Map{"iso_code": text("AT")}},
		"198.51.100.0/25":   mmdbtype.Map{"country_code": text("CH"), "country": text("Switzerland")},
		"198.51.100.128/25": mmdbtype.Map{"country": text("FR")},
		"203.0.113.128/26":  mmdbtype.Map{"registered_country": mmdbtype.Map{"iso_code": text("US")}},
		"203.0.113.192/26":  mmdbtype.Map{"country": mmdbtype.Map{"iso_code": text("Europe")}},
	})
	d, err := country.Config{Database: file}.Open()
	require.NoError(t, err)
	for range 2 { // the second time from memory
		for addr, want := range map[string]string{
			"203.0.113.1": "DE", "::ffff:203.0.113.1": "DE", "2001:db8:7::1": "AT", "198.51.100.1": "CH", "198.51.100.200": "FR",
			"203.0.113.130": "", "203.0.113.200": "", "192.0.2.1": "", "127.0.0.1": "",
		} {
			c := d.Country(netip.MustParseAddr(addr))
			require.Equal(t, want, string(c.Text()), addr)
		}
		c := d.Country(netip.Addr{})
		require.Empty(t, c.Text())
	}
}

func TestNothingIsAllocatedToFindACountryAgain(t *testing.T) {
	d, err := country.Config{Database: countrytest.Germany(t, "203.0.113.0/24")}.Open()
	require.NoError(t, err)
	addr := netip.MustParseAddr("203.0.113.9")
	require.Zero(t, testing.AllocsPerRun(100, func() { d.Country(addr) }))
}

func TestWithoutASettingThereIsNoDatabase(t *testing.T) {
	t.Parallel()
	d, err := country.Config{}.Open()
	require.NoError(t, err)
	require.Nil(t, d)
}

func TestAWrongFileNamesTheSetting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, cut := filepath.Join(dir, "text.mmdb"), filepath.Join(dir, "cut.mmdb")
	require.NoError(t, os.WriteFile(text, []byte("no database"), 0o600))
	content, err := os.ReadFile(countrytest.Germany(t, "203.0.113.0/24"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(cut, content[len(content)/2:], 0o600))
	networks := countrytest.Write(t,
		map[string]mmdbtype.DataType{"203.0.113.0/24": mmdbtype.Map{"autonomous_system_number": mmdbtype.Uint32(7)}})
	for file, why := range map[string]string{
		filepath.Join(dir, "missing.mmdb"): "cannot be read", dir: "cannot be read", text: "not a MaxMind DB file", cut: "",
		networks: "which has no countries",
	} {
		err := country.Config{Database: file}.Validate()
		require.True(t, config.IsInvalid(err), file)
		require.ErrorContains(t, err, "--country-database (LODESTONE_COUNTRY_DATABASE)")
		require.ErrorContains(t, err, why)
		require.ErrorContains(t, err, file)
	}
}
