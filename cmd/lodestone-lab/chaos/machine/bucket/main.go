// Command bucket is an S3 server with one bucket, as a process of its own that the chaos runner can kill. Its settings are
// variables of the environment, which are named below.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := serve(ctx, os.Getenv("BUCKET_DIR"), os.Getenv("BUCKET_NAME"), os.Getenv("BUCKET_LISTEN"))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bucket:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, dir, name, address string) error {
	root, sidecar := filepath.Join(dir, "objects"), filepath.Join(dir, "sidecar")
	if err := errors.Join(os.MkdirAll(filepath.Join(root, name), 0o700), os.MkdirAll(sidecar, 0o700)); err != nil {
		return err
	}
	metadata, err := meta.NewSideCar(sidecar)
	if err != nil {
		return err
	}
	backend, err := posix.New(root, metadata, posix.PosixOpts{SideCarDir: sidecar, Concurrency: 16})
	if err != nil {
		return err
	}
	return embedgw.RunVersityGW(ctx, backend, &embedgw.Config{
		RootUserAccess: os.Getenv("BUCKET_ACCESS_KEY"), RootUserSecret: os.Getenv("BUCKET_SECRET_KEY"), Region: "eu-central-1", Ports: []string{address},
		MaxConnections: 100, MaxRequests: 100, MultipartMaxParts: 10_000, Quiet: true,
	})
}
