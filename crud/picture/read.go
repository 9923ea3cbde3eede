package picture

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
)

// Limits of an uploaded picture.
const (
	MaxBytes    = 5 << 20
	maxPixels   = 50_000_000 // of a good camera
	maxSide     = 30_000
	minSide     = 16
	maxMemory   = 400_000_000 // bytes of a decoder: maxPixels of 16 bits a channel; scaling takes up to 200 million more
	readTimeout = 20 * time.Second
	maxReaders  = 1 // its memory is that of the server
)

// Box is the largest size of what Read returns; larger pictures are scaled down.
type Box struct{ Width, Height int }

// The boxes of thumbnails and of logos.
var (
	ThumbnailBox = Box{LargeWidth, 1600}
	LogoBox      = Box{640, 240}
)

// invalidError is about the picture. Its text completes a sentence that begins with "the file".
type invalidError struct{ reason string }

func (e *invalidError) Error() string { return e.reason }

// IsInvalid reports whether an error is about the picture, and then what is wrong with it, to
// complete a sentence that begins with its name.
func IsInvalid(err error) (reason string, yes bool) {
	if e, ok := errors.AsType[*invalidError](err); ok {
		return e.reason, true
	}
	return "", false
}

// Read returns the pixels of a picture of an account, turned upright by its EXIF orientation, and
// scaled down to fit a box. IsInvalid reports a file that is no such picture, is damaged, or takes
// too much to read. One picture is read at a time, and accounts take turns.
func (t *Thumbnailer) Read(ctx context.Context, owner uuid.UUID, file io.ReadSeeker,
	box Box) (_ *image.NRGBA, err error) {
	done, err := t.turns.Wait(ctx, owner)
	if err != nil {
		return nil, fmt.Errorf("wait to read picture: %w", err)
	}
	defer done()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read picture: %w", err)
	}
	content, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read picture: %w", err)
	}
	defer func() {
		if cause := recover(); cause != nil { // a decoder must not end the process
			t.log.Error("a picture decoder panicked", "account_id", owner, "panic", fmt.Sprint(cause),
				"stack", string(debug.Stack()))
			err = &invalidError{damaged}
		}
	}()
	defer debug.FreeOSMemory() // of the decoder: it may be most of what the process has
	limited, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	picture, invalid := t.decode(limited, content, box)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read picture: %w", ctx.Err())
	}
	if invalid != "" {
		return nil, &invalidError{invalid}
	}
	return picture, nil
}
