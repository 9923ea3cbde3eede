package submission

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/parquet-go/parquet-go"

	"lodestone/pkg/api"
	"lodestone/pkg/attachment"
)

// file writes submissions in a format. Its errors are those of the writer below.
type file interface {
	write(s *Submission) error
	end() error
}

func newFile(w io.Writer, f attachment.Format) file {
	switch f {
	case attachment.CSV:
		return &csvFile{w: csv.NewWriter(w)}
	case attachment.NDJSON:
		return &jsonFile{w}
	default:
		return &parquetFile{w: parquet.NewGenericWriter[record](w, parquet.Compression(&parquet.Zstd), parquet.CreatedBy("Lodestone", "1", ""))}
	}
}

// record is a row of a file whose columns are fixed. A null is nil.
type record struct {
	ID            uuid.UUID  `parquet:"id,uuid"`
	GenericLinkID uuid.UUID  `parquet:"generic_link_id,uuid"`
	Email         string     `parquet:"email"`
	Name          *string    `parquet:"name,optional"`
	State         string     `parquet:"state"`
	Verified      bool       `parquet:"verified"`
	Viewed        bool       `parquet:"viewed"`
	ViewCount     int64      `parquet:"view_count"`
	SubmittedAt   time.Time  `parquet:"submitted_at,timestamp(millisecond)"`
	FirstViewedAt *time.Time `parquet:"first_viewed_at,optional,timestamp(millisecond)"`
	LastViewedAt  *time.Time `parquet:"last_viewed_at,optional,timestamp(millisecond)"`
	UTMSource     *string    `parquet:"utm_source,optional"`
	UTMMedium     *string    `parquet:"utm_medium,optional"`
	UTMCampaign   *string    `parquet:"utm_campaign,optional"`
	UTMTerm       *string    `parquet:"utm_term,optional"`
	UTMContent    *string    `parquet:"utm_content,optional"`
	UTMID         *string    `parquet:"utm_id,optional"`
	ConsentedAt   *time.Time `parquet:"consented_at,optional,timestamp(millisecond)"`
}

func recordOf(s *Submission) record {
	r := record{
		ID: s.ID, GenericLinkID: s.GenericLinkID, Email: s.Email, Name: s.Name.text, State: string(s.State), Verified: s.Verified, Viewed: s.Viewed,
		ViewCount: s.ViewCount, SubmittedAt: s.SubmittedAt.UTC(), FirstViewedAt: plain(s.FirstViewedAt), LastViewedAt: plain(s.LastViewedAt), ConsentedAt: plain(s.ConsentedAt),
	}
	if !s.Name.collected {
		r.Name = nil
	}
	if s.UTM != nil {
		for name, field := range map[string]**string{
			"utm_source": &r.UTMSource, "utm_medium": &r.UTMMedium, "utm_campaign": &r.UTMCampaign, "utm_term": &r.UTMTerm, "utm_content": &r.UTMContent, "utm_id": &r.UTMID,
		} {
			if value, ok := (*s.UTM)[name]; ok {
				*field = &value
			}
		}
	}
	return r
}

func plain(t *api.Time) *time.Time {
	if t == nil {
		return nil
	}
	utc := t.UTC()
	return &utc
}

// groupRows is how many rows of a Parquet file are held in memory.
const groupRows = 10_000

type parquetFile struct {
	w    *parquet.GenericWriter[record]
	held int
}

func (f *parquetFile) write(s *Submission) error {
	if _, err := f.w.Write([]record{recordOf(s)}); err != nil {
		return fmt.Errorf("write row of Parquet: %w", err)
	}
	if f.held++; f.held < groupRows {
		return nil
	}
	f.held = 0
	if err := f.w.Flush(); err != nil {
		return fmt.Errorf("write rows of Parquet: %w", err)
	}
	return nil
}

func (f *parquetFile) end() error {
	if err := f.w.Close(); err != nil {
		return fmt.Errorf("end Parquet file: %w", err)
	}
	return nil
}

type jsonFile struct{ w io.Writer }

func (f *jsonFile) write(s *Submission) error {
	line, err := json.Marshal(s)
	if err == nil {
		_, err = f.w.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write line of JSON: %w", err)
	}
	return nil
}

func (f *jsonFile) end() error { return nil }

type csvFile struct {
	w     *csv.Writer
	begun bool
}

func (f *csvFile) write(s *Submission) error {
	r := recordOf(s)
	return errors.Join(f.begin(), f.w.Write([]string{
		r.ID.String(), r.GenericLinkID.String(), attachment.Cell(r.Email), cell(r.Name), r.State, strconv.FormatBool(r.Verified), strconv.FormatBool(r.Viewed),
		strconv.FormatInt(r.ViewCount, 10), timeCell(&r.SubmittedAt), timeCell(r.FirstViewedAt), timeCell(r.LastViewedAt),
		cell(r.UTMSource), cell(r.UTMMedium), cell(r.UTMCampaign), cell(r.UTMTerm), cell(r.UTMContent), cell(r.UTMID), timeCell(r.ConsentedAt),
	}))
}

// begin writes the names, which are those of the columns of Parquet.
func (f *csvFile) begin() error {
	if f.begun {
		return nil
	}
	f.begun = true
	var names []string
	for _, field := range parquet.SchemaOf(record{}).Fields() {
		names = append(names, field.Name())
	}
	return f.w.Write(names) //nolint:wrapcheck // a writer's error is passed on as it is
}

func (f *csvFile) end() error {
	err := f.begin()
	f.w.Flush()
	return errors.Join(err, f.w.Error())
}

// cell returns a text that may be null as a cell.
func cell(text *string) string {
	if text == nil {
		return ""
	}
	return attachment.Cell(*text)
}

// timeCell returns a time that may be null as a cell, in the form of the API.
func timeCell(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
