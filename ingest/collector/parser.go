package collector

import (
	"errors"
	"unicode/utf8"

	"lodestone/pkg/event"
	"lodestone/pkg/token"
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

// Tokens verifies tokens as the collector does: it remembers those that it has seen. It is safe for concurrent use.
type Tokens struct {
	ring  *token.Ring
	known *known
}

// NewTokens returns a Tokens that remembers none yet.
func NewTokens(ring *token.Ring) *Tokens { return &Tokens{ring, newKnown()} }

// Verify returns the claims of a token, which must not be changed, or the error of the ring.
func (t *Tokens) Verify(text []byte) (*token.Claims, error) { return t.known.verify(t.ring, text) }
