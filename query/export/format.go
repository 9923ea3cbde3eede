package export

import (
	"strings"

	"lodestone/pkg/attachment"
	"lodestone/query/scope"
)

// rowGroup is how many rows of a Parquet file the server holds in memory.
const rowGroup = "65536"

// formatOf returns how ClickHouse writes the columns.
func formatOf(f attachment.Format, columns []column) scope.Format {
	switch f {
	case attachment.CSV:
		return scope.Format{Name: "CSVWithNames", Settings: map[string]string{
			"format_csv_null_representation": "",
			"date_time_output_format":        "iso",
		}}
	case attachment.NDJSON:
		return scope.Format{Name: "Template", Settings: map[string]string{
			"format_template_row_format":                object(columns),
			"format_template_resultset_format":          "${data}",
			"format_template_rows_between_delimiter":    "",
			"date_time_output_format":                   "iso",
			"output_format_json_escape_forward_slashes": "0",
		}}
	default:
		return scope.Format{Name: "Parquet", Settings: map[string]string{
			"output_format_parquet_row_group_size":     rowGroup,
			"output_format_parquet_compression_method": "zstd",
			"output_format_parquet_string_as_string":   "1",
			"output_format_parquet_parallel_encoding":  "0",
			"output_format_parquet_write_bloom_filter": "0",
		}}
	}
}

// object returns the template of a line of JSON. Text that is JSON already becomes a value of its
// own.
func object(columns []column) string {
	var b strings.Builder
	for i, c := range columns {
		if i > 0 {
			b.WriteByte(',')
		}
		rule := "JSON"
		if c.isJSON {
			rule = "Raw"
		}
		b.WriteString(`"` + c.name + `":${` + c.name + `:` + rule + `}`)
	}
	return "{" + b.String() + "}\n"
}
