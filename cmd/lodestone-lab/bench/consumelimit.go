package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lodestone/cmd/lodestone-lab/bench/traffic"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/service"
)

// insertCommand is the limit of the consumer as a process: it holds blocks of rows in memory, column by column
// as ch-go takes them, and inserts them all when it is asked to: as fast as it can, or spread over a time.
type insertCommand struct {
	ClickHouse  clickhouse.Config `embed:""`
	Listen      string            `name:"listen" required:"" help:"Address to listen on."`
	Seed        uint64            `name:"seed" default:"1" help:"Of the events."`
	Rows        int64             `name:"rows" required:"" help:"How many there are."`
	Partitions  int               `name:"partitions" default:"4" help:"Partitions that the rows are said to come from."`
	BlockRows   int               `name:"block-rows" default:"100000" help:"Rows of one insert."`
	Connections int               `name:"connections" default:"4" help:"Inserts at the same time."`

	blocks [][]*traffic.Block // of each connection, in order
	topic  uuid.UUID
}

// overParameter names the time that the blocks are spread over.
const overParameter = "over"

// insertAnswer is what an insert of everything took.
type insertAnswer struct {
	Nanoseconds int64   `json:"nanoseconds"`
	Blocks      float64 `json:"blocks"`
}

// Run serves until ctx ends.
func (c *insertCommand) Run(ctx context.Context) error {
	options, err := c.ClickHouse.BlockOptions()
	if err != nil {
		return err
	}
	c.make()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("POST /insert", func(w http.ResponseWriter, r *http.Request) {
		over, err := time.ParseDuration(r.URL.Query().Get(overParameter))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		a, err := c.insert(r.Context(), options, over)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(a) // who asked is gone
	})
	server := &http.Server{Addr: c.Listen, Handler: mux, ReadHeaderTimeout: startPatience}
	ended := make(chan error, 1)
	go func() { ended <- server.ListenAndServe() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return errors.Join(server.Close(), ignoreClosed(<-ended))
	}
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// make fills the blocks, of one partition each, and deals them out to the connections.
func (c *insertCommand) make() {
	c.topic = uuid.New()
	c.blocks = make([][]*traffic.Block, c.Connections)
	log := traffic.NewLog(c.topic, c.Partitions)
	filling := make([]*traffic.Block, c.Partitions)
	full := 0
	deal := func(block *traffic.Block) {
		at := full % c.Connections
		c.blocks[at] = append(c.blocks[at], block)
		full++
	}
	events := traffic.New(backlog(c.Seed, c.Rows))
	var e event.Event
	for range c.Rows {
		events.Next(&e)
		partition, offset := log.Place(e.AccessLinkID)
		block := filling[partition]
		if block == nil {
			block = traffic.NewBlock(false)
			filling[partition] = block
		}
		block.Append(&e, c.topic, partition, offset)
		if block.Rows() == c.BlockRows {
			deal(block)
			filling[partition] = nil
		}
	}
	for _, block := range filling {
		if block != nil {
			deal(block)
		}
	}
}

// insert inserts every block, under a token as the consumer's: without one ClickHouse hashes all values. None is inserted before
// its share of the time given has passed.
func (c *insertCommand) insert(ctx context.Context, options ch.Options, over time.Duration) (insertAnswer, error) {
	run := uuid.NewString()
	begin := time.Now()
	var a insertAnswer
	for _, blocks := range c.blocks {
		a.Blocks += float64(len(blocks))
	}
	all, ctx := errgroup.WithContext(ctx)
	for i, blocks := range c.blocks {
		all.Go(func() (err error) {
			conn, err := ch.Dial(ctx, options)
			if err != nil {
				return fmt.Errorf("connect to ClickHouse: %w", err)
			}
			defer func() { err = errors.Join(err, conn.Close()) }()
			for n, block := range blocks {
				due := time.Duration(float64(over) * float64(n*c.Connections+i) / a.Blocks)
				if err := service.Sleep(ctx, due-time.Since(begin)); err != nil {
					return fmt.Errorf("wait for the next block: %w", err)
				}
				input := block.Input()
				if err := conn.Do(ctx, ch.Query{
					Body:  input.Into("events"),
					Input: input,
					Settings: []ch.Setting{
						{Key: "async_insert", Value: "0", Important: true},
						{Key: "insert_deduplication_token", Value: fmt.Sprintf("%s:%d:%d", run, i, n), Important: true},
					},
				}); err != nil {
					return fmt.Errorf("insert into ClickHouse: %w", err)
				}
			}
			return nil
		})
	}
	err := all.Wait()
	a.Nanoseconds = time.Since(begin).Nanoseconds()
	return a, err
}
