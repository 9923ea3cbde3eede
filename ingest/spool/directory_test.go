package spool

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/producer"
)

// prepared returns a spool's directory with some segments, as a stopped collector left it, and the
// values of its records.
func prepared(t *testing.T, records int) (dir string, values []string) {
	t.Helper()
	dir = t.TempDir()
	q := open(t, dir, realDisk{}, 1<<30, 600)
	for n := range records {
		r := record(n)
		values = append(values, string(r.Value))
		require.NoError(t, q.append(background, appendPayload(nil, time.UnixMilli(1_700_000_000_000), []producer.Record{r}, mark), 1))
	}
	require.NoError(t, q.close())
	return dir, values
}

func openDirectory(t *testing.T, dir string) *Directory {
	t.Helper()
	d, err := OpenDirectory(dir)
	require.NoError(t, err)
	return d
}

// sendAll sends every segment that is not sent, and returns what became of each.
func sendAll(t *testing.T, dir string, to Writer) (all []Sent) {
	t.Helper()
	d := openDirectory(t, dir)
	names, err := d.Names()
	require.NoError(t, err)
	for _, name := range names {
		if f := d.Read(name); !f.Sent() {
			all = append(all, d.Send(background, &f, to))
		}
	}
	require.NoError(t, d.Close())
	return all
}

func spoil(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data[segmentHeader+entryHeader+3] ^= 1
	require.NoError(t, os.WriteFile(path, data, 0o600))
}

// Every sound record of the directory and of damaged files goes to Kafka, marked, and once.
func TestSendingADirectory(t *testing.T) {
	t.Parallel()
	dir, values := prepared(t, 20)
	names := segmentsIn(t, dir)
	require.Greater(t, len(names), 4)
	spoil(t, filepath.Join(dir, names[0])) // the first record of each is lost
	require.NoError(t, os.Rename(filepath.Join(dir, names[0]), filepath.Join(dir, damagedDir, names[0])))
	spoil(t, filepath.Join(dir, names[2]))

	kafka := &picky{limit: 5000, has: map[string]bool{}}
	for _, s := range sendAll(t, dir, kafka) {
		require.NoError(t, s.Err)
		require.Zero(t, s.Refused)
		require.True(t, strings.HasPrefix(s.Now, sentDir+"/"), s.Now)
	}
	require.Len(t, kafka.has, len(values)-2)
	require.Equal(t, len(values)-2, kafka.marked)
	require.NotContains(t, kafka.has, values[0])
	for v := range kafka.has {
		require.Contains(t, values, v)
	}
	require.Empty(t, sendAll(t, dir, kafka), "nothing is sent twice")
	require.Empty(t, segmentsIn(t, dir))
	require.Empty(t, segmentsIn(t, filepath.Join(dir, damagedDir)))
	require.Len(t, segmentsIn(t, filepath.Join(dir, sentDir)), len(names), "and no file is gone")

	q := open(t, dir, realDisk{}, 1<<30, 600)
	require.Empty(t, rest(t, q), "the collector has nothing left to send")
	require.NoError(t, q.close())
}

// A file stays until Kafka has all of it.
func TestSendingStopsHalfWay(t *testing.T) {
	t.Parallel()
	dir, values := prepared(t, 20)
	names := segmentsIn(t, dir)
	away := errors.New("away")
	kafka := &picky{limit: 5000, has: map[string]bool{}, away: away, after: 2}
	sent := sendAll(t, dir, kafka)
	require.Len(t, sent, len(names))
	for i, s := range sent {
		if i < 2 {
			require.NoError(t, s.Err)
			continue
		}
		require.ErrorIs(t, s.Err, away)
		require.Equal(t, names[i], s.Now)
	}
	require.Equal(t, names[2:], segmentsIn(t, dir))
	kafka.away = nil
	sendAll(t, dir, kafka)
	require.Len(t, kafka.has, len(values))
}

// A record that Kafka refuses for good keeps its file where it is, and the rest of the file is
// sent.
func TestSendingWhatKafkaRefuses(t *testing.T) {
	t.Parallel()
	dir, values := prepared(t, 20)
	q := open(t, dir, realDisk{}, 1<<30, 600)
	large := record(100)
	large.Value = append(large.Value, make([]byte, 1000)...)
	require.NoError(t, q.append(background, appendPayload(nil, time.Now(), []producer.Record{record(20), large, record(21)}, mark), 3))
	require.NoError(t, q.close())
	kafka := &picky{limit: 900, has: map[string]bool{}}
	sent := sendAll(t, dir, kafka)
	last := sent[len(sent)-1]
	require.NoError(t, last.Err)
	require.EqualValues(t, 1, last.Refused)
	require.Equal(t, last.Name, last.Now)
	require.Len(t, kafka.has, len(values)+2)

	kafka.limit = 5000 // its settings were corrected
	for _, s := range sendAll(t, dir, kafka) {
		require.NoError(t, s.Err)
		require.Zero(t, s.Refused)
	}
	require.Len(t, kafka.has, len(values)+3)
	require.Empty(t, segmentsIn(t, dir))
}

// What a collector has sent, and the end of a write that was never acknowledged, are not sent; one
// process at a time uses the directory.
func TestADirectoryIsSentFromWhereItsCollectorEnded(t *testing.T) {
	t.Parallel()
	dir, values := prepared(t, 20)
	q := open(t, dir, realDisk{}, 1<<30, 600)
	_, err := OpenDirectory(dir)
	require.ErrorContains(t, err, "another process")
	b, err := q.read(1, 1)
	require.NoError(t, err)
	q.ack(b.end, b.records)
	require.NoError(t, q.close())
	names := segmentsIn(t, dir)
	torn, err := os.OpenFile(filepath.Join(dir, names[len(names)-1]), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = torn.WriteString("torn")
	require.NoError(t, errors.Join(err, torn.Close()))
	require.NoError(t, os.Mkdir(filepath.Join(dir, segmentName(99)), 0o700)) // a directory cannot be read

	kafka := &picky{limit: 5000, has: map[string]bool{}}
	sent := sendAll(t, dir, kafka)
	require.Len(t, sent, len(names)+1)
	for _, s := range sent[:len(names)] {
		require.NoError(t, s.Err)
	}
	require.Error(t, sent[len(names)].Err)
	require.Len(t, kafka.has, len(values)-1)
	require.NotContains(t, kafka.has, values[0])

	_, err = OpenDirectory(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Two files of one number may be set aside: neither replaces the other, and both are sent.
func TestFilesOfOneNameAreAllKept(t *testing.T) {
	t.Parallel()
	dir, values := prepared(t, 2)
	other, more := t.TempDir(), record(50)
	q := open(t, other, realDisk{}, 1<<30, 600)
	require.NoError(t, q.append(background, appendPayload(nil, time.Now(), []producer.Record{more}, mark), 1))
	require.NoError(t, q.close())
	for _, from := range []string{dir, other} {
		_, err := moveInto(realDisk{}, filepath.Join(from, segmentName(1)), filepath.Join(dir, damagedDir))
		require.NoError(t, err)
	}
	require.Len(t, segmentsIn(t, filepath.Join(dir, damagedDir)), 2)
	kafka := &picky{limit: 5000, has: map[string]bool{}}
	sendAll(t, dir, kafka)
	require.Len(t, kafka.has, len(values)+1)
	require.Len(t, segmentsIn(t, filepath.Join(dir, sentDir)), 2)
}
