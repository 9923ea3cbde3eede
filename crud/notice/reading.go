package notice

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"lodestone/crud/mail"
	"lodestone/pkg/locale"
	"lodestone/pkg/store"
	"lodestone/pkg/timezone"
)

// returnAfter is how long a reader must have been away to come back.
const returnAfter = 24 * time.Hour

// readings is the job of sending an account's notices of readers that are to be sent at once. It
// may run twice, and at the same time.
type readings struct {
	AccountID uuid.UUID `json:"account_id"`
}

// Kind implements river.JobArgs.
func (readings) Kind() string { return "reading-notices" }

// readingHistory is the earlier reading through an access link.
type readingHistory struct {
	lastActive           time.Time // zero: nothing
	finished, downloaded bool
}

// newsOf returns the news of a session that follows a past, the most important first, and the past
// including it.
func newsOf(before readingHistory, s store.EndedReadingsRow) (news []string, after readingHistory) {
	if s.Finished && !before.finished {
		news = append(news, string(mail.Finished))
	}
	if s.Downloaded && !before.downloaded {
		news = append(news, string(mail.Downloaded))
	}
	switch {
	case before.lastActive.IsZero():
		news = append(news, string(mail.Opened))
	case !s.StartedAt.Before(before.lastActive.Add(returnAfter)):
		news = append(news, string(mail.Returned))
	}
	after = readingHistory{before.lastActive, before.finished || s.Finished, before.downloaded || s.Downloaded}
	if s.LastActiveAt.After(after.lastActive) {
		after.lastActive = s.LastActiveAt
	}
	return news, after
}

// SessionsEnded records what is new about sessions, in the transaction that ends them, and has
// notices sent once that commits. Sessions must end in one transaction at a time.
func (n *Notices) SessionsEnded(ctx context.Context, tx pgx.Tx, ids []uuid.UUID) error {
	q := store.New(tx)
	ended, err := q.EndedReadings(ctx, ids)
	if err != nil {
		return fmt.Errorf("read sessions that ended: %w", err)
	}
	if len(ended) == 0 {
		return nil
	}
	asked := store.ReadBeforeParams{Without: ids}
	for _, s := range ended {
		asked.Accounts, asked.Links = append(asked.Accounts, s.AccountID), append(asked.Links, s.AccessLinkID)
	}
	rows, err := q.ReadBefore(ctx, asked)
	if err != nil {
		return fmt.Errorf("read what was read before: %w", err)
	}
	pasts := map[uuid.UUID]readingHistory{}
	for _, r := range rows {
		pasts[r.AccessLinkID] = readingHistory{r.LastActiveAt, r.Finished, r.Downloaded}
	}
	atOnce := map[uuid.UUID]bool{}
	for _, s := range ended {
		news, after := newsOf(pasts[s.AccessLinkID], s)
		pasts[s.AccessLinkID] = after
		if len(news) == 0 {
			continue
		}
		err := q.RecordReading(ctx, store.RecordReadingParams{
			SessionID: s.ID, AccountID: s.AccountID, AccessLinkID: s.AccessLinkID, News: news,
			Send: s.Send, RecordedAt: n.deps.Now(),
		})
		if err != nil {
			return fmt.Errorf("record what is new about a session: %w", err)
		}
		if s.Send == Each {
			atOnce[s.AccountID] = true
		}
	}
	for account := range atOnce {
		if err := n.deps.Queue.Insert(ctx, tx, readings{account}, nil); err != nil {
			return err
		}
	}
	return nil
}

// SendReadings sends the notices of an account's readers that wait to be sent at once. What is too
// much for the hour waits for the daily mail.
func (n *Notices) SendReadings(ctx context.Context, account uuid.UUID) error {
	err := n.deps.Postgres.Account(ctx, account, func(tx pgx.Tx) error {
		q := store.New(tx)
		a, rows, err := waiting(ctx, q, store.WaitingReadingsParams{AccountID: account, Send: Each, Before: never})
		if err != nil {
			return err
		}
		var settled, postponed []uuid.UUID
		for _, r := range rows {
			if r.Wanted == None {
				settled = append(settled, r.SessionID)
				continue
			}
			sent, err := q.CountNotice(ctx, n.deps.Now())
			if err != nil {
				return fmt.Errorf("count notice: %w", err)
			}
			if sent > HourlyNotices {
				postponed = append(postponed, r.SessionID)
				continue
			}
			settled = append(settled, r.SessionID)
			err = n.send(ctx, tx, mail.Message{
				Kind: mail.KindReading, AccountID: account, URL: n.deps.Pages.URL("/dashboard/readers/" + r.AccessLinkID.String()),
				Timezone: a.Timezone, Language: locale.Or(a.Language, ""),
				Readings: &mail.Readings{List: []mail.Reading{readingOf(r)}, Last: sent == HourlyNotices},
			}, addressOf(a))
			if err != nil {
				return err
			}
		}
		if err := q.SettleReadings(ctx, settled); err != nil {
			return fmt.Errorf("mark notices as sent: %w", err)
		}
		return q.PostponeReadings(ctx, postponed)
	})
	if err != nil {
		return fmt.Errorf("send notices of readers of account %s: %w", account, err)
	}
	return nil
}

// waiting takes an account, and returns it with the notices of it that wait.
func waiting(ctx context.Context, q *store.Queries, p store.WaitingReadingsParams) (a store.TakeNoticesRow,
	rows []store.WaitingReadingsRow, err error) {
	if a, err = q.TakeNotices(ctx); err != nil {
		return a, nil, fmt.Errorf("take account: %w", err)
	}
	if rows, err = q.WaitingReadings(ctx, p); err != nil {
		return a, nil, fmt.Errorf("read waiting notices: %w", err)
	}
	return a, rows, nil
}

// sendDailyReadings sends what readers did until a time, with one line for each access link.
func (n *Notices) sendDailyReadings(ctx context.Context, tx pgx.Tx, account uuid.UUID, before time.Time) error {
	q := store.New(tx)
	a, rows, err := waiting(ctx, q, store.WaitingReadingsParams{AccountID: account, Send: Daily, Before: before})
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return nil // another process was faster
	}
	var list []mail.Reading
	var first, last time.Time
	ids := make([]uuid.UUID, len(rows))
	place := map[uuid.UUID]int{}
	for i, r := range rows {
		ids[i] = r.SessionID
		if r.Wanted == None {
			continue
		}
		if first.IsZero() {
			first = r.StartedAt
		}
		last = r.StartedAt
		at, ok := place[r.AccessLinkID]
		if !ok {
			place[r.AccessLinkID] = len(list)
			list = append(list, readingOf(r))
			continue
		}
		list[at] = together(list[at], readingOf(r))
	}
	if err := q.SettleReadings(ctx, ids); err != nil {
		return fmt.Errorf("mark notices as sent: %w", err)
	}
	if len(list) == 0 {
		return nil
	}
	zone, texts := timezone.OrUTC(a.Timezone), n.texts.In(locale.Or(a.Language, ""))
	return n.send(ctx, tx, mail.Message{
		Kind: mail.KindReadings, AccountID: account, URL: n.deps.Pages.URL("/dashboard/readers"), Timezone: a.Timezone,
		Language: locale.Or(a.Language, ""),
		Readings: &mail.Readings{Day: texts.Days(first.In(zone), last.In(zone)), Total: len(list),
			List: list[:min(len(list), maxListed)]},
	}, addressOf(a))
}

// together returns two visits of a reader as one line.
func together(a, b mail.Reading) mail.Reading {
	all := map[mail.News]bool{}
	for _, kind := range append(a.News, b.News...) {
		all[kind] = true
	}
	a.News = nil
	for _, kind := range []mail.News{mail.Finished, mail.Downloaded, mail.Returned, mail.Opened} {
		if all[kind] {
			a.News = append(a.News, kind)
		}
	}
	a.Pages, a.PageCount, a.Duration = max(a.Pages, b.Pages), max(a.PageCount, b.PageCount), a.Duration+b.Duration
	return a
}

func readingOf(r store.WaitingReadingsRow) mail.Reading {
	out := mail.Reading{
		Email: r.Email, Title: r.Title, Pages: int(r.Pages), PageCount: int(r.PageCount),
		Duration: time.Duration(r.DurationMs) * time.Millisecond, StartedAt: r.StartedAt,
	}
	for _, kind := range r.News {
		out.News = append(out.News, mail.News(kind))
	}
	return out
}

// addressOf returns where an account's mails go; nil if nowhere.
func addressOf(a store.TakeNoticesRow) *string { return confirmed(a.NotifyEmail, a.NotifyConfirmedAt) }

func confirmed(address *string, at *time.Time) *string {
	if at == nil {
		return nil
	}
	return address
}

// sendReadings does the job.
func (n *Notices) sendReadings(ctx context.Context, j *river.Job[readings]) error {
	return n.SendReadings(ctx, j.Args.AccountID)
}
