package attachment

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/parquet-go/parquet-go"
)

// Table writes rows as a file. R is a struct whose fields are the columns: their tags are those of
// parquet-go, and their types UUIDs, texts, lists of texts, numbers, truth values and times. A nil
// pointer is a null. A map of texts is a column for each of its keys in CSV.
type Table[R any] struct {
	rows interface {
		write(row R, object any) error
		end() error
	}
}

// NewTable returns a Table that writes a format to w. The keys are those of its maps.
func NewTable[R any](w io.Writer, f Format, keys ...string) *Table[R] {
	switch f {
	case CSV:
		return &Table[R]{&csvRows[R]{w: csv.NewWriter(w), keys: keys}}
	case NDJSON:
		return &Table[R]{&jsonRows[R]{w}}
	default:
		return &Table[R]{&parquetRows[R]{w: parquet.NewGenericWriter[R](w, parquet.Compression(&parquet.Zstd),
			parquet.CreatedBy("Lodestone", "1", ""))}}
	}
}

// Write adds a row. NDJSON has the object instead, which is the row as the API shows it.
func (t *Table[R]) Write(row R, object any) error { return t.rows.write(row, object) }

// End completes the file. Without it, the file is not whole.
func (t *Table[R]) End() error { return t.rows.end() }

// groupRows is how many rows of a Parquet file are held in memory.
const groupRows = 10_000

type parquetRows[R any] struct {
	w    *parquet.GenericWriter[R]
	held int
}

func (f *parquetRows[R]) write(row R, _ any) error {
	if _, err := f.w.Write([]R{row}); err != nil {
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

func (f *parquetRows[R]) end() error {
	if err := f.w.Close(); err != nil {
		return fmt.Errorf("end Parquet file: %w", err)
	}
	return nil
}

type jsonRows[R any] struct{ w io.Writer }

func (f *jsonRows[R]) write(_ R, object any) error {
	line, err := json.Marshal(object)
	if err == nil {
		_, err = f.w.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write line of JSON: %w", err)
	}
	return nil
}

func (f *jsonRows[R]) end() error { return nil }

type csvRows[R any] struct {
	w     *csv.Writer
	keys  []string // of maps
	begun bool
}

func (f *csvRows[R]) write(row R, _ any) error {
	if err := f.begin(); err != nil {
		return err
	}
	value := reflect.ValueOf(row)
	cells := make([]string, 0, value.NumField()+len(f.keys))
	for _, field := range value.Fields() {
		if texts, ok := reflect.TypeAssert[map[string]string](field); ok {
			for _, key := range f.keys {
				cells = append(cells, Cell(texts[key]))
			}
			continue
		}
		cells = append(cells, cellOf(field))
	}
	return f.w.Write(cells)
}

// begin writes the names, which are those of the columns of Parquet, and behind a point the key.
func (f *csvRows[R]) begin() error {
	if f.begun {
		return nil
	}
	f.begun = true
	var names []string
	for field := range reflect.TypeFor[R]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
		if field.Type.Kind() == reflect.Map {
			for _, key := range f.keys {
				names = append(names, name+"."+key)
			}
			continue
		}
		names = append(names, name)
	}
	return f.w.Write(names)
}

func (f *csvRows[R]) end() error {
	err := f.begin()
	f.w.Flush()
	return errors.Join(err, f.w.Error())
}

// cellOf returns a value as a cell, in the form that the API gives it. A list is its elements with
// spaces between.
func cellOf(value reflect.Value) string {
	if value.Kind() == reflect.Pointer {
		if value.IsNil() {
			return ""
		}
		value = value.Elem()
	}
	switch v := value.Interface().(type) {
	case uuid.UUID:
		return v.String()
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05.000Z")
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []string:
		return Cell(strings.Join(v, " "))
	}
	return Cell(value.String())
}
