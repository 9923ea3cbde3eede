package main

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/test/clienttest"
	"lodestone/pkg/test/enginetest"
)

// A start leads a newcomer to the dashboard and the landing page that the first start made, and
// makes no other. What they delete does not come back.
func TestUpMakesASampleOnce(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.start()
	site := u.env["LODESTONE_URL"]
	landing := site + "/l/welcome"
	printed := regexp.MustCompile(`http://\S+`).FindAllString(u.out.String(), 2)
	require.Len(t, printed, 2)
	require.Equal(t, site+"/dashboard", printed[0])
	require.Contains(t, u.env["LODESTONE_DASHBOARD_URL"], site+"/dashboard/sign-in/once/", "it signs the owner in")
	for _, name := range []string{"LODESTONE_DASHBOARD_URL", "LODESTONE_DEV_SECRET", "LODESTONE_API_KEY"} {
		require.NotContains(t, u.out.String(), u.env[name], "a service manager keeps what is printed: "+name)
	}
	require.Equal(t, landing, printed[1], "the second address that is printed")
	status, _ := get(t, landing, "")
	require.Equal(t, http.StatusOK, status)
	api := clienttest.New(client.Config{URL: site, Key: u.env["LODESTONE_API_KEY"]})
	count := func() []client.LeadMagnet {
		page, err := api.LeadMagnets(t.Context(), client.Paging{})
		require.NoError(t, err)
		return page.Data
	}
	require.Len(t, count(), 1)
	require.NoError(t, api.DeleteLeadMagnet(t.Context(), count()[0].ID, true))
	u.interrupt(enginetest.Timeout)
	u.start()
	require.Empty(t, count())
	require.NotContains(t, u.out.String(), "/l/")
	u.interrupt(enginetest.Timeout)
}

func TestUpWithoutASample(t *testing.T) {
	t.Parallel()
	sharedUp(t) // which makes none
	env := running.up.env
	api := clienttest.New(client.Config{URL: env["LODESTONE_URL"], Key: env["LODESTONE_API_KEY"]})
	page, err := api.LeadMagnets(t.Context(), client.Paging{})
	require.NoError(t, err)
	require.Empty(t, page.Data)
	status, _ := get(t, env["LODESTONE_URL"]+"/l/welcome", "")
	require.Equal(t, http.StatusNotFound, status)
	require.NotContains(t, running.up.out.String(), "/l/")
}
