package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

type commands struct {
	Build  buildCommand  `cmd:"" help:"Build a release."`
	Key    keyCommand    `cmd:"" help:"Create the key that signs releases."`
	Audit  auditCommand  `cmd:"" help:"Check the licences of all dependencies, and look up known vulnerabilities where a database answers."`
	Verify verifyCommand `cmd:"" help:"Check the signatures and the checksums of a release."`
}

type buildCommand struct {
	Version  string    `required:"" help:"Number of the release, such as 0.1.0."`
	Commit   string    `required:"" help:"Hash of the commit that is built."`
	Date     time.Time `required:"" help:"Time of that commit, as RFC 3339. Files in archives have it."`
	Source   string    `default:"." type:"existingdir" help:"The checkout, with the front-ends built."`
	Out      string    `required:"" help:"Directory to write to."`
	Site     string    `default:".cache/site" help:"Directory of the site of the documentation."`
	Platform []string  `default:"linux/amd64,linux/arm64,darwin/amd64,darwin/arm64" help:"Platforms to build for."`
	Try      bool      `help:"Only check whether the number is that of the commit."`
	Key      string    `type:"existingfile" help:"Key of minisign that signs. Its password is in LODESTONE_RELEASE_PASSWORD."`
}

var number = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

// Run builds a release.
func (c buildCommand) Run(ctx context.Context) error {
	if !number.MatchString(c.Version) {
		return fmt.Errorf("%q is not the number of a release, such as 0.1.0 or 0.2.0-rc.1", c.Version)
	}
	if err := c.numbered(ctx); err != nil || c.Try {
		return err
	}
	fmt.Fprintf(os.Stderr, "building release %s from commit %s\n", c.Version, c.Commit)
	r := &release{Version: c.Version, Commit: c.Commit, Date: c.Date.UTC().Truncate(time.Second), Source: c.Source, Out: c.Out, Site: c.Site}
	for _, p := range c.Platform {
		system, processor, _ := strings.Cut(p, "/")
		r.Platforms = append(r.Platforms, platform{system, processor})
	}
	if err := r.build(ctx); err != nil {
		return err
	}
	if c.Key == "" {
		fmt.Fprintln(os.Stderr, "not signed: give --key (make release KEY=FILE)")
		return nil
	}
	return sign(c.Out, c.Key, password(), r.Version)
}

// numberFile has the number of the release that a commit is.
const numberFile = "pkg/build/VERSION"

// numbered checks that a number without a suffix is that of the commit, which is checked out: the
// same number must not name other bytes.
func (c buildCommand) numbered(ctx context.Context) error {
	if strings.Contains(c.Version, "-") {
		return nil
	}
	git := func(args ...string) string {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", c.Source}, args...)...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	if head := git("rev-parse", "--verify", "--quiet", "HEAD^{commit}"); head != c.Commit {
		return fmt.Errorf("the checkout is the commit %q, and not %s: check that out", head, c.Commit)
	}
	if committed := git("show", c.Commit+":"+numberFile); committed != c.Version {
		return fmt.Errorf("%s of this commit is %q, and not %s: build that number, commit another one in the file, or build %s-dev for a trial",
			numberFile, committed, c.Version, c.Version)
	}
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	command := kong.Parse(&commands{}, kong.Name("lodestone-release"), kong.BindTo(ctx, (*context.Context)(nil)))
	err := command.Run()
	stop()
	command.FatalIfErrorf(err)
}
