package picture

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"strconv"

	"github.com/google/uuid"

	"lodestone/crud/sandbox"
)

// Limits of an uploaded picture.
const (
	MaxBytes    = 5 << 20
	maxPixels   = 50_000_000 // of a good camera
	maxSide     = 30_000
	minSide     = 16
	maxReaders  = 2
	readSeconds = 20 // processor time
)

// Box is the largest size of what Read returns; larger pictures are made smaller.
type Box struct{ Width, Height int }

// The boxes of thumbnails and of logos.
var (
	ThumbnailBox = Box{LargeWidth, 1600}
	LogoBox      = Box{640, 240}
)

// What the process that reads is told in its environment.
const (
	taskName      = "__read-picture"
	widthSetting  = "LODESTONE_PICTURE_WIDTH"
	heightSetting = "LODESTONE_PICTURE_HEIGHT"
)

// verdict is the first line of what the process that reads writes; then come the pixels.
type verdict struct {
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	Invalid string `json:"invalid,omitempty"`
}

// invalidError is about the picture. Its text completes a sentence that begins with "the file".
type invalidError struct{ reason string }

func (e *invalidError) Error() string { return e.reason }

// IsInvalid reports whether an error is about the picture, and then what is wrong with it, to complete
// a sentence that begins with its name.
func IsInvalid(err error) (reason string, yes bool) {
	if e, ok := errors.AsType[*invalidError](err); ok {
		return e.reason, true
	}
	return "", false
}

// Read returns the pixels of a picture of an account, upright as its camera said, made smaller to fit a box.
// IsInvalid tells of a file that is no such picture, is damaged, or takes too much to read.
func (w *Workshop) Read(ctx context.Context, owner uuid.UUID, file *os.File, box Box) (*image.NRGBA, error) {
	out, err := w.run.Run(ctx, owner, taskName, file,
		widthSetting+"="+strconv.Itoa(box.Width), heightSetting+"="+strconv.Itoa(box.Height))
	if err != nil && !sandbox.IsDead(err) {
		return nil, err
	}
	var v verdict
	in := bufio.NewReader(bytes.NewReader(out))
	line, lineErr := in.ReadSlice('\n')
	if err != nil || lineErr != nil || json.Unmarshal(line, &v) != nil {
		return nil, &invalidError{"could not be read within the limits of time and memory: send it smaller"}
	}
	if v.Invalid != "" {
		return nil, &invalidError{v.Invalid}
	}
	// Nothing is believed of a process that read what a stranger sent.
	if v.Width < 1 || v.Height < 1 || v.Width > box.Width || v.Height > box.Height {
		return nil, fmt.Errorf("read picture: unexpected size %d × %d", v.Width, v.Height)
	}
	picture := image.NewNRGBA(image.Rect(0, 0, v.Width, v.Height))
	if _, err := io.ReadFull(in, picture.Pix); err != nil {
		return nil, fmt.Errorf("read picture: %w", err)
	}
	return picture, nil
}
