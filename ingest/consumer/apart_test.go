package consumer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

// A consumer apart is a process of its own, which can be killed: the test's program, started with settings in its environment.

const apartEnv = "LODESTONE_TEST_CONSUMER"

type apartSettings struct {
	Config     Config
	Brokers    []string
	ClickHouse clickhouse.Config
	Postgres   string
}

// consumeApart starts a consumer in a process of its own. What it returns kills that process; the test's end does so as well.
func (r *rig) consumeApart(c Config) (kill func()) {
	r.t.Helper()
	settings, err := json.Marshal(apartSettings{c, r.Kafka.Brokers, r.ClickHouse, r.PostgresURL})
	require.NoError(r.t, err)
	cmd := exec.CommandContext(context.WithoutCancel(r.t.Context()), os.Args[0])
	cmd.Env = append(os.Environ(), apartEnv+"="+string(settings))
	cmd.Stderr = os.Stderr
	_, err = cmd.StdinPipe() // closed with this process, also if that is killed
	require.NoError(r.t, err)
	require.NoError(r.t, cmd.Start())
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}
	r.t.Cleanup(kill)
	return kill
}

// runApart is the process of a consumer apart. It ends when it is killed, or its input ends.
func runApart(settings string) int {
	err := func() error {
		var s apartSettings
		if err := json.Unmarshal([]byte(settings), &s); err != nil {
			return err
		}
		pool, err := postgres.Open(context.Background(), postgres.Config{URL: s.Postgres, MaxConns: 4})
		if err != nil {
			return err
		}
		defer pool.Close()
		consumer, err := New(s.Config, Deps{
			Kafka: kafka.Config{Brokers: s.Brokers}, ClickHouse: s.ClickHouse, Postgres: pool, Log: testLog(), Registerer: prometheus.NewRegistry(),
		})
		if err != nil {
			return err
		}
		if err := consumer.Start(context.Background()); err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, os.Stdin)
		return err
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "consumer apart:", err)
		return 1
	}
	return 0
}
