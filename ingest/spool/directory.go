package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"lodestone/ingest/producer"
)

// sentDir, below the spool's own directory, holds segments that an operator has sent.
const sentDir = "sent"

// sendWithin bounds the wait for one acknowledgement of Kafka while an operator waits.
const sendWithin = 30 * time.Second

// Directory is a spool's directory that no collector is using. It is used from one goroutine.
type Directory struct {
	dir  string
	disk disk
	lock *flock.Flock
}

// File describes one segment.
type File struct {
	Name    string // relative to the directory
	Damaged int64  // bytes that fail their checksum
	Err     error  // why the file cannot be read; then nothing else is known

	data     []byte
	contents contents
}

// OpenDirectory locks a spool's directory. It fails while a collector uses it.
func OpenDirectory(dir string) (*Directory, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, errors.Join(fmt.Errorf("%s is not the directory of a spool", dir), err)
	}
	l, err := lock(dir)
	if err != nil {
		return nil, err
	}
	return &Directory{dir: dir, disk: realDisk{}, lock: l}, nil
}

// Close unlocks the directory.
func (d *Directory) Close() error { return d.lock.Unlock() }

// Names returns the names of all segments: those of the spool itself, those that Kafka refused,
// those that were moved aside because of damage, and those that were sent by Send, in this order
// and each oldest first.
func (d *Directory) Names() ([]string, error) {
	var all []string
	for _, folder := range []string{"", refusedDir, damagedDir, path.Join(refusedDir, damagedDir), sentDir} {
		names, err := segmentNames(d.disk, filepath.Join(d.dir, folder))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			all = append(all, path.Join(folder, name))
		}
	}
	return all, nil
}

// Read reads a segment. It changes nothing.
func (d *Directory) Read(name string) File {
	f := File{Name: name}
	f.Err = func() (err error) {
		folder, base := path.Split(name)
		stem, _, _ := strings.Cut(base, ".") // of several with one number, all but the first have another one behind it
		number, ok := segmentNumber(stem + segmentExtension)
		if !ok {
			return fmt.Errorf("%s is not the name of a segment", name)
		}
		if f.data, err = load(d.disk, d.path(name)); err != nil {
			return err
		}
		if laterFormat(f.data) {
			return errLaterFormat
		}
		var began position
		newest := false
		if folder == "" || folder == refusedDir+"/" { // the others have no position and grow no more
			if began, err = d.position(folder); err != nil {
				return err
			}
			names, err := segmentNames(d.disk, d.path(folder))
			if err != nil {
				return err
			}
			newest = len(names) > 0 && names[len(names)-1] == base
		}
		f.contents = assess(f.data, number, began, newest)
		return nil
	}()
	if f.Err != nil {
		return f
	}
	for _, s := range f.contents.damage {
		f.Damaged += s.to - s.from
	}
	return f
}

// Sent reports whether the file lies in the folder for files that Send has sent.
func (f *File) Sent() bool { return strings.HasPrefix(f.Name, sentDir+"/") }

func (d *Directory) path(name string) string { return filepath.Join(d.dir, filepath.FromSlash(name)) }

// position returns the position from which the collector continues.
func (d *Directory) position(folder string) (position, error) {
	data, err := load(d.disk, d.path(path.Join(folder, positionFile)))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) < 2*slotBytes {
		return position{}, nil
	}
	if err != nil {
		return position{}, fmt.Errorf("load read position: %w", err)
	}
	found, _ := latest(data)
	return found, nil
}

// Sent is the result of sending a file.
type Sent struct {
	Name    string
	Records int64  // that Kafka acknowledged
	Refused int64  // that Kafka refuses for good
	Now     string // name of the file afterwards
	Err     error  // why it stayed where it was
}

// Send sends the unsent records of a file to Kafka. A file whose sound records are all in Kafka is
// moved to the folder of sent files, so that it is not sent twice; any other stays, and is sent
// again from its beginning the next time, which the consumer recognises by the events' ids.
func (d *Directory) Send(ctx context.Context, f *File, kafka Writer) Sent {
	s := Sent{Name: f.Name, Now: f.Name, Err: f.Err}
	if s.Err != nil {
		return s
	}
	var records []producer.Record
	for _, e := range f.contents.unsent() {
		if records, s.Err = readPayload(records, f.data[e.from+entryHeader:e.to]); s.Err != nil {
			return s
		}
	}
	const batchSize = 500
	for batch := range slices.Chunk(records, batchSize) {
		if s.Err = s.send(ctx, batch, kafka); s.Err != nil {
			return s
		}
	}
	if s.Refused > 0 {
		return s
	}
	s.Now, s.Err = d.setAside(f)
	return s
}

// send sends records to Kafka, and counts those that it refuses for good.
func (s *Sent) send(ctx context.Context, records []producer.Record, kafka Writer) error {
	attempt, cancel := context.WithTimeout(ctx, sendWithin)
	err := kafka.Write(attempt, records)
	cancel()
	switch {
	case err == nil:
		s.Records += int64(len(records))
	case !refusedForGood(err):
		return err
	case len(records) == 1:
		s.Refused++
	default:
		half := len(records) / 2
		if err := s.send(ctx, records[:half], kafka); err != nil {
			return err
		}
		return s.send(ctx, records[half:], kafka)
	}
	return nil
}

func (d *Directory) setAside(f *File) (string, error) {
	if err := makeDir(d.disk, d.path(sentDir)); err != nil {
		return f.Name, fmt.Errorf("set aside what is sent: %w", err)
	}
	name, err := moveInto(d.disk, d.path(f.Name), d.path(sentDir))
	if err != nil {
		return f.Name, fmt.Errorf("set aside what is sent: %w", err)
	}
	return path.Join(sentDir, name), nil
}
