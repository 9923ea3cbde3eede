//go:build long

package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
)

// kafkaPrograms are Apache Kafka's scripts that pages use, and what they run.
var kafkaPrograms = map[string]string{
	"kafka-configs.sh":         "kafka.admin.ConfigCommand",
	"kafka-topics.sh":          "org.apache.kafka.tools.TopicCommand",
	"kafka-consumer-groups.sh": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
}

// Commands of Apache Kafka's and PostgreSQL's own programs do what the pages say.
func TestCommandsOfEnginesInDocuments(t *testing.T) {
	t.Parallel()
	root, err := enginetest.Root()
	require.NoError(t, err)
	commands := map[string][]string{} // by program, without those that run in a container
	for _, b := range documentBlocks(t, root) {
		if m := regexp.MustCompile(`^ *(?:sudo -u postgres )?(psql|kafka-[a-z-]+\.sh) `).FindStringSubmatch(
			b.text); b.language == "sh" && m != nil {
			if command := strings.TrimSpace(b.text); !slices.Contains(commands[m[1]], command) {
				commands[m[1]] = append(commands[m[1]], command)
			}
		}
	}
	t.Run("kafka-configs.sh", func(t *testing.T) {
		t.Parallel()
		admin, run := kafkaTools(t)
		for _, command := range commands["kafka-configs.sh"] {
			run(strings.ReplaceAll(command, "=...", "=1048576"))
		}
		all, err := admin.DescribeTopicConfigs(t.Context(), event.DeadLetterTopic)
		require.NoError(t, err)
		set := map[string]string{}
		for _, c := range all[0].Configs {
			set[c.Key] = c.MaybeValue()
		}
		require.Equal(t, "1048576", set["retention.ms"])
		require.Equal(t, "1048576", set["retention.bytes"])
	})
	t.Run("kafka-consumer-groups.sh", func(t *testing.T) {
		t.Parallel()
		admin, run := kafkaTools(t)
		require.NotEmpty(t, commands["kafka-consumer-groups.sh"])
		for _, command := range commands["kafka-consumer-groups.sh"] {
			var reached kadm.Offsets
			for _, topic := range []string{event.Topic, event.LinkViewTopic} {
				reached.AddOffset(topic, 0, 1, -1)
			}
			require.NoError(t, admin.CommitAllOffsets(t.Context(), "lodestone", reached))
			run(command)
			committed, err := admin.FetchOffsets(t.Context(), "lodestone")
			require.NoError(t, err)
			require.Len(t, committed, 2)
			committed.Each(func(o kadm.OffsetResponse) { require.Zero(t, o.At, "%s: %s", command, o.Topic) })
		}
	})
	t.Run("kafka-topics.sh", func(t *testing.T) {
		t.Parallel()
		admin, run := kafkaTools(t)
		require.Len(t, commands["kafka-topics.sh"], 1)
		run(commands["kafka-topics.sh"][0])
		left, err := admin.ListTopics(t.Context())
		require.NoError(t, err)
		require.False(t, left.Has(event.Topic))
		require.True(t, left.Has(event.LinkViewTopic))
	})
	t.Run("psql", func(t *testing.T) {
		t.Parallel()
		require.Len(t, commands["psql"], 1)
		createsRoleAndDatabase(t, commands["psql"][0])
	})
}

// kafkaTools returns a client of a broker with a record in each topic, and a function that runs a
// command with Apache Kafka's programs.
func kafkaTools(t *testing.T) (*kadm.Client, func(command string)) {
	t.Helper()
	jars, err := enginetest.Installer(t).ApacheKafka(t.Context())
	require.NoError(t, err)
	programs := t.TempDir()
	for name, class := range kafkaPrograms {
		script := fmt.Sprintf("#!/bin/sh\nexec '%s' -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '%s/*' %s \"$@\"\n",
			jars.Java, jars.Jars, class)
		require.NoError(t, os.WriteFile(filepath.Join(programs, name), []byte(script), 0o700))
	}
	kafka := enginetest.NewKafka(t, t.TempDir())
	enginetest.Run(t, kafka)
	client, err := kgo.NewClient(kgo.SeedBrokers(kafka.Brokers()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	admin := kadm.NewClient(client)
	for _, topic := range []string{event.Topic, event.LinkViewTopic, event.DeadLetterTopic} {
		_, err := admin.CreateTopic(t.Context(), 1, 1, nil, topic)
		require.NoError(t, err)
		require.NoError(t, client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte("x")}).FirstErr())
	}
	return admin, func(command string) {
		cmd := script(t, strings.ReplaceAll(command, "HOST:9092", kafka.Brokers()[0]))
		cmd.Env = append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", command, out)
	}
}

// createsRoleAndDatabase runs the command on a PostgreSQL that has neither, and signs in as the
// role.
func createsRoleAndDatabase(t *testing.T, command string) {
	t.Helper()
	ctx := t.Context()
	server := enginetest.NewPostgres(t, enginetest.Dir(t))
	enginetest.Run(t, server)
	superuser, err := pgx.Connect(ctx, server.AdminURL())
	require.NoError(t, err)
	for _, statement := range []string{"DROP DATABASE lodestone", "DROP ROLE lodestone"} { // those of the engine
		_, err := superuser.Exec(ctx, statement)
		require.NoError(t, err)
	}
	require.NoError(t, superuser.Close(ctx))
	c := superuser.Config()
	cmd := script(t, `sudo() { shift 2; "$@"; }`+"\n"+command)
	cmd.Env = append(os.Environ(), "PGHOST="+c.Host, fmt.Sprint("PGPORT=", c.Port), "PGUSER="+c.User,
		"PGPASSWORD="+c.Password, "PGDATABASE="+c.Database)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "CREATE ROLE\nCREATE DATABASE\n", string(out))

	address, err := url.Parse(server.URL())
	require.NoError(t, err)
	address.User, address.Path = url.UserPassword("lodestone", "PASSWORD"), "/lodestone"
	role, err := pgx.Connect(ctx, address.String())
	require.NoError(t, err)
	_, err = role.Exec(ctx, "CREATE TABLE t (); CREATE ROLE another")
	require.NoError(t, err)
	require.NoError(t, role.Close(ctx))
}
