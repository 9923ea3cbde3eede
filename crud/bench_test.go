package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/client"
)

// BenchmarkAccessLinks asks an account with 500,000 access links for pages with exact totals.
func BenchmarkAccessLinks(b *testing.B) {
	f := startAlone(b)
	u := f.user(b, account.Team)
	big, small := u.magnet(b), u.magnet(b)
	for _, sql := range []string{
		`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key, is_active, created_at)
		SELECT gen_random_uuid(), '` + u.account.String() + `', CASE WHEN n % 10 = 0 THEN '` + small.ID + `' ELSE '` + big.ID + `' END::uuid,
			n || '@example.com', n || '@example.com', sha256(gen_random_uuid()::text::bytea), '', 0, n % 5 <> 0, now() - n * interval '1 second'
		FROM generate_series(1, 500000) AS n`,
		"VACUUM (ANALYZE) access_links",
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

// BenchmarkDelete deletes what has 100,000 submissions, each with an access link.
func BenchmarkDelete(b *testing.B) {
	f := startAlone(b)
	u := f.user(b, account.Team)
	for name, remove := range map[string]func(link client.GenericLink) error{
		"generic link": func(l client.GenericLink) error { return u.DeleteGenericLink(b.Context(), l.ID) },
		"lead magnet":  func(l client.GenericLink) error { return u.DeleteLeadMagnet(b.Context(), l.LeadMagnetID, true) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				m := u.magnet(b)
				link, err := u.CreateGenericLink(b.Context(), client.NewGenericLink{LeadMagnetID: m.ID})
				require.NoError(b, err)
				for _, sql := range []string{
					`INSERT INTO submissions (id, account_id, generic_link_id, email, email_key)
					SELECT gen_random_uuid(), '` + u.account.String() + `', '` + link.ID + `', n || '@example.com', n || '@example.com' FROM generate_series(1, 100000) AS n`,
					`INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, submission_id, email, email_key, token_hash, token_sealed, token_key)
					SELECT gen_random_uuid(), account_id, '` + m.ID + `', generic_link_id, id, email, email_key, sha256(gen_random_uuid()::text::bytea), '', 0 FROM submissions`,
					"VACUUM (ANALYZE)",
				} {
					_, err := f.db.Unscoped().Exec(b.Context(), sql)
					require.NoError(b, err)
				}
				b.StartTimer()
				require.NoError(b, remove(link))
			}
		})
	}
}
