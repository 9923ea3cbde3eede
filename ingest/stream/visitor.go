package stream

import (
	"github.com/ClickHouse/ch-go/proto"

	"lodestone/ingest/agent"
	"lodestone/pkg/event"
)

// visitorColumns are the columns that say with what a visitor came and from where.
type visitorColumns struct {
	agents            *agent.Parser
	userAgent         *textColumn
	browser, system   *textColumn
	country, language *textColumn
	named             []namedAgent // of the texts of userAgent, by their numbers: a row costs no look at them
}

// namedAgent are the numbers of a user agent's names in their columns.
type namedAgent struct{ browser, system uint32 }

func newVisitorColumns(agents *agent.Parser) visitorColumns {
	return visitorColumns{
		agents: agents, userAgent: newTextColumn(), browser: newTextColumn(), system: newTextColumn(), country: newTextColumn(), language: newTextColumn(),
	}
}

func (c *visitorColumns) columns() proto.Input {
	return proto.Input{
		{Name: "user_agent", Data: c.userAgent},
		{Name: "browser", Data: c.browser},
		{Name: "os", Data: c.system},
		{Name: "country", Data: c.country},
		{Name: "language", Data: c.language},
	}
}

func (c *visitorColumns) add(userAgent []byte, origin *event.Origin) {
	number := c.userAgent.Append(userAgent)
	if int(number) == len(c.named) {
		names := c.agents.Names(string(userAgent))
		c.named = append(c.named, namedAgent{c.browser.number([]byte(names.Browser)), c.system.number([]byte(names.OS))})
	}
	named := c.named[number]
	c.browser.keys = append(c.browser.keys, named.browser)
	c.system.keys = append(c.system.keys, named.system)
	c.country.Append(origin.Country.Text())
	c.language.Append(origin.Language.Text())
}

func (c *visitorColumns) addRow(from *visitorColumns, row int) {
	origin := event.Origin{}
	copy(origin.Country[:], from.country.Row(row))
	copy(origin.Language[:], from.language.Row(row))
	c.add(from.userAgent.Row(row), &origin)
}

// reset forgets the names. The columns are reset with those of their table.
func (c *visitorColumns) reset() { c.named = c.named[:0] }

func (c *visitorColumns) reserve(rows int) {
	for _, texts := range []*textColumn{c.userAgent, c.browser, c.system, c.country, c.language} {
		reserve(&texts.keys, rows)
	}
}
