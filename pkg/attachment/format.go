// Package attachment answers a request with a file that is sent while it is generated: its format,
// its name, and that a part of it never looks complete.
package attachment

import "lodestone/pkg/jsonschema"

// Format is the format of a file.
type Format string

// The formats.
const (
	CSV     Format = "csv"
	NDJSON  Format = "ndjson"
	Parquet Format = "parquet"
)

// Choice holds the parameters of operations that answer with a file.
type Choice struct {
	Format Format `query:"format" default:"csv" doc:"Format of the file."`
	BOM    bool   `query:"bom" default:"false" doc:"Whether a CSV file begins with a byte order mark. Excel needs it to show letters beyond ASCII correctly."`
}

// EnumValues implements jsonschema.Enum.
func (Format) EnumValues() []string { return jsonschema.Values([]Format{CSV, NDJSON, Parquet}) }

var mediaTypes = map[Format]string{CSV: "text/csv", NDJSON: "application/x-ndjson",
	Parquet: "application/vnd.apache.parquet"}

// ContentType returns the media type of a file.
func (f Format) ContentType() string {
	if f == CSV {
		return mediaTypes[f] + "; charset=utf-8; header=present"
	}
	return mediaTypes[f]
}

// Describe returns the files as answers of an operation.
func Describe() map[string]*jsonschema.Schema {
	text := func(description string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: jsonschema.String, Description: description}
	}
	return map[string]*jsonschema.Schema{
		mediaTypes[CSV]:     text("RFC 4180, with a header line. A null is an empty cell."),
		mediaTypes[NDJSON]:  text("One JSON object per line."),
		mediaTypes[Parquet]: jsonschema.Binary(),
	}
}
