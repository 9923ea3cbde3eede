package query

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/api"
	"lodestone/pkg/attachment"
	"lodestone/pkg/auth"
	"lodestone/pkg/limit"
	"lodestone/pkg/problem"
	"lodestone/query/export"
	"lodestone/query/reader"
)

func (q *Query) registerExports(a *api.API) {
	api.RegisterRaw(a, api.Operation{
		ID: "export-analytics-events", Method: http.MethodGet, Path: "/api/v1/analytics/export", Scope: auth.Read, Tag: tag,
		Summary: "Export analytics events",
		Description: "Every event that matches all given filters, as a file, from one snapshot. The events are in the order of storage. Events of bots are " +
			"included unless bot=false; bot is the name of the rule that recognised one. If an error occurs after the file has begun, the connection is closed early, so that an incomplete file does not look " +
			"complete. In CSV, a text that begins with =, +, -, @, a tab or a carriage return gets a leading apostrophe, so that " +
			"spreadsheets do not read it as a formula.",
		Answers: attachment.Describe(), Audited: true,
		Timeout: q.config.ExportTimeout, Errors: []problem.Code{problem.RateLimited},
	}, q.exportEvents)
	api.RegisterRaw(a, api.Operation{
		ID: "export-readers", Method: http.MethodGet, Path: "/api/v1/analytics/readers/export", Scope: auth.Leads, Tag: tag,
		Summary: "Export the people who read",
		Description: "Every person of the list of readers with these filters, in the same order, as a file. Numbers are from one snapshot, and " +
			"addresses from another. A source is the person's source at the time it is read.",
		Answers: attachment.Describe(), Audited: true,
		Timeout: q.config.ExportTimeout, Errors: []problem.Code{problem.RateLimited, problem.ValidationError},
	}, q.exportReaders)
}

type exportEventsInput struct {
	attachment.Choice
	Visitor bool `query:"visitor" default:"false" doc:"Whether to add the columns browser, os, country and language."`
	EventFilter
}

func (q *Query) exportEvents(w http.ResponseWriter, r *http.Request, in *exportEventsInput) error {
	filter, err := in.filter()
	if err != nil {
		return err
	}
	out, err := attachment.Create(w, r, "events", in.Choice)
	if err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		_, err := out.Write(nil)
		return err
	}
	file, err := q.exports.Events(r.Context(), auth.From(r.Context()).AccountID,
		q.inCopy(r.Context(), filter), in.Format, in.Visitor)
	if err != nil {
		return exportProblem(err)
	}
	if err := auth.RecordRead(r.Context(), q.postgres); err != nil {
		return errors.Join(err, file.Close())
	}
	_, err = file.WriteTo(out)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("export events: %w", err)
	}
	return nil
}

// exportProblem returns the problem of an export that did not begin.
func exportProblem(err error) error {
	switch {
	case errors.Is(err, export.ErrNoAddress):
		return problem.New(problem.Unavailable,
			"This installation has no exports: its operator can set --clickhouse-http-url.").RetryAfter(time.Hour)
	case errors.Is(err, limit.ErrOwner), errors.Is(err, limit.ErrFull):
		return attachment.Refuse(err)
	}
	return fmt.Errorf("export events: %w", err)
}

type exportReadersInput struct {
	attachment.Choice
	ReaderFilter
}

// exportBuffer is how much of a file of people is written at once.
const exportBuffer = 64 << 10

func (q *Query) exportReaders(w http.ResponseWriter, r *http.Request, in *exportReadersInput) error {
	filter, err := in.filter()
	if err != nil {
		return err
	}
	account := auth.From(r.Context()).AccountID
	release, err := q.exports.Take(account)
	if err != nil {
		return exportProblem(err)
	}
	defer release()
	out, err := attachment.Create(w, r, "readers", in.Choice)
	if err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		_, err := out.Write(nil)
		return err
	}
	if err := auth.RecordRead(r.Context(), q.postgres); err != nil {
		return err
	}
	buffer := bufio.NewWriterSize(out, exportBuffer)
	file := attachment.NewTable[readerRow](buffer, in.Format)
	_, err = reader.New(q.postgres, q.files).All(r.Context(), account, filter, func(people []reader.Person) error {
		for i := range people {
			shown := presentPerson(&people[i])
			if err := file.Write(rowOf(&shown), &shown); err != nil {
				return err
			}
		}
		return nil
	})
	if many, ok := errors.AsType[reader.TooManyError](err); ok {
		return problem.Parameter(problem.Field{Field: many.Parameter, Message: many.Error()})
	}
	if err == nil {
		err = errors.Join(file.End(), buffer.Flush())
	} else {
		err = outOfMemory(err, fewerReaders)
	}
	if err == nil {
		_, err = out.Write(nil) // an empty file is one as well
	}
	if err != nil {
		return fmt.Errorf("export readers: %w", err)
	}
	return nil
}

// readerRow is a row of a file of people whose columns are fixed.
type readerRow struct {
	PersonID     uuid.UUID  `parquet:"person_id,uuid"`
	Email        *string    `parquet:"email,optional"`
	AccessLinks  []string   `parquet:"access_links,list"`
	UTMSource    *string    `parquet:"utm_source,optional"`
	UTMMedium    *string    `parquet:"utm_medium,optional"`
	UTMCampaign  *string    `parquet:"utm_campaign,optional"`
	UTMContent   *string    `parquet:"utm_content,optional"`
	UTMTerm      *string    `parquet:"utm_term,optional"`
	ReferrerHost *string    `parquet:"referrer_host,optional"`
	Magnets      []string   `parquet:"magnets,list"`
	Sessions     int64      `parquet:"sessions"`
	Pages        int64      `parquet:"pages"`
	PageViews    int64      `parquet:"page_views"`
	ReadingMS    int64      `parquet:"reading_ms"`
	Finished     bool       `parquet:"finished"`
	Downloads    int64      `parquet:"downloads"`
	FirstSeenAt  *time.Time `parquet:"first_seen_at,optional,timestamp(millisecond)"`
	LastSeenAt   *time.Time `parquet:"last_seen_at,optional,timestamp(millisecond)"`
	Score        int64      `parquet:"score"`
	Name         *string    `parquet:"name,optional"`
	Status       *string    `parquet:"status,optional"`
}

func rowOf(p *Reader) readerRow {
	return readerRow{
		PersonID: p.PersonID, Email: p.Email, AccessLinks: texts(p.AccessLinks),
		UTMSource: p.Source.UTMSource, UTMMedium: p.Source.UTMMedium, UTMCampaign: p.Source.UTMCampaign,
		UTMContent: p.Source.UTMContent,
		UTMTerm:    p.Source.UTMTerm, ReferrerHost: p.Source.ReferrerHost,
		Magnets: texts(p.Magnets), Sessions: p.Sessions, Pages: p.Pages, PageViews: p.PageViews,
		ReadingMS: p.ReadingMS, Finished: p.Finished,
		Downloads: p.Downloads, FirstSeenAt: api.PlainTime(p.FirstSeenAt),
		LastSeenAt: api.PlainTime(p.LastSeenAt), Score: p.Score, Name: p.Name, Status: p.Status,
	}
}

func texts(ids []uuid.UUID) []string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = id.String()
	}
	return list
}
