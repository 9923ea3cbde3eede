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

// batch is what a request came to: it is kept until the request is answered. It is reused.
type batch struct {
	*space             // until the records are made
	arrived  time.Time // when the request was complete
	records  []producer.Record
	arena    []byte // holds the records' keys and values
	class    class  // of the body
	rejected []rejection
	bots     int
	unhashed int
	wait     time.Duration // until what was rejected for a limit may be sent again
}

// class is about how large a body is announced to be. Batches of each have a pool, so that what is large stays with few.
type class int

const (
	small  class = iota // of one event, or some
	medium              // of tens
	large               // beyond firstBytes
	classes
)

// mediumBytes is where medium bodies begin: below, their records fit what a small one keeps.
const mediumBytes = 2 << 10

// keptArena is the memory that a batch keeps for its next request, by class. Small ones are by the thousand, so they
// keep little. No class keeps more than what its requests take anyway while they wait for Kafka.
var keptArena = [classes]int{4 << 10, 24 << 10, 256 << 10}

func classOf(bytes int) class {
	switch {
	case bytes > firstBytes:
		return large
	case bytes > mediumBytes:
		return medium
	default:
		return small
	}
}

// space is what turning a body into records takes. It is given back before the wait for Kafka, so that a few of
// them serve all requests, and stay in the processor's caches (BenchmarkCrowd).
type space struct {
	raw      []byte // the body as it came, if it came bit by bit and is small
	room     *room  // for one that is not
	unpacked []byte // the body, if it was compressed
	source   bytes.Buffer
	decoder  *jsontext.Decoder
	element  element
	event    event.Event
	view     event.LinkView
	ends     []int // where each record's key and value end in the arena
	hashes   *hashes
}

// begin returns the work space of a request, whose body is announced to be so many bytes long, or -1.
func (c *Collector) begin(bytes int) *batch {
	size := classOf(bytes)
	b := c.batches[size].Get().(*batch)
	b.class = size
	b.space = c.spaces.Get().(*space)
	b.hashes.begin()
	return b
}

// leaveSpace gives back what only the making of records takes. Only the first of several calls has an effect.
func (c *Collector) leaveSpace(b *batch) {
	s := b.space
	if s == nil {
		return
	}
	b.space = nil
	c.rooms.put(s.room)
	unpacked := s.unpacked[:0]
	if cap(unpacked) > 4*firstBytes { // what waits for its next use is bounded as well
		unpacked = nil
	}
	*s = space{raw: s.raw[:0], unpacked: unpacked, decoder: s.decoder, ends: s.ends[:0], hashes: s.hashes}
	c.spaces.Put(s)
}

// end gives a work space back when the request is answered.
func (c *Collector) end(b *batch) {
	c.leaveSpace(b)
	clear(b.records)
	clear(b.rejected)
	pool := &c.batches[b.class]
	if cap(b.arena) > keptArena[b.class] {
		b.arena = nil
	}
	*b = batch{records: b.records[:0], arena: b.arena[:0], rejected: b.rejected[:0]}
	pool.Put(b)
}

var errTooMany = errors.New("too many elements")

// read turns a body into records and rejections, or returns the refusal of the whole.
func (b *batch) read(c *Collector, d *door, body []byte, s *sender, h *visitor) (refusal, bool) {
	if !utf8.Valid(body) {
		return refusal{fasthttp.StatusBadRequest, codeInvalidJSON, "The body is not valid JSON: it is not UTF-8."}, true
	}
	b.open(body)
	if size := arenaSize(body, s); cap(b.arena) < size {
		b.arena = make([]byte, 0, size+size/4) // the next body may be a little larger
	}
	arena, count, err := b.elements(c, d, b.arena[:0], s, h)
	b.arena = arena
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
		return b.noneAccepted(d), true
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
func (s *space) open(body []byte) {
	s.source = *bytes.NewBuffer(body)
	// What is wrong in one element refuses that one only: names that occur twice, and escapes that stand
	// for no character (half of a pair), which is all that is not UTF-8 here.
	options := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	if s.decoder == nil {
		s.decoder = jsontext.NewDecoder(&s.source, options...)
	} else {
		s.decoder.Reset(&s.source, options...)
	}
}

// arenaSize is about what the records of a body take: a record has no token, no names of fields and no text of
// ids, but has the user agent and the ids of the token. What has a large event_data takes more, and grows.
func arenaSize(body []byte, s *sender) int {
	const ids = 256
	if len(body) > 0 && body[0] == '[' {
		return len(body) + ids
	}
	return ids + len(s.userAgent) + len(body)/4
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
		f = c.parseView(&b.view, &b.element, s)
	} else {
		f = c.parse(&b.event, &b.element, s)
	}
	if f.code == "" {
		f = b.limit(c, d, s, h)
	}
	if f.code != "" {
		b.rejected = append(b.rejected, rejection{index, f.code, f.message})
		return arena, nil
	}
	hash := [16]byte{}
	if h.keep {
		account := b.event.AccountID
		if d.views {
			account = b.view.AccountID
		}
		var ok bool
		if hash, ok = b.hashes.of(c.deps.Addresses, account, h.addr, s.receivedAt); !ok {
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
func (s *space) tail() error {
	_, err := s.decoder.ReadToken()
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
