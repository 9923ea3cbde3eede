package landing

import (
	"encoding/json"

	"lodestone/crud/pdf"
	"lodestone/crud/picture"
)

const (
	// maxChapters is how many entries of a table of contents a page shows.
	maxChapters = 16
	// fewChapters is how many entries of the first level are a table of contents by themselves.
	fewChapters = 4
)

// chapter is a line of the table of contents.
type chapter struct {
	Title string
	Page  int
	Part  bool // of the one before
}

// contents returns the document's table of contents as the page shows it: its chapters, and their
// parts if there are few chapters.
func (o offered) contents() (list []chapter) {
	if !o.GenericLink.ShowContents || o.Outline == nil {
		return nil
	}
	var entries []pdf.Entry
	if err := json.Unmarshal(o.Outline, &entries); err != nil {
		return nil // a later release wrote it
	}
	chapters := 0
	for _, e := range entries {
		if e.Level == 1 {
			chapters++
		}
	}
	for _, e := range entries {
		if (e.Level == 1 || chapters < fewChapters) && len(list) < maxChapters {
			list = append(list, chapter{e.Title, e.Page, e.Level > 1})
		}
	}
	return list
}

// inside returns the pictures of inside pages as the page shows them.
func (o offered) inside() []picture.Picture {
	if !o.GenericLink.ShowPages {
		return nil
	}
	return o.pictures.Inside
}
