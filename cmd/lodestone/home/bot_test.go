package home

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAVisitOfABotIsMarkedAsAWhole(t *testing.T) {
	t.Parallel()
	list := []Activity{
		{ID: "link/1", Session: "s1", Kind: "read", Bot: true}, {ID: "link/2", Session: "s1", Kind: "read"}, {ID: "s1", Kind: "opened"},
		{ID: "link/3", Session: "s2", Kind: "read"}, {ID: "s2", Kind: "opened"}, {ID: "link/4", Kind: "read", Bot: true}, {ID: "form", Kind: "asked"},
	}
	markBots(list)
	var bots []string
	for _, a := range list {
		if a.Bot {
			bots = append(bots, a.ID)
		}
	}
	require.Equal(t, []string{"link/1", "link/2", "s1", "link/4"}, bots)
}
