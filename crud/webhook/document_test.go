package webhook_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/webhook"
	"lodestone/pkg/test/enginetest"
)

// The receiver that docs/webhooks.md shows takes our messages, each once, and no one else's. The
// page names every kind.
func TestDocumentedReceiver(t *testing.T) {
	t.Parallel()
	root, err := enginetest.Root()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, "docs", "webhooks.md"))
	require.NoError(t, err)
	for _, k := range webhook.Kinds() {
		require.Contains(t, string(text), "| `"+string(k)+"` |")
	}
	shown := regexp.MustCompile("(?s)```js\n(.*?)```").FindSubmatch(text)
	require.NotNil(t, shown)
	file := filepath.Join(t.TempDir(), "receiver.mjs")
	require.NoError(t, os.WriteFile(file, shown[1], 0o600))

	r := newQuietRig(t)
	id, secret := r.create("https://example.com/")
	cmd := exec.CommandContext(t.Context(), "node", file)
	cmd.Env = append(os.Environ(), "PORT=0", "WEBHOOK_SECRET="+secret)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	lines := bufio.NewScanner(out)
	line := func() string {
		require.True(t, lines.Scan(), "the receiver ended")
		return lines.Text()
	}
	port, found := strings.CutPrefix(line(), "listening on ")
	require.True(t, found)
	r.must("PATCH", "/"+id, `{"url":"http://127.0.0.1:`+port+`/"}`)
	r.deliver(r.hooks)
	r.emit(1)
	require.Equal(t, "form.verified ada@example.com", line())
	d := r.only(id, "delivered", inState("delivered"))
	r.must("POST", "/"+id+"/deliveries/"+d["id"].(string)+"/replay", "") // is answered, and not sent twice
	r.only(id, "delivered again", func(d object) bool { return inState("delivered")(d) && tried(2)(d) })
	r.must("POST", "/"+id+"/rotate-secret", "")
	r.must("POST", "/"+id+"/test", "") // the old secret still signs
	require.Equal(t, "webhook.test undefined", line())
	r.must("POST", "/"+id+"/rotate-secret?keep_previous_hours=0", "")
	refused := r.must("POST", "/"+id+"/test", "")
	require.EqualValues(t, 401, attempt(refused, 0)["status_code"])
}
