package picture

import (
	"context"
	"fmt"
	"image"

	"lodestone/crud/sandbox"
	"lodestone/crud/upload"
)

// Workshop reads uploaded pictures (PNG, JPEG, WebP, and the first image of a GIF), and makes those that
// are served. It is safe for concurrent use: two pictures are read at a time, and two are made; the others
// wait, so that memory is bounded.
type Workshop struct {
	run    *sandbox.Runner
	intake *upload.Intake
	slots  chan struct{}
}

// NewWorkshop returns a workshop that receives pictures within an intake. The program's main function must begin with Main, or every picture
// is taken for invalid.
func NewWorkshop(intake *upload.Intake) (*Workshop, error) {
	run, err := sandbox.New(maxReaders)
	if err != nil {
		return nil, err
	}
	return &Workshop{run: run, intake: intake, slots: make(chan struct{}, maxReaders)}, nil
}

// Thumbnails returns the thumbnails of a page or an uploaded picture, and the preview with it. What is
// transparent becomes white.
func (w *Workshop) Thumbnails(ctx context.Context, original image.Image) (Set, error) {
	return w.make(ctx, original, makeThumbnails)
}

// Logo returns the logo made of an uploaded picture, which keeps what is transparent.
func (w *Workshop) Logo(ctx context.Context, original image.Image) (Set, error) {
	return w.make(ctx, original, makeLogo)
}

func (w *Workshop) make(ctx context.Context, original image.Image, fn func(image.Image) (Set, error)) (Set, error) {
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-ctx.Done():
		return nil, fmt.Errorf("wait to make pictures: %w", ctx.Err())
	}
	return fn(original)
}
