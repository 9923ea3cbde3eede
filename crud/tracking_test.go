package crud_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
	"lodestone/pkg/problem"
	"lodestone/pkg/token"
)

func TestTrackingOfAGenericLink(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *crud.Config) { c.CollectorURL = "https://events.example.com/" })
	u := f.user(t, account.Team)
	m := u.magnet(t)
	id := u.post(t, linksPath, `{"lead_magnet_id":"`+m.ID+`"}`).object(t)["id"].(string)
	got := u.get(t, linksPath+"/"+id+"/tracking").object(t)
	text := got["tracking_token"].(string)
	claims, err := f.tokens.Verify([]byte(text))
	require.NoError(t, err)
	require.Equal(t, token.Claims{AccountID: u.account, LeadMagnetID: uuid.MustParse(m.ID),
		GenericLinkID: uuid.MustParse(id)}, claims,
		"it counts views of the page, and nothing else")
	require.Equal(t, map[string]any{
		"tracking_token": text,
		"script":         `<script async src="https://events.example.com/v1/beacon.js" data-token="` + text + `"></script>`,
		"pixel":          `<img src="https://events.example.com/v1/pixel.gif?t=` + text + `" width="1" height="1" alt="">`,
	}, got)

	stranger := f.user(t, account.Team)
	require.Equal(t, problem.NotFound, stranger.get(t, linksPath+"/"+id+"/tracking").problem(t).Code)

	f = start(t)
	u = f.user(t, account.Team)
	id = u.post(t, linksPath, `{"lead_magnet_id":"`+u.magnet(t).ID+`"}`).object(t)["id"].(string)
	got = u.get(t, linksPath+"/"+id+"/tracking").object(t)
	require.NotEmpty(t, got["tracking_token"])
	require.Nil(t, got["script"], "no address of the collector is configured")
	require.Nil(t, got["pixel"])
}
