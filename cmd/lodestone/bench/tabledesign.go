package bench

import (
	"maps"
	"strings"
)

// tableDesign is one way to store events. In its statements EVENTS stands for the name of its table.
type tableDesign struct {
	name, title string
	// order is the table's keys, partitions and settings; "": those of the product's table, whose parts then are
	// taken over as they are.
	order string
	// bare leaves out the indexes beside the key.
	bare bool
	// ours adds the product's projections.
	ours bool
	// more makes what else the design has, and fill fills it from the table.
	more, fill []string
	questions  map[string][]tableStatement
}

// tableStatement is a statement of a question. Of two, the first returns the days on which the second looks for rows.
type tableStatement struct {
	sql string
	// projection is the one that answers; "": none does; anyProjection: the server chooses, also to count the key.
	projection string
	// atOnce and alone are as in scope.Statement.
	atOnce, alone bool
}

const anyProjection = "any"

// pageRows is what a page takes: 20 events and one more.
const pageRows = 21

// The questions, in the order in which they are printed.
const (
	askNewest   = "newest 20"
	askBusy     = "newest 20 of a busy link"
	askIdle     = "newest 20 of a link idle for months"
	askMagnet   = "newest 20 of a busy lead magnet"
	askRare     = "newest 20 of a rare lead magnet"
	askFew      = "newest 20 downloads by bots of a lead magnet"
	askSpan     = "newest 20 of a type, from and to"
	askCursor   = "20 after a cursor half-way down"
	countAll    = "number of all"
	countLink   = "number of a busy link"
	countMagnet = "number of a busy lead magnet"
	countType   = "number of a type since a time"
	askSessions = "views of an address with 1,000 links"
)

var tableQuestions = []string{
	askNewest, askBusy, askIdle, askMagnet, askRare, askFew, askSpan, askCursor, countAll, countLink, countMagnet, countType, askSessions,
}

// Conditions, beside that on the account.
const (
	isRecent = "created_at >= fromUnixTimestamp64Milli({recent:Int64}, 'UTC')"
	isBusy   = "access_link_id = {busy:UUID}"
	isIdle   = "access_link_id = {idle:UUID}"
	isMagnet = "lead_magnet_id = {magnet:UUID}"
	isRare   = "lead_magnet_id = {rare:UUID}"
	isFew    = isMagnet + " AND event_type = 'download_completed' AND (bot = '') = false"
	isType   = "event_type = 'page_viewed'"
	isSpan   = "created_at >= fromUnixTimestamp64Milli({to_less:Int64}, 'UTC') AND created_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')"
	isSince  = "created_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')"
	isCursor = `created_at >= fromUnixTimestamp64Milli({cursor_less:Int64}, 'UTC') AND created_at <= fromUnixTimestamp64Milli({cursor:Int64}, 'UTC')
  AND (created_at, kafka_topic_id, kafka_partition, kafka_offset)
    < (fromUnixTimestamp64Milli({cursor:Int64}, 'UTC'), {cursor_topic:UUID}, {cursor_partition:Int32}, {cursor_offset:Int64})`
	isOfDays = `created_at >= fromUnixTimestamp64Milli({days_from:Int64}, 'UTC') AND created_at < fromUnixTimestamp64Milli({days_before:Int64}, 'UTC')
  AND toDate(created_at) IN {days:Array(Date)}`
	isOfAddress = "access_link_id IN {links:Array(UUID)} AND event_type = 'page_viewed'"
)

func where(conditions []string) string {
	return "WHERE " + strings.Join(append([]string{"account_id = {account:UUID}"}, conditions...), "\n  AND ") + "\n"
}

// page is a page of a list in the words of query/eventlist.
func page(conditions ...string) tableStatement {
	return tableStatement{sql: "SELECT event_id, access_link_id, event_type, event_data, ip_hash, user_agent, created_at, kafka_topic_id, kafka_partition, kafka_offset\nFROM EVENTS\n" +
		where(conditions) + "ORDER BY created_at DESC, kafka_topic_id DESC, kafka_partition DESC, kafka_offset DESC\nLIMIT 21"}
}

// pageBy is a page that a projection answers.
func pageBy(projection string, conditions ...string) tableStatement {
	s := page(conditions...)
	s.projection = projection
	return s
}

// countOf counts rows; by the projection, if that has them.
func countOf(projection string, conditions ...string) tableStatement {
	return tableStatement{sql: "SELECT toInt64(count())\nFROM EVENTS\n" + where(conditions), projection: projection, atOnce: true}
}

// newestDays are those that can have the newest 20 rows, as each has one.
func newestDays(projection string, conditions ...string) tableStatement {
	return tableStatement{
		sql:        "SELECT toDate(created_at) AS day, toInt64(count()) AS n\nFROM EVENTS\n" + where(conditions) + "GROUP BY day\nORDER BY day DESC\nLIMIT 21",
		projection: projection, atOnce: true,
	}
}

func byDays(first tableStatement, conditions ...string) []tableStatement {
	return []tableStatement{first, page(append(conditions, isOfDays)...)}
}

const sessionOfEvent = "if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id)"

func views(projection string) tableStatement {
	return tableStatement{
		sql: `SELECT count(), uniqExact(lead_magnet_id), min(first_page), max(last_page) FROM
(
	SELECT access_link_id, lead_magnet_id, ` + sessionOfEvent + ` AS session, min(created_at) AS first_page, max(created_at) AS last_page
	FROM EVENTS
	` + where([]string{isOfAddress, "bot = ''"}) + `	GROUP BY access_link_id, lead_magnet_id, session
)`,
		projection: projection, atOnce: projection != "", alone: projection != "",
	}
}

// byTime are the questions to a table in the order of account and time that has nothing else: each is one statement,
// and what is not of the last two days is looked for in everything.
func byTime() map[string][]tableStatement {
	return map[string][]tableStatement{
		askNewest:   {page(isRecent)},
		askBusy:     {page(isBusy)},
		askIdle:     {page(isIdle)},
		askMagnet:   {page(isRecent, isMagnet)},
		askRare:     {page(isRare)},
		askFew:      {page(isFew)},
		askSpan:     {page(isType, isSpan)},
		askCursor:   {page(isCursor)},
		countAll:    {countOf(anyProjection)},
		countLink:   {countOf("", isBusy)},
		countMagnet: {countOf("", isMagnet)},
		countType:   {countOf("", isType, isSince)},
		askSessions: {views("")},
	}
}

// changed returns the questions with some put otherwise.
func changed(questions, otherwise map[string][]tableStatement) map[string][]tableStatement {
	maps.Copy(questions, otherwise)
	return questions
}

// askOurs are the questions as query/eventlist asks them, but for what that remembers of months that are over, and for times in the place of days.
func askOurs() map[string][]tableStatement {
	return changed(byTime(), map[string][]tableStatement{
		askBusy:     byDays(newestDays("by_link", isBusy), isBusy),
		askIdle:     byDays(newestDays("by_link", isIdle), isIdle),
		askRare:     byDays(newestDays("by_day", isRare), isRare),
		askFew:      byDays(newestDays("by_day", isFew), isFew),
		countAll:    {countOf("by_day")},
		countLink:   {countOf("by_link", isBusy)},
		countMagnet: {countByDay("by_day", isMagnet)},
		countType: {{projection: "by_day", atOnce: true, sql: "SELECT sum(n) FROM\n(\n" +
			countByDay("", isType, "toDate(created_at) >= {first_day:Date}").sql + "\nUNION ALL\n" +
			countByDay("", isType, isSince, "created_at < fromUnixTimestamp64Milli({first:Int64}, 'UTC')").sql + "\n)"}},
		askSessions: {views("sessions")},
	})
}

func countByDay(projection string, conditions ...string) tableStatement {
	return tableStatement{
		sql:        "SELECT sum(n) AS n FROM (SELECT toDate(created_at) AS day, toInt64(count()) AS n\nFROM EVENTS\n" + where(conditions) + "GROUP BY day)",
		projection: projection, atOnce: true,
	}
}

const (
	ofMonths   = "PARTITION BY toYYYYMM(created_at)\n"
	asProduct  = "non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1"
	placeOrder = "kafka_topic_id, kafka_partition, kafka_offset"
)

// tableDesigns are the designs that are compared. The first is the product's.
func tableDesigns() []tableDesign {
	return []tableDesign{
		{name: "ours", title: "the product's: account, time; Bloom filters; four projections; a partition a month", ours: true, questions: askOurs()},
		{
			name: "plain", title: "account, time; nothing else; granules of 8,192; a partition a month", bare: true,
			order:     ofMonths + "PRIMARY KEY (account_id, created_at) ORDER BY (account_id, created_at, " + placeOrder + ") SETTINGS index_granularity = 8192, " + asProduct,
			questions: byTime(),
		},
		{
			name: "linkwise", title: "account, link, time; granules of 1,024; a partition a month", bare: true,
			order:     ofMonths + "PRIMARY KEY (account_id, access_link_id, created_at) ORDER BY (account_id, access_link_id, created_at, " + placeOrder + ") SETTINGS index_granularity = 1024, " + asProduct,
			questions: byTime(),
		},
		{name: "narrow", title: "the product's without projections; three narrow tables by materialised views", more: narrowTables, fill: narrowFill, questions: askNarrow()},
		{
			name: "copies", title: "the product's with two whole copies of each row as projections, by link and by lead magnet",
			more: []string{
				"ALTER TABLE EVENTS ADD PROJECTION copy_link (SELECT * ORDER BY account_id, access_link_id, created_at)",
				"ALTER TABLE EVENTS ADD PROJECTION copy_magnet (SELECT * ORDER BY account_id, lead_magnet_id, created_at)",
			},
			questions: changed(byTime(), map[string][]tableStatement{
				askBusy: {pageBy("copy_link", isBusy)}, askIdle: {pageBy("copy_link", isIdle)},
				askRare: {pageBy("copy_magnet", isRare)}, askFew: {pageBy("copy_magnet", isFew)},
				countLink: {countOf("copy_link", isBusy)}, countMagnet: {countOf("copy_magnet", isMagnet)},
				askSessions: {views("copy_link")},
			}),
		},
		{
			name: "whole", title: "the product's without partitions", ours: true,
			order:     "PARTITION BY tuple() PRIMARY KEY (account_id, created_at) ORDER BY (account_id, created_at, " + placeOrder + ") SETTINGS index_granularity = 1024, " + asProduct,
			questions: askOurs(),
		},
	}
}

// What the narrow tables hold, one for each way to ask. They are not written together with the events: a consumer that
// is killed in between leaves them behind, which nothing then notices.
var (
	narrowTables = []string{
		`CREATE TABLE EVENTS_link (account_id UUID, access_link_id UUID, created_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
			stored_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)), lead_magnet_id UUID,
			event_type Enum8('page_viewed' = 1, 'download_started' = 2, 'download_completed' = 3), bot LowCardinality(String))
			ENGINE = MergeTree PARTITION BY toYYYYMM(created_at) ORDER BY (account_id, access_link_id, created_at) SETTINGS index_granularity = 1024, ` + asProduct,
		`CREATE TABLE EVENTS_day (account_id UUID, lead_magnet_id UUID, event_type Enum8('page_viewed' = 1, 'download_started' = 2, 'download_completed' = 3),
			human UInt8, day Date, events UInt64)
			ENGINE = SummingMergeTree PARTITION BY toYYYYMM(day) ORDER BY (account_id, lead_magnet_id, event_type, human, day) SETTINGS index_granularity = 1024, ` + asProduct,
		`CREATE TABLE EVENTS_session (account_id UUID, access_link_id UUID, lead_magnet_id UUID, session UUID,
			event_type Enum8('page_viewed' = 1, 'download_started' = 2, 'download_completed' = 3), human UInt8,
			month UInt32, first SimpleAggregateFunction(min, DateTime64(3, 'UTC')), last SimpleAggregateFunction(max, DateTime64(3, 'UTC')), events SimpleAggregateFunction(sum, UInt64))
			ENGINE = AggregatingMergeTree PARTITION BY month ORDER BY (account_id, access_link_id, lead_magnet_id, session, event_type, human) SETTINGS index_granularity = 1024, ` + asProduct,
		"CREATE MATERIALIZED VIEW EVENTS_to_link TO EVENTS_link AS " + narrowLink,
		"CREATE MATERIALIZED VIEW EVENTS_to_day TO EVENTS_day AS " + narrowDay,
		"CREATE MATERIALIZED VIEW EVENTS_to_session TO EVENTS_session AS " + narrowSession,
	}
	narrowFill = []string{
		"INSERT INTO EVENTS_link " + narrowLink, "INSERT INTO EVENTS_day " + narrowDay, "INSERT INTO EVENTS_session " + narrowSession,
	}
)

const (
	narrowLink = "SELECT account_id, access_link_id, created_at, stored_at, lead_magnet_id, event_type, bot FROM EVENTS"
	narrowDay  = `SELECT account_id, lead_magnet_id, event_type, bot = '' AS human, toDate(created_at) AS day, count() AS events FROM EVENTS
		GROUP BY account_id, lead_magnet_id, event_type, human, day`
	narrowSession = "SELECT account_id, access_link_id, lead_magnet_id, " + sessionOfEvent + ` AS session, event_type, bot = '' AS human,
		toYYYYMM(created_at) AS month, min(created_at) AS first, max(created_at) AS last, count() AS events FROM EVENTS
		GROUP BY account_id, access_link_id, lead_magnet_id, session, event_type, human, month`
)

func askNarrow() map[string][]tableStatement {
	days := func(condition string) tableStatement {
		return tableStatement{atOnce: true, sql: "SELECT day, toInt64(sum(events)) AS n FROM EVENTS_day\n" + where([]string{condition}) + "GROUP BY day\nORDER BY day DESC\nLIMIT 21"}
	}
	newest := func(link string) tableStatement {
		return page(link, "created_at IN (SELECT created_at FROM EVENTS_link "+where([]string{link})+" ORDER BY created_at DESC LIMIT 21)")
	}
	events := func(conditions ...string) string {
		return "SELECT toInt64(sum(events)) AS n FROM EVENTS_day\n" + where(conditions)
	}
	few := strings.Replace(isFew, "(bot = '') = false", "human = 0", 1)
	return changed(byTime(), map[string][]tableStatement{
		askBusy:     {newest(isBusy)},
		askIdle:     {newest(isIdle)},
		askRare:     byDays(days(isRare), isRare),
		askFew:      byDays(days(few), isFew),
		countLink:   {{sql: "SELECT toInt64(count()) FROM EVENTS_link\n" + where([]string{isBusy}), projection: anyProjection, atOnce: true}},
		countMagnet: {{sql: events(isMagnet), atOnce: true}},
		countType: {{atOnce: true, sql: "SELECT sum(n) FROM\n(\n" + events(isType, "day >= {first_day:Date}") + "\nUNION ALL\n" +
			countOf("", isType, isSince, "created_at < fromUnixTimestamp64Milli({first:Int64}, 'UTC')").sql + "\n)"}},
		askSessions: {{atOnce: true, sql: `SELECT count(), uniqExact(lead_magnet_id), min(first_page), max(last_page) FROM
(
	SELECT access_link_id, lead_magnet_id, session, min(first) AS first_page, max(last) AS last_page FROM EVENTS_session
	` + where([]string{isOfAddress, "human = 1"}) + `	GROUP BY access_link_id, lead_magnet_id, session
)`}},
	})
}
