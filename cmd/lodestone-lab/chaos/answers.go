package chaos

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"lodestone/cmd/lodestone-lab/overlay"
	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/client"
)

// reader asks the processes of a cluster that serve the API: the query processes for reports, and the site for files, which it
// also uploads.
type reader struct {
	queries []string          // addresses
	site    string            // address
	keys    map[string]string // by account

	mu    sync.Mutex
	files []uploaded
	wrong []string // what should never be answered
}

// answers are the numbers of a report for an account: those of people.
type answers struct {
	Events    int64 `json:"events"`
	Readers   int64 `json:"readers"`
	Sessions  int64 `json:"sessions"`
	LinkViews int64 `json:"link_views"`
}

// atLeast reports whether no number is smaller than before.
func (a answers) atLeast(before answers) bool {
	return a.Events >= before.Events && a.Readers >= before.Readers && a.Sessions >= before.Sessions && a.LinkViews >= before.LinkViews
}

// uploaded is a file that was acknowledged.
type uploaded struct {
	magnet, key string
	sum         [sha256.Size]byte
}

func (r *reader) accounts() []string { return slices.Sorted(maps.Keys(r.keys)) }

// promptly bounds a report that is asked for while faults happen, and reportLimit one of everything.
const promptly, reportLimit = 10 * time.Second, time.Minute

// report asks a query process once.
func (r *reader) report(ctx context.Context, limit time.Duration, address, account string) (a answers, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	api := client.New(client.Config{URL: address, Key: r.keys[account]})
	now := time.Now().UTC()
	body := fmt.Sprintf(`{"metrics":["events","readers","sessions","link_views"],"from":%q,"to":%q}`,
		now.Add(-48*time.Hour).Format(time.RFC3339), now.Add(48*time.Hour).Format(time.RFC3339))
	var out struct {
		Data []struct {
			Totals answers `json:"totals"`
		} `json:"data"`
	}
	_, err = api.Do(ctx, http.MethodPost, "/api/v1/analytics/query", http.Header{"Content-Type": {"application/json"}}, strings.NewReader(body), &out)
	if err == nil && len(out.Data) != 1 {
		err = errors.New("the report has no totals")
	}
	if err != nil {
		return a, err
	}
	return out.Data[0].Totals, nil
}

// await returns a report as soon as a query process answers.
func (r *reader) await(ctx context.Context, account string) (a answers, err error) {
	return a, probe.Until(ctx, startTimeout, retryInterval, "ask for a report", func() (err error) {
		a, err = r.report(ctx, promptly, r.queries[0], account)
		return err
	})
}

// ask asks both query processes until a time, and complains about an answer with less than before.
func (r *reader) ask(ctx context.Context, account string, before answers, until time.Time, wrong func(format string, args ...any)) (answered int) {
	for i := 0; time.Now().Before(until) && ctx.Err() == nil; i++ {
		a, err := r.report(ctx, promptly, r.queries[i%len(r.queries)], account)
		if err == nil {
			answered++
			if !a.atLeast(before) {
				wrong("a report answers %+v, and answered %+v before", a, before)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
	return answered
}

// run uploads files and reads them, until ctx ends.
func (r *reader) run(ctx context.Context) {
	root, err := overlay.Root(ctx)
	if err != nil {
		return
	}
	guide, err := os.ReadFile(filepath.Join(root, "cmd", "lodestone", "demo", "guide.pdf"))
	if err != nil {
		r.wrong = append(r.wrong, err.Error())
		return
	}
	accounts := r.accounts()
	for n := 0; ctx.Err() == nil; n++ {
		key := r.keys[accounts[n%len(accounts)]]
		pdf := fmt.Appendf(slices.Clip(guide), "%% %s\n", uuid.New())
		if magnet, err := r.upload(ctx, key, pdf); err == nil {
			r.mu.Lock()
			r.files = append(r.files, uploaded{magnet, key, sha256.Sum256(pdf)})
			r.mu.Unlock()
		}
		if f, found := r.file(n); found {
			if text, err := r.download(ctx, f); err == nil && sha256.Sum256(text) != f.sum {
				r.wrong = append(r.wrong, "lead magnet "+f.magnet+" has another file than was uploaded")
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
		}
	}
}

// file returns one of the files, if there is one.
func (r *reader) file(n int) (f uploaded, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.files) == 0 {
		return f, false
	}
	return r.files[n%len(r.files)], true
}

// uploads returns how many files were uploaded.
func (r *reader) uploads() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.files)
}

// forget drops files that were uploaded after the first ones: a backup does not have them.
func (r *reader) forget(first int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files = r.files[:min(first, len(r.files))]
}

func (r *reader) upload(ctx context.Context, key string, pdf []byte) (magnet string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	api := client.New(client.Config{URL: r.site, Key: key})
	m, err := api.CreateLeadMagnet(ctx, client.NewLeadMagnet{Title: "Uploaded"})
	if err != nil {
		return "", err
	}
	_, err = api.UploadFile(ctx, m.ID, "guide.pdf", bytes.NewReader(pdf))
	return m.ID, err
}

func (r *reader) download(ctx context.Context, f uploaded) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	resp, err := client.New(client.Config{URL: r.site, Key: f.key}).Open(ctx, "/api/v1/lead-magnets/"+f.magnet+"/file", nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return io.ReadAll(resp.Body)
}

// reader compares the reports of each query process with the rows, and each file with what was uploaded.
func (f *findings) reader(ctx context.Context, r *reader) {
	for account, want := range f.people {
		for _, address := range r.queries {
			f.Asked++
			var got answers
			err := probe.Until(ctx, reportLimit, 500*time.Millisecond, "compare the reports", func() (err error) {
				if got, err = r.report(ctx, reportLimit, address, account.String()); err == nil && got != *want {
					err = errWrong
				}
				return err
			})
			if err != nil {
				f.Differ++
				f.examplef("the report of account %s at %s is %+v, and the rows are %+v: %v", account, address, got, *want, err)
			}
		}
	}
	f.Files = len(r.files)
	for _, file := range r.files {
		var text []byte
		err := probe.Until(ctx, time.Minute, 500*time.Millisecond, "read a file", func() (err error) {
			text, err = r.download(ctx, file)
			return err
		})
		if err != nil || sha256.Sum256(text) != file.sum {
			f.FilesWrong++
			f.examplef("the file of lead magnet %s is not the one that was uploaded: %v", file.magnet, err)
		}
	}
	for _, text := range r.wrong {
		f.FilesWrong++
		f.examplef("%s", text)
	}
}
