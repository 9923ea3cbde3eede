package picture

import (
	"context"
	"fmt"
	"image"
	"net/http"
	"time"

	"lodestone/crud/file"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
)

// ReceiveTimeout bounds a request that uploads a picture.
const ReceiveTimeout = time.Minute

// Rules returns the limits of an uploaded picture.
func Rules() file.UploadRules {
	return file.UploadRules{
		What: "the picture", Types: []string{"image/png", "image/jpeg", "image/webp", "image/gif"},
		MaxBytes: MaxBytes, Timeout: ReceiveTimeout,
	}
}

// ReceiveThumbnail returns the pictures derived from the one that an account's request carries.
// Errors are problems where the request is at fault.
func (t *Thumbnailer) ReceiveThumbnail(out http.ResponseWriter, r *http.Request) (Set, error) {
	return t.receive(out, r, ThumbnailBox, t.Thumbnails)
}

// ReceiveLogo is ReceiveThumbnail for a logo.
func (t *Thumbnailer) ReceiveLogo(out http.ResponseWriter, r *http.Request) (Set, error) {
	return t.receive(out, r, LogoBox, t.Logo)
}

func (t *Thumbnailer) receive(out http.ResponseWriter, r *http.Request, box Box,
	render func(context.Context, image.Image) (Set, error)) (Set, error) {
	if isSVGType(r.Header.Get("Content-Type")) {
		return nil, problem.Invalid(problem.Field{Field: file.UploadPart, Message: isSVG})
	}
	rules, account := Rules(), auth.From(r.Context()).AccountID
	rules.Intake = t.intake
	upload, err := rules.Receive(out, r, account)
	if err != nil {
		return nil, err
	}
	defer upload.Discard()
	pixels, err := t.Read(r.Context(), account, upload.Temp, box)
	if reason, invalid := IsInvalid(err); invalid {
		return nil, problem.Invalid(problem.Field{Field: file.UploadPart, Message: reason})
	}
	if err != nil {
		return nil, fmt.Errorf("receive picture: %w", err)
	}
	return render(r.Context(), pixels)
}
