// Command lodestone-release makes what goreleaser does not: the image of a release for containers,
// and the list of what is in a program. It also audits licences. The same source makes the same
// bytes. It is a module of its own, so that the product does not depend on what it needs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

type commands struct {
	Bom   bomCommand   `cmd:"" help:"List what is in a program of a release."`
	Image imageCommand `cmd:"" help:"Make the image of a release for containers."`
	Audit auditCommand `cmd:"" help:"Check the licences of all dependencies, and look up known vulnerabilities where a database answers."`
}

// release identifies the release that is built.
type release struct {
	Version string    `required:"" env:"VERSION" help:"Number of the release, such as 0.1.0."`
	Commit  string    `required:"" env:"COMMIT" help:"Hash of the commit that is built."`
	Date    time.Time `required:"" env:"DATE" help:"Time of that commit, as RFC 3339. Files in archives have it."`
}

func (r *release) name(ending string) string { return "lodestone-" + r.Version + "-" + ending }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	command := kong.Parse(&commands{}, kong.Name("lodestone-release"), kong.BindTo(ctx, (*context.Context)(nil)))
	err := command.Run()
	stop()
	command.FatalIfErrorf(err)
}
