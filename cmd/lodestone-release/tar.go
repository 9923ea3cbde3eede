package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// item is a file of a tar archive, or a directory if its path ends with a slash.
type item struct {
	path  string
	text  []byte
	mode  int64
	owner int
}

// itemsBelow returns the files of a directory.
func itemsBelow(dir string) (items []item, err error) {
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file) //nolint:gosec // our own directory
		items = append(items, item{path: filepath.ToSlash(name), text: text, mode: 0o644})
		return err
	})
	return items, err
}

// writeTar writes items in the order of their paths, with all their directories, as of one time.
func writeTar(to io.Writer, items []item, date time.Time) error {
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.path, b.path) })
	w := tar.NewWriter(to)
	made := map[string]bool{"./": true, "/": true}
	for _, i := range items {
		var parents []string
		for dir := path.Dir(path.Clean(i.path)) + "/"; !made[dir]; dir = path.Dir(path.Clean(dir)) + "/" {
			made[dir] = true
			parents = append(parents, dir)
		}
		for _, dir := range slices.Backward(parents) {
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755, ModTime: date,
				Format: tar.FormatUSTAR}); err != nil {
				return err
			}
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: i.path, Mode: i.mode, Uid: i.owner, Gid: i.owner,
			Size: int64(len(i.text)), ModTime: date, Format: tar.FormatUSTAR}
		if h.Name[len(h.Name)-1] == '/' {
			h.Typeflag = tar.TypeDir
			made[h.Name] = true
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.Copy(w, bytes.NewReader(i.text)); err != nil {
			return err
		}
	}
	return w.Close()
}

func writeFile(name string, write func(io.Writer) error) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o644) //nolint:gosec // it is for everyone
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
