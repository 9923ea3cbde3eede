package timezone_test

import (
	"archive/zip"
	"encoding/binary"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/timezone"
)

// Every change of offset since 1970 that the files of the zones list is found, and no other moment.
func TestNextChangeFindsEveryChangeOfTheDatabase(t *testing.T) {
	t.Parallel()
	archive, err := zip.OpenReader("zoneinfo.zip")
	require.NoError(t, err)
	defer archive.Close()
	zones := 0
	for _, f := range archive.File {
		if f.FileInfo().IsDir() {
			continue
		}
		zones++
		zone, err := timezone.Load(f.Name)
		require.NoError(t, err)
		from := time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC)
		want, until := listed(t, f, from)
		var got []int64
		for at := from; ; {
			change, ok := timezone.NextChange(zone, at, until)
			if !ok {
				break
			}
			require.True(t, change.After(at), f.Name)
			got, at = append(got, change.Unix()), change
		}
		require.Equal(t, want, got, f.Name)
	}
	require.Greater(t, zones, 590)
}

// listed returns the changes of offset after a time that the table of a zone's file has, and the
// last moment of the table.
func listed(t *testing.T, f *zip.File, from time.Time) (changes []int64, until time.Time) {
	t.Helper()
	r, err := f.Open()
	require.NoError(t, err)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	var n [6]int // isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt (RFC 9636)
	header := func() {
		for i := range n {
			n[i] = int(binary.BigEndian.Uint32(data[20+4*i:]))
		}
		data = data[44:]
	}
	header()
	data = data[5*n[3]+6*n[4]+n[5]+8*n[2]+n[1]+n[0]:]
	header()
	times, kinds := data[:8*n[3]], data[8*n[3]:9*n[3]]
	offset := func(kind byte) int32 { return int32(binary.BigEndian.Uint32(data[9*n[3]+6*int(kind):])) }
	before, until := offset(0), from
	for i, kind := range kinds {
		at := time.Unix(int64(binary.BigEndian.Uint64(times[8*i:])), 0)
		if at.After(from) && offset(kind) != before {
			changes = append(changes, at.Unix())
		}
		if before = offset(kind); at.After(until) {
			until = at
		}
	}
	return changes, until
}

// A day begins where the date is first shown, also where no clock shows its midnight.
func TestMidnight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, day, want string
	}{
		{"UTC", "2026-11-28", "2026-11-28T00:00:00Z"},
		{"Europe/Berlin", "2024-12-31", "2024-12-31T00:00:00+01:00"},
		{"America/New_York", "2026-11-01", "2026-11-01T00:00:00-04:00"},
		{"Atlantic/Azores", "2027-03-28", "2027-03-28T01:00:00Z"},        // from 00:00 to 01:00
		{"America/Havana", "2027-03-14", "2027-03-14T01:00:00-04:00"},    // likewise
		{"America/Havana", "2027-11-07", "2027-11-07T00:00:00-04:00"},    // from 01:00 back to 00:00
		{"America/St_Johns", "2010-11-07", "2010-11-07T00:00:00-02:30"},  // from 00:01 back to the day before
		{"Pacific/Apia", "2011-12-30", "2011-12-31T00:00:00+14:00"},      // a day that was left out
		{"Pacific/Kwajalein", "1993-08-21", "1993-08-22T00:00:00+12:00"}, // likewise
		{"Africa/Monrovia", "1972-01-07", "1972-01-07T00:44:30Z"},        // from 00:00 to 00:44:30
		{"Asia/Pyongyang", "2015-08-15", "2015-08-15T00:00:00+08:30"},    // from 00:00 back to 23:30
	} {
		day, err := time.Parse(time.DateOnly, c.day)
		require.NoError(t, err)
		zone, err := timezone.Load(c.zone)
		require.NoError(t, err)
		require.Equal(t, c.want, timezone.Midnight(zone, day.Year(), day.Month(), day.Day()).Format(time.RFC3339), "%s %s",
			c.zone, c.day)
	}
}
