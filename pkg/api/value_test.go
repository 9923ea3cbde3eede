package api_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/api"
	"lodestone/pkg/problem"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-03-01":                          "2026-03-01T00:00:00Z",
		"20260301":                            "2026-03-01T00:00:00Z",
		"2026-03-01T09:30":                    "2026-03-01T09:30:00Z",
		"2026-03-01T09:30:15":                 "2026-03-01T09:30:15Z",
		"2026-03-01T09:30:15Z":                "2026-03-01T09:30:15Z",
		"2026-03-01T09:30:15.5Z":              "2026-03-01T09:30:15.5Z",
		"2026-03-01T09:30:15,123456789Z":      "2026-03-01T09:30:15.123456789Z",
		"2026-03-01T09:30:15+02:00":           "2026-03-01T07:30:15Z",
		"2026-03-01T09:30:15-0230":            "2026-03-01T12:00:15Z",
		"2026-03-01T09:30+02":                 "2026-03-01T07:30:00Z",
		"20260301T093015Z":                    "2026-03-01T09:30:15Z",
		"20260301T0930":                       "2026-03-01T09:30:00Z",
		"2024-02-29":                          "2024-02-29T00:00:00Z",
		"2026-02-29":                          "",
		"2026-13-01":                          "",
		"2026-03-01T24:00:00Z":                "",
		"2026-03-01T09:60:00Z":                "",
		"2026-03-01T09:30:61Z":                "",
		"2026-03-01 09:30:15Z":                "",
		"2026-03-01T09:30:15 02:00":           "",
		"2026-03-01T9:30:15Z":                 "",
		"2026-03-01t09:30:15z":                "",
		"2026-03-01T":                         "",
		"2026-03-01Z":                         "",
		"2026-3-1":                            "",
		"26-03-01":                            "",
		"2026-03-0109:30":                     "",
		"2026-03-01T0930":                     "",
		"2026-03-01T09:30:15.Z":               "",
		"2026-03-01T09:30:15.1234567890Z":     "",
		"2026-03-01T09:30:15+25:00":           "",
		"1709283015":                          "",
		"now":                                 "",
		"":                                    "",
		"0000-01-01":                          "",
		"9999-12-31T23:59:59-23:00":           "",
		"２０２６-03-01":                          "",
		"2026-03-01T09:30:15+02:00[Europe/X]": "",
	} {
		got, err := api.ParseTime(text)
		if want == "" {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, got.Format(time.RFC3339Nano), text)
	}
}

func TestCursor(t *testing.T) {
	t.Parallel()
	type position struct {
		At int64  `json:"a"`
		ID string `json:"i"`
	}
	c, err := api.EncodeCursor(position{5, "x"})
	require.NoError(t, err)
	var p position
	require.NoError(t, api.DecodeCursor(c, &p))
	require.Equal(t, position{5, "x"}, p)
	for _, bad := range []string{"x", c + "=", c[:len(c)-2], "e30K", "!!!", "eyJiIjoxfQ"} {
		if err := api.DecodeCursor(bad, &position{}); bad != "e30K" {
			require.True(t, problem.Is(err, problem.InvalidParameter), bad)
		}
	}
}
