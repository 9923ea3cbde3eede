package timezone_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/timezone"
)

// A host whose files say something else changes nothing.
func TestZonesAreNotThoseOfTheHost(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "Europe"), 0o755))
	utc := append([]byte("TZif2"), make([]byte, 15+24)...)
	for _, name := range []string{"Europe/Berlin", "Mars"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), utc, 0o600))
	}
	t.Setenv("ZONEINFO", dir)
	for name, want := range map[string][2]string{
		"Europe/Berlin": {"+01:00", "+02:00"}, "America/Caracas": {"-04:00", "-04:00"},
		"Australia/Lord_Howe": {"+11:00", "+10:30"},
		"Asia/Kathmandu":      {"+05:45", "+05:45"}, "EST5EDT": {"-05:00", "-04:00"}, "UTC": {"Z", "Z"},
		"Etc/GMT+5": {"-05:00", "-05:00"},
	} {
		zone, err := timezone.Load(name)
		require.NoError(t, err)
		require.Equal(t, name, zone.String())
		for i, month := range []time.Month{time.January, time.July} {
			require.Equal(t, want[i], time.Date(2040, month, 1, 12, 0, 0, 0, zone).Format("Z07:00"), "%s in %s", name, month)
		}
	}
	_, err := timezone.Load("Mars")
	require.ErrorIs(t, err, timezone.ErrUnknown)
}

func TestUnknownZones(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", "Local", "localtime", "posixrules", "posix/Europe/Berlin", "right/Europe/Berlin", "europe/berlin", "Europe",
		"Europe/", "Europe/Berlin ", "./Europe/Berlin",
		"../zoneinfo/Europe/Berlin", "/usr/share/zoneinfo/Europe/Berlin", "CEST", "+02:00", "Europe/Berlin\x00",
	} {
		_, err := timezone.Load(name)
		require.ErrorIs(t, err, timezone.ErrUnknown, "%q", name)
	}
}
