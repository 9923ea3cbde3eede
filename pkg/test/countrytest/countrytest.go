// Package countrytest writes databases of countries for tests.
package countrytest

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
	"github.com/stretchr/testify/require"
)

// Write returns the path of a database with a record for each network.
func Write(t testing.TB, records map[string]mmdbtype.DataType) string {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "Test", IncludeReservedNetworks: true})
	require.NoError(t, err)
	for text, record := range records {
		_, network, err := net.ParseCIDR(text)
		require.NoError(t, err)
		require.NoError(t, tree.Insert(network, record))
	}
	path := filepath.Join(t.TempDir(), "country.mmdb")
	f, err := os.Create(path)
	require.NoError(t, err)
	_, err = tree.WriteTo(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return path
}

// Germany returns the path of a database in which the networks are in Germany, with the city and
// the place as well.
func Germany(t testing.TB, networks ...string) string {
	t.Helper()
	records := map[string]mmdbtype.DataType{}
	for _, network := range networks {
		records[network] = mmdbtype.Map{
			"country":  mmdbtype.Map{"iso_code": mmdbtype.String("DE"), "names": mmdbtype.Map{"en": mmdbtype.String("Germany")}},
			"city":     mmdbtype.Map{"names": mmdbtype.Map{"en": mmdbtype.String("Heidelberg")}},
			"postal":   mmdbtype.Map{"code": mmdbtype.String("69117")},
			"location": mmdbtype.Map{"latitude": mmdbtype.Float64(49.40768), "longitude": mmdbtype.Float64(8.69079)},
		}
	}
	return Write(t, records)
}
