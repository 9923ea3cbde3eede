package stream

import (
	"github.com/ClickHouse/ch-go/proto"

	"lodestone/pkg/event"
)

// visitorColumns are the columns that say with what a visitor came and from where.
type visitorColumns struct {
	agents           *agentParser
	userAgent, names *textColumn
	origin           *textColumn
	named            []uint32                // numbers of the names of userAgent's texts
	origins          map[event.Origin]uint32 // numbers of the texts of origin
}

func newVisitorColumns(agents *agentParser) visitorColumns {
	return visitorColumns{agents: agents, userAgent: newTextColumn(), names: newTextColumn(), origin: newTextColumn(),
		origins: map[event.Origin]uint32{}}
}

func (c *visitorColumns) columns() proto.Input {
	return proto.Input{{Name: "user_agent", Data: c.userAgent}, {Name: "agent_names", Data: c.names},
		{Name: "origin", Data: c.origin}}
}

func (c *visitorColumns) add(userAgent []byte, origin event.Origin) {
	c.addAgent(userAgent)
	number, known := c.origins[origin]
	if !known {
		number = c.origin.number([]byte(origin.String()))
		c.origins[origin] = number
	}
	c.origin.keys = append(c.origin.keys, number)
}

func (c *visitorColumns) addAgent(userAgent []byte) {
	number := c.userAgent.Append(userAgent)
	if int(number) == len(c.named) {
		names := c.agents.Names(string(userAgent))
		c.named = append(c.named, c.names.number([]byte(names.String())))
	}
	c.names.keys = append(c.names.keys, c.named[number])
}

func (c *visitorColumns) addRow(from *visitorColumns, row int) {
	c.addAgent(from.userAgent.Row(row))
	c.origin.Append(from.origin.Row(row))
}

// reset forgets the numbers. The columns are reset with those of their table.
func (c *visitorColumns) reset() {
	c.named = c.named[:0]
	clear(c.origins)
}
