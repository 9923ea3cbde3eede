package collector

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"lodestone/ingest/producer"
	"lodestone/pkg/event"
)

// batch is the work space of one request. It is reused.
type batch struct {
	raw      []byte // the body as it came, if it came bit by bit
	unpacked []byte // the body, if it was compressed
	source   bytes.Buffer
	decoder  *jsontext.Decoder
	arrived  time.Time // when the request was complete
	element  element
	event    event.Event
	view     event.LinkView
	last     verified
	ends     []int // where each record's key and value end in the arena
	records  []producer.Record
	rejected []rejection
	bots     int
	unhashed int
	hashes   hashes
}

func (b *batch) reset() {
	raw, unpacked := b.raw[:0], b.unpacked[:0]
	if cap(raw) > firstBytes { // what waits for its next use is bounded as well
		raw = nil
	}
	if cap(unpacked) > 4*firstBytes {
		unpacked = nil
	}
	clear(b.records)
	clear(b.rejected)
	*b = batch{
		raw: raw, unpacked: unpacked, decoder: b.decoder,
		ends: b.ends[:0], records: b.records[:0], rejected: b.rejected[:0],
	}
}

var errTooMany = errors.New("too many elements")

// read turns a body into records and rejections, or returns the refusal of the whole. The records
// are in fresh memory, since the sink keeps them.
func (b *batch) read(c *Collector, d *door, body []byte, s *sender, h *visitor) (refusal, bool) {
	if !utf8.Valid(body) {
		return refusal{fasthttp.StatusBadRequest, codeInvalidJSON, "The body is not valid JSON: it is not UTF-8."}, true
	}
	b.open(body)
	arena := make([]byte, 0, len(body)+512)
	arena, count, err := b.elements(c, d, arena, s, h)
	if err == nil {
		err = b.tail()
	}
	switch {
	case errors.Is(err, errTooMany):
		return refusal{fasthttp.StatusRequestEntityTooLarge, codeTooLarge,
			fmt.Sprintf("The request has more than %d %ss.", MaxElements, d.noun)}, true
	case err != nil:
		return refusal{fasthttp.StatusBadRequest, codeInvalidJSON, "The body is not valid JSON: " + syntax(err) + "."}, true
	case count == 0:
		return refusal{fasthttp.StatusUnprocessableEntity, codeValidation, "The array is empty; send at least one " + d.noun + "."}, true
	case len(b.ends) == 0:
		return refusal{fasthttp.StatusUnprocessableEntity, codeValidation, "No " + d.noun + " was accepted; see rejected."}, true
	}
	start := 0
	for _, end := range b.ends {
		value := start + len(uuid.UUID{})
		b.records = append(b.records, producer.Record{
			Topic: d.topic,
			Key:   arena[start:value:value],
			Value: arena[value:end:end],
		})
		start = end
	}
	return refusal{}, false
}

// open makes the decoder read a body.
func (b *batch) open(body []byte) {
	b.source = *bytes.NewBuffer(body)
	// What is wrong in one element refuses that one only: names that occur twice, and escapes that stand
	// for no character (half of a pair), which is all that is not UTF-8 here.
	options := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	if b.decoder == nil {
		b.decoder = jsontext.NewDecoder(&b.source, options...)
	} else {
		b.decoder.Reset(&b.source, options...)
	}
}

// elements reads one element or an array of them. It returns the arena and the number of elements.
func (b *batch) elements(c *Collector, d *door, arena []byte, s *sender, h *visitor) ([]byte, int, error) {
	if b.decoder.PeekKind() != '[' {
		arena, err := b.next(c, d, arena, 0, s, h)
		return arena, 1, err
	}
	if _, err := b.decoder.ReadToken(); err != nil {
		return arena, 0, err
	}
	index := 0
	for ; ; index++ {
		switch b.decoder.PeekKind() {
		case ']', jsontext.KindInvalid:
			_, err := b.decoder.ReadToken()
			return arena, index, err
		}
		if index == MaxElements {
			return arena, index, errTooMany
		}
		var err error
		if arena, err = b.next(c, d, arena, index, s, h); err != nil {
			return arena, index, err
		}
	}
}

// next reads one element into a record or a rejection.
func (b *batch) next(c *Collector, d *door, arena []byte, index int, s *sender, h *visitor) ([]byte, error) {
	if err := b.element.read(b.decoder, d); err != nil {
		return arena, err
	}
	var f fault
	if d.views {
		f = c.parseView(&b.view, &b.element, s, &b.last)
	} else {
		f = c.parse(&b.event, &b.element, s, &b.last)
	}
	if f.code != "" {
		b.rejected = append(b.rejected, rejection{index, f.code, f.message})
		return arena, nil
	}
	hash := [16]byte{}
	if h.keep {
		var ok bool
		if hash, ok = b.hashes.of(c.deps.Addresses, b.last.claims.AccountID, h.addr, s.receivedAt); !ok {
			b.unhashed++
		}
	}
	if s.bot != "" {
		b.bots++
	}
	// The key is the link, so that repeats of one id meet in one partition.
	if d.views {
		b.view.IPHash = hash
		arena = append(arena, b.view.GenericLinkID[:]...)
		arena = b.view.Append(arena)
	} else {
		b.event.IPHash = hash
		arena = append(arena, b.event.AccessLinkID[:]...)
		arena = b.event.Append(arena)
	}
	b.ends = append(b.ends, len(arena))
	return arena, nil
}

// tail checks that nothing follows the value.
func (b *batch) tail() error {
	_, err := b.decoder.ReadToken()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		return errors.New("something follows the value")
	default:
		return err
	}
}

// syntax returns what is wrong with a body, without repeating the body.
func syntax(err error) string {
	var s *jsontext.SyntacticError
	switch {
	case errors.As(err, &s) && s.Err != nil:
		return fmt.Sprintf("%v at byte %d", s.Err, s.ByteOffset)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early"
	default:
		return err.Error()
	}
}
