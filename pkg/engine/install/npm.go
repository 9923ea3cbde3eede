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
func npmCI(ctx context.Context, dir string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return errors.New("npm was not found: install Node.js 20 or newer (it brings npm; on Debian and Ubuntu: apt install npm), or run the engine yourself and give its address")
	}
	cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--include=optional", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
	cmd.Dir = dir
	cmd.WaitDelay = 2 * time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("npm ci failed (%w)%s: it said\n%s", err, npmRemedy(said.String()), lastLines(said.String(), 12))
	}
	return nil
}

func npmRemedy(said string) string {
	switch {
	case strings.Contains(said, "ENOSPC"):
		return ", the disk is full: make room or give --engine-cache a directory on another disk"
	case strings.Contains(said, "EINTEGRITY"):
		return ", the package is not the one that was locked: do not use it, and tell us"
	case strings.Contains(said, "ENOTFOUND"), strings.Contains(said, "ECONNREFUSED"), strings.Contains(said, "ETIMEDOUT"), strings.Contains(said, "EAI_AGAIN"):
		return ", the package registry was not reached: check the network, or npm's own settings for a proxy or mirror"
	case strings.Contains(said, "E404"), strings.Contains(said, "E403"):
		return ", the registry that npm is set to does not offer the package"
	}
	return ""
}
