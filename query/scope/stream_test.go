package scope_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

var tsv = scope.Format{Name: "TabSeparatedRaw"}

// stream returns the whole answer to a statement.
func stream(t *testing.T, s *scope.Streams, account uuid.UUID, st scope.Statement) (string, error) {
	t.Helper()
	answer, err := s.Open(t.Context(), account, st, tsv)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	_, err = answer.WriteTo(&b)
	require.NoError(t, answer.Close())
	return b.String(), err
}

func TestStreamThatForgetsTheAccountSeesNothingOfOthers(t *testing.T) {
	t.Parallel()
	three, five := storeTwoAccounts(t)
	s := querytest.Streams(t, querytest.Limits())
	for _, sql := range forgetful {
		for account, want := range map[uuid.UUID]int{three: 3, five: 5} {
			got, err := stream(t, s, account, scope.Statement{Name: "test", SQL: sql})
			require.NoError(t, err, sql)
			require.Equal(t, fmt.Sprintln(want), got, sql)
		}
	}
	got, err := stream(t, s, three, scope.Statement{
		Name: "test", SQL: "SELECT count() FROM lodestone.events WHERE account_id = {account:UUID}",
		Params: map[string]string{"account": five.String()},
	})
	require.NoError(t, err)
	require.Equal(t, "3\n", got, "the account is not a statement's to choose")
}

func TestStreamCannotLeaveItsAccount(t *testing.T) {
	t.Parallel()
	storeTwoAccounts(t)
	s := querytest.Streams(t, querytest.Limits())
	for _, sql := range escaping {
		_, err := stream(t, s, querytest.ID(t), scope.Statement{Name: "test", SQL: sql})
		require.Error(t, err, sql)
	}
	_, err := s.Open(t.Context(), uuid.Nil, scope.Statement{SQL: "SELECT 1"}, tsv)
	require.ErrorContains(t, err, "no account")
}

// A format has settings, but none that a statement is confined by.
func TestFormatCannotReplaceWhatConfines(t *testing.T) {
	t.Parallel()
	three, _ := storeTwoAccounts(t)
	s := querytest.Streams(t, querytest.Limits())
	answer, err := s.Open(t.Context(), three, scope.Statement{Name: "test", SQL: "SELECT count() FROM lodestone.events"},
		scope.Format{
			Name: "TabSeparatedRaw", Settings: map[string]string{"additional_table_filters": "{}", "readonly": "0"},
		})
	require.NoError(t, err)
	text, err := io.ReadAll(readerOf(t, answer))
	require.NoError(t, err)
	require.Equal(t, "3\n", string(text))
	require.NoError(t, answer.Close())
}

func readerOf(t *testing.T, s *scope.Stream) io.Reader {
	t.Helper()
	var b bytes.Buffer
	_, err := s.WriteTo(&b)
	require.NoError(t, err)
	return &b
}

func TestStreamTakesAnyText(t *testing.T) {
	t.Parallel()
	s, account := querytest.Streams(t, querytest.Limits()), querytest.ID(t)
	for _, text := range []string{"", "it's", `\`, `\'`, "'] OR 1 -- ", "\t\n\r\x00\b\f", "\xff\xfe", "{account:UUID}",
		`\N`, "NULL", "ü–😀&param_account=x#"} {
		got, err := stream(t, s, account, scope.Statement{
			Name: "test", SQL: "SELECT {text:String}, arrayStringConcat({texts:Array(String)}, '|')",
			Params: map[string]string{"text": clickhouse.Text(text), "texts": clickhouse.Texts([]string{text, "b"})},
		})
		require.NoError(t, err, "%q", text)
		require.Equal(t, text+"\t"+text+"|b\n", got)
	}
}

// An error of the server after the first byte is an error of the stream, and not a part of the
// answer.
func TestStreamThatBreaksOffIsNotComplete(t *testing.T) {
	t.Parallel()
	s := querytest.Streams(t, querytest.Limits())
	got, err := stream(t, s, querytest.ID(t),
		scope.Statement{Name: "test", SQL: "SELECT number, throwIf(number = 3000000) FROM numbers(9000000)"})
	require.Error(t, err)
	code, answered := clickhouse.IsException(err)
	require.True(t, answered, "%v", err)
	require.EqualValues(t, 395, code)
	require.Greater(t, len(got), 1<<20, "it had begun")
	require.NotContains(t, got, "exception")

	_, err = stream(t, s, querytest.ID(t),
		scope.Statement{Name: "test", SQL: "SELECT throwIf(number = 0) FROM numbers(1)"})
	require.ErrorContains(t, err, "query test")
	_, answered = clickhouse.IsException(err)
	require.True(t, answered, "%v", err)
}

// A server that ends an answer with an error as if it were complete is not believed.
func TestErrorAtTheEndOfAStream(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-ClickHouse-Exception-Tag", "qwertyuiopasdfgh")
		_, _ = io.WriteString(w,
			"1\n2\n\r\n__exception__\r\nqwertyuiopasdfgh\r\nCode: 241. DB::Exception: Memory limit exceeded\r\n46 qwertyuiopasdfgh\r\n__exception__\r\n")
	}))
	t.Cleanup(server.Close)
	s, err := scope.OpenStreams(enginetest.MigratedClickHouse(t), server.URL, querytest.Limits())
	require.NoError(t, err)
	t.Cleanup(s.Close)
	got, err := stream(t, s, querytest.ID(t), scope.Statement{Name: "test", SQL: "SELECT 1"})
	require.True(t, clickhouse.IsOutOfMemory(err), "%v", err)
	require.Empty(t, got)
}

func TestLimitsOfAStream(t *testing.T) {
	t.Parallel()
	limits := querytest.Limits()
	limits.Timeout = 300 * time.Millisecond
	_, err := stream(t, querytest.Streams(t, limits), querytest.ID(t),
		scope.Statement{Name: "slow", SQL: "SELECT sum(sleepEachRow(1)) FROM numbers(3)"})
	require.True(t, scope.IsUnavailable(err), "%v", err)

	limits = querytest.Limits()
	limits.MemoryBytes = 16 << 20
	_, err = stream(t, querytest.Streams(t, limits), querytest.ID(t),
		scope.Statement{Name: "large", SQL: "SELECT length(groupArray(number)) FROM numbers(100000000)"})
	require.True(t, clickhouse.IsOutOfMemory(err), "%v", err)
}

// When a reader closes a stream, its statement ends.
func TestClosingAStreamEndsItsStatement(t *testing.T) {
	t.Parallel()
	s := querytest.Streams(t, querytest.Limits())
	answer, err := s.Open(context.Background(), querytest.ID(t), scope.Statement{Name: "left by its reader",
		SQL: "SELECT number FROM numbers(100000000000)"}, tsv)
	require.NoError(t, err)
	require.NoError(t, answer.Close())
	conn := querytest.Conn(t)
	require.Eventually(t, func() bool {
		var running uint64
		require.NoError(t, conn.QueryRow(context.Background(),
			"SELECT count() FROM system.processes WHERE Settings['log_comment'] = 'lodestone query: left by its reader'").Scan(
			&running))
		return running == 0
	}, enginetest.Timeout, 50*time.Millisecond)
}

func TestAddressesOfStreams(t *testing.T) {
	t.Parallel()
	c := enginetest.MigratedClickHouse(t)
	for _, address := range []string{"", "127.0.0.1:8123", "clickhouse://127.0.0.1:9000",
		"http://", "http://u:secret@%zz"} {
		_, err := scope.OpenStreams(c, address, querytest.Limits())
		require.ErrorContains(t, err, "--clickhouse-http-url", address)
		require.NotContains(t, err.Error(), "secret")
	}
	// The user of the native address is the one, unless the address has another.
	_, host, _ := strings.Cut(querytest.HTTP(t), "@")
	s, err := scope.OpenStreams(c, "http://"+host, querytest.Limits())
	require.NoError(t, err)
	t.Cleanup(s.Close)
	got, err := stream(t, s, querytest.ID(t), scope.Statement{Name: "test", SQL: "SELECT 1"})
	require.NoError(t, err)
	require.Equal(t, "1\n", got)

	away, err := scope.OpenStreams(c, "http://user:secret@127.0.0.1:1", querytest.Limits())
	require.NoError(t, err)
	_, err = stream(t, away, querytest.ID(t), scope.Statement{Name: "test", SQL: "SELECT 1"})
	require.True(t, scope.IsUnavailable(err), "%v", err)
	require.NotContains(t, err.Error(), "secret")
	require.NotContains(t, err.Error(), "param_")
}
