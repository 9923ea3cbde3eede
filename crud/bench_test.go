package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/client"
)

// BenchmarkAccessLinks asks an account with 500,000 access links for pages with exact totals.
func BenchmarkAccessLinks(b *testing.B) {
	f := start(b)
	u := f.user(b, account.Team)
	big, small := u.magnet(b), u.magnet(b)
	for _, sql := range []string{
		`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token, is_active, created_at)
		SELECT gen_random_uuid(), '` + u.account.String() + `', CASE WHEN n % 10 = 0 THEN '` + small.ID + `' ELSE '` + big.ID + `' END::uuid,
			n || '@example.com', n || '@example.com', gen_random_uuid()::text, n % 5 <> 0, now() - n * interval '1 second'
		FROM generate_series(1, 500000) AS n`,
		"VACUUM (ANALYZE) access_links", //nolint:misspell // SQL's own word; autovacuum does so a minute later
	} {
		_, err := f.db.Unscoped().Exec(b.Context(), sql)
		require.NoError(b, err)
	}
	for name, filter := range map[string]client.AccessLinkFilter{
		"all":     {},
		"magnet":  {LeadMagnetID: small.ID},
		"active":  {IsActive: new(true)},
		"email":   {Email: "77@example.com"},
		"deep":    {Paging: client.Paging{Page: 20_000}},
		"largest": {LeadMagnetID: big.ID, IsActive: new(true), Paging: client.Paging{PerPage: 100}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				page, err := u.AccessLinks(b.Context(), filter)
				require.NoError(b, err)
				require.NotEmpty(b, page.Data)
			}
		})
	}
	b.Run("magnet by id", func(b *testing.B) {
		for b.Loop() {
			m, err := u.LeadMagnet(b.Context(), big.ID)
			require.NoError(b, err)
			require.EqualValues(b, 450_000, m.AccessLinkCount)
		}
	})
}
