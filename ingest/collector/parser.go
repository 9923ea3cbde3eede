package collector

import (
	"errors"
	"unicode/utf8"

	"lodestone/pkg/event"
)

// Parser reads the events of bodies as the collector does, but for their tokens. It is the part of a request
// that benchmarks measure alone. It is used by one goroutine.
type Parser struct {
	work space
}

// NewParser returns a parser.
func NewParser() *Parser { return &Parser{} }

// Parse reads an array of events. Its error says that the body, or one of the events, would be refused.
func (p *Parser) Parse(body []byte) error {
	if !utf8.Valid(body) {
		return errors.New("it is not UTF-8")
	}
	b := &p.work
	b.open(body)
	if _, err := b.decoder.ReadToken(); err != nil {
		return err
	}
	for b.decoder.PeekKind() == '{' {
		if err := b.element.read(b.decoder, &eventsDoor); err != nil {
			return err
		}
		b.event = event.Event{}
		if f := (*Collector)(nil).parseFields(&b.event, &b.element); f.code != "" {
			return errors.New(f.message)
		}
	}
	_, err := b.decoder.ReadToken()
	return errors.Join(err, b.tail())
}
