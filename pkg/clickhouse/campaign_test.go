package clickhouse_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/source"
)

// The server reads back from an address what forms store of the same query.
func TestCampaignsOfAddresses(t *testing.T) {
	t.Parallel()
	conn, ctx, account := open(t), context.Background(), uuid.New()
	for _, query := range []string{
		"utm_source=plain&utm_medium=cpc", "utm_source=two%20words+here", "utm_source=100%", "utm_source=%QQ%2",
		"utm_source=x;y", "utm_source=a%26b%3Dc%23d%3Fe%2Bf%25g",
		"utm_source=%D0%B8%D0%BC%D1%8F", "utm_source=gar%E7on", "utm_source=o%CC%88", "utm_source=%22%27%5C%3C%3E",
		"utm_source=a=b", "x=1&utm%5Fsource=key&utm_source=second",
		"utm_source=" + strings.Repeat("%E8%AA%9E", 250) + "&utm_medium=" + strings.Repeat("%F0%9F%98%80", 250) +
			"&utm_campaign=" + strings.Repeat("%25", 250) +
			"&utm_term=" + strings.Repeat("%C3%A9", 250) + "&utm_content=end",
	} {
		id, campaign := uuid.New(), source.Campaign(query)
		require.NoError(t, conn.Exec(ctx,
			"INSERT INTO lodestone.link_views (account_id, event_id, url) SETTINGS async_insert = 0 VALUES (?, ?, ?)",
			account, id, source.Address("https://pages.example/offer?"+query)))
		var of, medium, name, content, term string
		require.NoError(t, conn.QueryRow(ctx,
			"SELECT utm_source, utm_medium, utm_campaign, utm_content, utm_term FROM lodestone.link_views WHERE account_id = ? AND event_id = ?", account, id).
			Scan(&of, &medium, &name, &content, &term))
		require.Equal(t, []string{campaign["utm_source"], campaign["utm_medium"], campaign["utm_campaign"],
			campaign["utm_content"], campaign["utm_term"]},
			[]string{of, medium, name, content, term}, query)
	}
}
