package stream

// LandingViews returns the ClickHouse query for the counted views of landing pages among the rows
// that match the condition: account_id, generic_link_id, minute, views, since and until.
//
// Every request is stored as a row of its own, but one visitor counts once a minute (UTC) on a
// link. A visitor is a hash of the address with a user agent. Rows without the hash (visitors who
// object to tracking, senders that withhold the address, hours without a salt) count by their user
// agent alone, so all who withhold both are one visitor: otherwise a sender could count without
// bound by withholding the address. Rows of bots do not count.
//
// The time is the collector's, so a sender cannot spread its views over minutes. No minute lies in
// two months. Rows are read in the order of the table's key, so that what is in memory at a time is
// the visitors of a minute.
func LandingViews(condition string) string {
	return landingViews("uniqExact(ip_hash, user_agent)", condition)
}

// LandingViewsWithout leaves out of views what another query returns: account_id, generic_link_id,
// minute, ip_hash and user_agent.
func LandingViewsWithout(others, condition string) string {
	return landingViews(
		"uniqExactIf(ip_hash, user_agent, (account_id, generic_link_id, toStartOfMinute(created_at), ip_hash, user_agent) NOT IN ("+others+"))", condition)
}

func landingViews(views, condition string) string {
	return `
SELECT account_id, generic_link_id, toStartOfMinute(created_at) AS minute,
    ` + views + ` AS views, min(created_at) AS since, max(created_at) AS until
FROM lodestone.link_views
WHERE bot = '' AND ` + condition + `
GROUP BY account_id, generic_link_id, minute`
}

// InOrderOfMinutes is the setting under which LandingViews needs little memory.
const InOrderOfMinutes = " SETTINGS optimize_aggregation_in_order = 1"
