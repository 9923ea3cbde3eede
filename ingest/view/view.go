// Package view defines what counts as a view of a generic link's landing page. Whoever counts them uses it: the
// counters, the retention, which writes down the views of months that leave, and the check of the counters.
package view

// Landings returns the query of ClickHouse that gives the counted views of landing pages among the rows that the
// condition chooses: account_id, generic_link_id, minute, views, since and until.
//
// Every request is stored as a row of its own, but one visitor counts once a minute (UTC) on a link. A visitor is a hash
// of the address with a user agent. Rows without the hash (visitors who object to being tracked, senders that withhold the
// address, hours without a salt) count by their user agent alone, so all who withhold both are one visitor: else whoever
// withholds the address could count without bound. Rows of bots do not count.
//
// The time is the collector's, so a sender cannot spread its views over minutes. No minute lies in two months.
// Rows are read in the order of the table's key, so that what is in memory at a time is the visitors of a minute.
func Landings(condition string) string {
	return `
SELECT account_id, generic_link_id, toStartOfMinute(created_at) AS minute,
    uniqExact(ip_hash, user_agent) AS views, min(created_at) AS since, max(created_at) AS until
FROM lodestone.link_views
WHERE bot = '' AND ` + condition + `
GROUP BY account_id, generic_link_id, minute`
}

// InOrder is the setting under which Landings needs little memory.
const InOrder = " SETTINGS optimize_aggregation_in_order = 1" //nolint:misspell // ClickHouse has it so
