package pdf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

const (
	exitMemory = 3
	maxStack   = 64 << 20
	maxNodes   = 2 * maxPages
)

// Main does the work of the process that reads a PDF, if this is one, and then ends it. It is the
// first thing that the program's main function does, and in tests TestMain.
func Main() {
	if len(os.Args) != 2 || os.Args[1] != childArgument {
		return
	}
	debug.SetMaxStack(maxStack)
	limitProcess()
	go watchMemory()
	v := read(os.Stdin)
	if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
		os.Exit(1) //nolint:forbidigo // this is main of the process that reads; whoever asked has left
	}
	os.Exit(0) //nolint:forbidigo // as above
}

// watchMemory ends the process when the heap grows too large, on systems that do not.
func watchMemory() {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	for range time.Tick(10 * time.Millisecond) {
		metrics.Read(sample)
		if sample[0].Value.Uint64()+sample[1].Value.Uint64() > maxMemory {
			os.Exit(exitMemory) //nolint:forbidigo // the work cannot be stopped otherwise
		}
	}
}

// read returns what a file is. Only this process calls it: it may loop or crash.
func read(file io.ReadSeeker) (v verdict) {
	defer func() {
		if cause := recover(); cause != nil {
			v = verdict{Invalid: "is damaged: it cannot be read as a PDF"}
		}
	}()
	api.DisableConfigDir()
	conf := model.NewDefaultConfiguration()
	conf.ValidationMode = model.ValidationRelaxed
	ctx, err := api.ReadContext(file, conf)
	if errors.Is(err, pdfcpu.ErrWrongPassword) {
		return verdict{Invalid: "is locked by a password: send it without one"}
	}
	if err != nil {
		return verdict{Invalid: "is damaged: it cannot be read as a PDF"}
	}
	pages, err := countPages(ctx.XRefTable)
	if err != nil {
		return verdict{Invalid: err.Error()}
	}
	return verdict{Pages: pages}
}

// countPages walks the page tree: the number that the file claims to have may be wrong.
func countPages(table *model.XRefTable) (int, error) {
	broken := errors.New("is damaged: its pages cannot be found")
	root, err := table.Pages()
	if err != nil || root == nil {
		return 0, broken
	}
	pages, seen, queue := 0, map[int]bool{}, []types.Object{*root}
	for len(queue) > 0 {
		object := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if ref, ok := object.(types.IndirectRef); ok {
			number := ref.ObjectNumber.Value()
			if seen[number] {
				return 0, broken
			}
			seen[number] = true
		}
		node, err := table.DereferenceDict(object)
		if err != nil || node == nil {
			return 0, broken
		}
		kids, found := node.Find("Kids")
		if !found {
			if pages++; pages > maxPages {
				return 0, fmt.Errorf("has more than %d pages", maxPages)
			}
			continue
		}
		list, err := table.DereferenceArray(kids)
		if err != nil || len(queue)+len(list) > maxNodes {
			return 0, broken
		}
		queue = append(queue, list...)
	}
	if pages == 0 {
		return 0, errors.New("has no pages")
	}
	return pages, nil
}
