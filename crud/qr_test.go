package crud_test

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/auth"
)

// scan returns the address in a QR code, as a phone reads it.
func scan(t *testing.T, r reply) string {
	t.Helper()
	require.Equal(t, 200, r.status, r.body)
	require.Equal(t, "image/png", r.header.Get("Content-Type"))
	picture, err := png.Decode(bytes.NewReader([]byte(r.body)))
	require.NoError(t, err)
	bitmap, err := gozxing.NewBinaryBitmapFromImage(picture)
	require.NoError(t, err)
	found, err := qrcode.NewQRCodeReader().Decode(bitmap, nil)
	require.NoError(t, err)
	return found.GetText()
}

func TestQRCodes(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	m := u.magnet(t)
	link := u.post(t, linksPath, `{"lead_magnet_id":"`+m.ID+`","slug":"poster"}`).object(t)
	code := linksPath + "/" + link["id"].(string) + "/qr"
	require.Equal(t, link["url"], scan(t, u.get(t, code+"?format=png")))
	require.Equal(t, site+"/l/poster?utm_source=fair&utm_campaign=a+%26+b",
		scan(t, u.get(t, code+"?format=png&size=300&utm_campaign=a+%26+b&utm_source=fair")))

	picture := u.get(t, code)
	require.Equal(t, 200, picture.status)
	require.Equal(t, "image/svg+xml", picture.header.Get("Content-Type"))
	require.Equal(t, `inline; filename="qr-poster.svg"`, picture.header.Get("Content-Disposition"))
	require.True(t, strings.HasPrefix(picture.body, "<svg "), picture.body)

	for _, wrong := range []string{"?format=gif", "?size=255", "?size=4097", "?size=x", "?utm_source=", "?utm_id=1",
		"?utm_source=" + strings.Repeat("x", 201)} {
		require.Equal(t, "invalid_parameter", string(u.get(t, code+wrong).problem(t).Code), wrong)
	}
	long := strings.Repeat("%C3%A9", 200) // percent-encoded, 1,200 characters
	require.Contains(t, u.get(t, code+"?utm_source="+long+"&utm_medium="+long+"&utm_term="+long).problem(t).Detail,
		"too long")

	access := u.post(t, "/api/v1/access-links", `{"lead_magnet_id":"`+m.ID+`","email":"ada@example.com"}`).object(t)
	personal := "/api/v1/access-links/" + access["id"].(string) + "/qr?format=png"
	require.Equal(t, access["url"], scan(t, u.get(t, personal)))
	require.Equal(t, 403, u.fixture.userOf(t, u.account, auth.Read, auth.Write).get(t, personal).status,
		"the code opens the document as the recipient")
}
