package jsonschema

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// number is the text of a JSON number. JSON has no integers: 5, 5.0 and 50e-1 are the same value,
// and JSON Schema says so as well, so a field for whole numbers takes them all.
type number string

// keepNumbers leaves numbers of a body that is decoded into an any as they were sent: as a float64,
// a large one would lose digits, and one that is too large would be no JSON at all.
var keepNumbers = json.WithUnmarshalers(json.UnmarshalFromFunc(func(from *jsontext.Decoder, to *any) error {
	if from.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	text, err := from.ReadValue()
	if err != nil {
		return err
	}
	*to = number(text)
	return nil
}))

// integers reads whole numbers in any form that JSON has for them.
var integers = json.WithUnmarshalers(json.JoinUnmarshalers(readInteger[int](strconv.IntSize),
	readInteger[int32](32), readInteger[int64](64)))

func readInteger[T int | int32 | int64](bits int) *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(from *jsontext.Decoder, to *T) error {
		if from.PeekKind() != '0' {
			return errors.ErrUnsupported
		}
		text, err := from.ReadValue()
		if err != nil {
			return err
		}
		n, err := number(text).integer()
		if err != nil {
			return err
		}
		if int64(T(n)) != n {
			return fmt.Errorf("%w of %d bits", errTooLarge, bits)
		}
		*to = T(n)
		return nil
	})
}

var (
	errNotInteger = errors.New("is not a whole number")
	errTooLarge   = errors.New("is not an integer")
)

// float returns the value, rounded, and infinite if it is too large.
func (n number) float() float64 {
	f, _ := strconv.ParseFloat(string(n), 64) // its only error is the range
	return f
}

// integer returns the value if it is a whole number that fits an int64. It is exact, and takes no
// more time for 1e999999999 than for 1.
func (n number) integer() (int64, error) {
	text, negative := strings.CutPrefix(string(n), "-")
	mantissa, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
	}
	before, after, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(before+after, "0")
	if digits == "" {
		return 0, nil
	}
	trimmed := strings.TrimRight(digits, "0")
	shift := int64(len(digits)-len(trimmed)) - int64(len(after))
	if exponent != "" {
		e, err := strconv.ParseInt(exponent, 10, 64)
		if err != nil || e > 1<<40 || e < -1<<40 {
			// The exponent is so far out that the few digits of a body do not matter.
			if strings.HasPrefix(exponent, "-") {
				return 0, errNotInteger
			}
			return 0, errTooLarge
		}
		shift += e
	}
	switch {
	case shift < 0:
		return 0, errNotInteger
	case int64(len(trimmed))+shift > 19:
		return 0, errTooLarge
	}
	text = trimmed + strings.Repeat("0", int(shift))
	if negative {
		text = "-" + text
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, errTooLarge
	}
	return value, nil
}
