package deadletter

import (
	"bytes"
	"testing"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// An event that was sent before its person was erased, and could not be stored then, becomes a row
// that holds nothing of the person. Nor does one of an account that was deleted. Others are stored
// as they were sent.
func TestAReplayBlanksEventsOfErasedPeople(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	kept, erased, gone := r.event(r.link()), r.event(r.link()), r.event(r.link())
	gone.AccountID = uuid.New() // with all of its links
	for i, e := range []*event.Event{&kept, &erased, &gone} {
		e.Page, e.Data, e.UserAgent = 4, []byte(`{"page":4,"note":"ada"}`),
			[]byte("Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/131.0")
		e.IPHash[0], e.Origin = 1, event.Origin{Language: event.Language{'e', 'n'}, Country: event.Country{'I', 'N'}}
		r.bury(int64(i), e.Append(nil))
	}
	for id, account := range map[uuid.UUID]uuid.UUID{erased.AccessLinkID: r.account, gone.AccountID: gone.AccountID} {
		r.Exec(`INSERT INTO erasures (id, account_id, person_id, erased_at, removed) VALUES ($1, $2, $1, now(), '{}')`, id,
			account)
		r.Exec(`INSERT INTO erased_links (id, account_id, erasure_id) VALUES ($1, $2, $1)`, id, account)
	}
	require.Equal(t, Result{Written: 3}, r.replay(Filter{}))
	ranges, err := kafka.Ranges(t.Context(), r.Client, event.Topic)
	require.NoError(t, err)
	for partition, held := range ranges {
		require.NoError(t, kafka.ReadRange(t.Context(), r.Kafka.Options(r.replayer.Log), event.Topic, partition, held,
			func(record *kgo.Record) error {
				require.Equal(t, string(record.Key) == string(kept.AccessLinkID[:]), bytes.Contains(record.Value, []byte("ada")))
				return nil
			}))
	}
	r.requireRows(3)

	rows, err := r.Conn.Query(t.Context(), `SELECT access_link_id, event_data, ip_hash = toFixedString('', 16) AND user_agent = '' AND agent_names = '' AND origin = ''
		FROM lodestone.events WHERE kafka_topic_id = {topic:UUID}`, native.Named("topic", r.TopicID.String()))
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	type row struct {
		link  uuid.UUID
		data  string
		blank bool
	}
	var stored []row
	for rows.Next() {
		var s row
		require.NoError(t, rows.Scan(&s.link, &s.data, &s.blank))
		stored = append(stored, s)
	}
	require.NoError(t, rows.Err())
	require.ElementsMatch(t, []row{
		{kept.AccessLinkID, `{"page":4,"note":"ada"}`, false}, {erased.AccessLinkID, `{"page":4}`, true},
		{gone.AccessLinkID, `{"page":4}`, true},
	}, stored)
}
