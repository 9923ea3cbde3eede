package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// npmCI installs the lock file's packages into dir. npm compares each with the lock's integrity
// hash; no script of a package is run.
func npmCI(ctx context.Context, dir string) error { return npmCIFor(ctx, dir) }

// npmCIFor does so with further flags, such as those of another machine.
func npmCIFor(ctx context.Context, dir string, flags ...string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return errors.New("npm was not found: install Node.js 20 or newer (it brings npm; on Debian and Ubuntu: apt install npm), or run the engine yourself and give its address")
	}
	flags = append([]string{"ci", "--ignore-scripts", "--include=optional", "--no-audit", "--no-fund",
		"--no-update-notifier", "--loglevel=error"}, flags...)
	cmd := exec.CommandContext(ctx, npm, flags...)
	cmd.Dir = dir
	cmd.WaitDelay = 2 * time.Second
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("npm ci failed (%w)%s:\n%s", err, npmRemedy(output.String()), lastLines(output.String(), 12))
	}
	return nil
}

func npmRemedy(output string) string {
	switch {
	case strings.Contains(output, "ENOSPC"):
		return ", the disk is full: free some space or give --engine-cache a directory on another disk"
	case strings.Contains(output, "EINTEGRITY"):
		return ", the package is not the one that was locked: do not use it, and tell us"
	case strings.Contains(output, "ENOTFOUND"), strings.Contains(output, "ECONNREFUSED"),
		strings.Contains(output, "ETIMEDOUT"), strings.Contains(output, "EAI_AGAIN"):
		return ", the package registry was not reached: check the network, or npm's own settings for a proxy or mirror"
	case strings.Contains(output, "E404"), strings.Contains(output, "E403"):
		return ", the registry that npm is set to does not offer the package"
	}
	return ""
}
