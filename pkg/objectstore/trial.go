package objectstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/minio/minio-go/v7"
)

// Use is something that a program does with the objects of a place.
type Use string

// The uses that Try tries. Removal of old versions is for buckets that keep them.
const (
	Write          Use = "write"
	Read           Use = "read"
	List           Use = "list"
	Remove         Use = "remove"
	RemoveVersions Use = "remove versions"
)

// rights are what S3 calls the right to a use.
var rights = map[Use]string{Write: "s3:PutObject", Read: "s3:GetObject", List: "s3:ListBucket", Remove: "s3:DeleteObject", RemoveVersions: "s3:DeleteObjectVersion"}

// Refusal is a use that a store does not allow, or that failed.
type Refusal struct {
	Use    Use
	Wrong  string // without its keys
	Remedy string
}

const removeTimeout = 5 * time.Second

// trialText is what the object of a trial has.
const trialText = "lodestone doctor"

// Try writes a small object to a place, reads it, lists it and removes it, and returns what failed. The place is that of a setting, and the
// settings of the store have names with a prefix. What cannot be removed again is named.
func (c Config) Try(ctx context.Context, prefix, setting string, at Location) (refused []Refusal, err error) {
	client, err := c.Open()
	if err != nil {
		return nil, err
	}
	t := trial{client: client, at: at, key: at.Prefix + ".doctor-" + uuid.NewString(), prefix: prefix, setting: setting}
	written, err := client.PutObject(ctx, at.Bucket, t.key, strings.NewReader(trialText), int64(len(trialText)), minio.PutObjectOptions{ContentType: "text/plain"})
	if err != nil {
		return []Refusal{t.refusal(Write, err)}, nil
	}
	note := func(use Use, err error) {
		if err != nil {
			refused = append(refused, t.refusal(use, err))
		}
	}
	note(Read, t.read(ctx))
	note(List, t.list(ctx))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout) // also if the caller gives up
	defer cancel()
	note(Remove, t.remove(ctx))
	if written.VersionID != "" {
		note(RemoveVersions, t.removeVersions(ctx))
	}
	return refused, nil
}

// trial is an object that is written to see whether that works.
type trial struct {
	client          *minio.Client
	at              Location
	key             string
	prefix, setting string
}

func (t *trial) read(ctx context.Context) error {
	object, err := t.client.GetObject(ctx, t.at.Bucket, t.key, minio.GetObjectOptions{})
	if err != nil {
		return err
	}
	text, err := io.ReadAll(object)
	_ = object.Close() // it was only read
	if err == nil && !bytes.Equal(text, []byte(trialText)) {
		err = errors.New("the object has other bytes than were written")
	}
	return err
}

func (t *trial) list(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx) // ends the listing
	defer cancel()
	for o := range t.client.ListObjects(ctx, t.at.Bucket, minio.ListObjectsOptions{Prefix: t.key}) {
		if o.Err != nil || o.Key == t.key {
			return o.Err
		}
	}
	return errors.New("the object is not listed")
}

func (t *trial) remove(ctx context.Context) error {
	return t.client.RemoveObject(ctx, t.at.Bucket, t.key, minio.RemoveObjectOptions{})
}

// removeVersions removes the object's versions, and the note that it was removed.
func (t *trial) removeVersions(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx) // ends the listing
	defer cancel()
	for o := range t.client.ListObjects(ctx, t.at.Bucket, minio.ListObjectsOptions{Prefix: t.key, WithVersions: true}) {
		if o.Err != nil {
			return o.Err
		}
		if err := t.client.RemoveObject(ctx, t.at.Bucket, o.Key, minio.RemoveObjectOptions{VersionID: o.VersionID}); err != nil {
			return err
		}
	}
	return nil
}

// refusal explains an error of the store.
func (t *trial) refusal(use Use, err error) Refusal {
	place := "s3://" + t.at.Bucket + "/" + t.at.Prefix
	store := "--" + t.prefix + "s3-"
	r := Refusal{Use: use}
	switch answer := minio.ToErrorResponse(err); answer.Code {
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidTokenId", "ExpiredToken":
		r.Wrong, r.Remedy = "the store does not accept the keys ("+answer.Code+")", "correct "+store+"access-key and "+store+"secret-key"
	case minio.NoSuchBucket:
		r.Wrong, r.Remedy = "the bucket "+t.at.Bucket+" does not exist", "create it, or name another one in "+t.setting
	case minio.AccessDenied:
		r.Wrong, r.Remedy = fmt.Sprintf("the keys may not %s in %s", use, place), fmt.Sprintf("grant them %s on the bucket and its objects, or correct %saccess-key", rights[use], store)
	case "RequestTimeTooSkewed":
		r.Wrong, r.Remedy = "the clock of the store differs from the one here", "let a client of NTP run on both machines"
	case "AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException":
		r.Wrong, r.Remedy = "the bucket "+t.at.Bucket+" is in another region ("+answer.Code+")", "correct "+store+"region, or leave it out"
	case "":
		r.Wrong, r.Remedy = fmt.Sprintf("the store does not answer (%v)", err), "start the store, or correct "+store+"endpoint"
	default:
		r.Wrong, r.Remedy = fmt.Sprintf("the store does not %s in %s (%s: %v)", use, place, answer.Code, err), "see the log of the store, and docs/operations.md, files in a bucket"
	}
	if use == Remove || use == RemoveVersions {
		r.Wrong += fmt.Sprintf("; s3://%s/%s stays", t.at.Bucket, t.key)
		r.Remedy += "; then remove that object"
	}
	return r
}
