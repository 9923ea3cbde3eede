package traffic

import (
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"

	"lodestone/ingest/agent"
	"lodestone/pkg/event"
)

// Block holds rows of lodestone.events, column by column, for ch-go. It is used by one goroutine.
type Block struct {
	accountID, leadMagnetID, genericLinkID proto.ColUUID
	accessLinkID, sessionID, eventID       proto.ColUUID
	eventType                              proto.ColEnum8
	eventData                              proto.ColStr
	magnetVersion, page, durationMS        proto.ColUInt32
	ipHash                                 proto.ColFixedStr16
	userAgent, agentNames, origin, bot     *proto.ColLowCardinality[string]
	createdAt, receivedAt, storedAt        *proto.ColDateTime64
	topicID                                proto.ColUUID
	partition                              proto.ColInt32
	offset                                 proto.ColInt64

	names   names
	agents  *agent.Parser
	columns proto.Input
}

// names keeps one string for equal texts: a block has few of them.
type names map[string]string

func (n names) of(text []byte) string {
	if s, ok := n[string(text)]; ok {
		return s
	}
	s := string(text)
	n[s] = s
	return s
}

const storedAfter = 600 // ms

// NewBlock returns an empty block. If stored is true it has a column stored_at, some 600 ms after
// received_at: an insert needs the setting insert_allow_materialized_columns=1 for that. Else the server
// takes its own time.
func NewBlock(stored bool) *Block {
	b := &Block{
		userAgent: lowCardinality(), agentNames: lowCardinality(), origin: lowCardinality(), bot: lowCardinality(),
		createdAt: millis(), receivedAt: millis(), storedAt: millis(), names: names{}, agents: agent.New(),
	}
	b.columns = proto.Input{
		{Name: "account_id", Data: &b.accountID},
		{Name: "lead_magnet_id", Data: &b.leadMagnetID},
		{Name: "generic_link_id", Data: &b.genericLinkID},
		{Name: "access_link_id", Data: &b.accessLinkID},
		{Name: "session_id", Data: &b.sessionID},
		{Name: "event_id", Data: &b.eventID},
		{Name: "event_type", Data: proto.Wrap(&b.eventType, event.TypeEnum())},
		{Name: "event_data", Data: &b.eventData},
		{Name: "magnet_version", Data: &b.magnetVersion},
		{Name: "page", Data: &b.page},
		{Name: "duration_ms", Data: &b.durationMS},
		{Name: "ip_hash", Data: &b.ipHash},
		{Name: "user_agent", Data: b.userAgent},
		{Name: "agent_names", Data: b.agentNames},
		{Name: "origin", Data: b.origin},
		{Name: "bot", Data: b.bot},
		{Name: "created_at", Data: b.createdAt},
		{Name: "received_at", Data: b.receivedAt},
		{Name: "kafka_topic_id", Data: &b.topicID},
		{Name: "kafka_partition", Data: &b.partition},
		{Name: "kafka_offset", Data: &b.offset},
	}
	if stored {
		b.columns = append(b.columns, proto.InputColumn{Name: "stored_at", Data: b.storedAt})
	}
	return b
}

func lowCardinality() *proto.ColLowCardinality[string] { return new(proto.ColStr).LowCardinality() }

func millis() *proto.ColDateTime64 {
	return new(proto.ColDateTime64).WithPrecision(proto.PrecisionMilli).WithLocation(time.UTC)
}

// Append adds a row for the event at its place in the log.
func (b *Block) Append(e *event.Event, topic uuid.UUID, partition int32, offset int64) {
	b.accountID = append(b.accountID, e.AccountID)
	b.leadMagnetID = append(b.leadMagnetID, e.LeadMagnetID)
	b.genericLinkID = append(b.genericLinkID, e.GenericLinkID)
	b.accessLinkID = append(b.accessLinkID, e.AccessLinkID)
	b.sessionID = append(b.sessionID, e.SessionID)
	b.eventID = append(b.eventID, e.EventID)
	b.eventType = append(b.eventType, proto.Enum8(e.Type))
	b.eventData.AppendBytes(e.Data)
	b.magnetVersion = append(b.magnetVersion, e.MagnetVersion)
	b.page = append(b.page, e.Page)
	b.durationMS = append(b.durationMS, e.DurationMS)
	b.ipHash = append(b.ipHash, e.IPHash)
	userAgent := b.names.of(e.UserAgent)
	b.userAgent.Append(userAgent)
	b.agentNames.Append(b.agents.Names(userAgent).String())
	b.origin.Append(e.Origin.String())
	b.bot.Append(e.Bot)
	b.createdAt.AppendRaw(proto.DateTime64(e.CreatedAt))
	b.receivedAt.AppendRaw(proto.DateTime64(e.ReceivedAt))
	b.storedAt.AppendRaw(proto.DateTime64(e.ReceivedAt + storedAfter))
	b.topicID = append(b.topicID, topic)
	b.partition = append(b.partition, partition)
	b.offset = append(b.offset, offset)
}

// Rows returns how many rows there are since the last reset.
func (b *Block) Rows() int { return len(b.offset) }

// Input returns the columns. They stay valid until the next Append or Reset.
func (b *Block) Input() proto.Input { return b.columns }

// Reset empties the block and keeps its memory.
func (b *Block) Reset() {
	b.columns.Reset()
	b.storedAt.Reset()
}

// Log gives events their places in a log of some partitions, as Kafka does by the key of a record.
type Log struct {
	Topic   uuid.UUID
	offsets []int64
}

// NewLog returns an empty log.
func NewLog(topic uuid.UUID, partitions int) *Log { return &Log{topic, make([]int64, partitions)} }

// Place returns the next place for an event of the access link.
func (l *Log) Place(accessLink uuid.UUID) (partition int32, offset int64) {
	p := (int(accessLink[14])<<8 | int(accessLink[15])) % len(l.offsets)
	offset = l.offsets[p]
	l.offsets[p]++
	return int32(p), offset
}
