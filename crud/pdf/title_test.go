package pdf

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATitleIsForReaders(t *testing.T) {
	t.Parallel()
	for _, title := range []string{
		"The Onboarding Playbook", "Größe zählt", "Report on 2026", "指南：入门", "Onboarding", "10 tips for you",
		"What is a .docx file?", "GPT-4 in practice",
	} {
		require.Equal(t, title, titleOf(" "+title+"\n"))
	}
	for _, title := range []string{
		"", "-", "ab", "untitled", "Untitled-1", "Untitled document (2)", "Microsoft Word - Guide v3.docx", "guide.pdf",
		"My Guide FINAL.indd", "my_guide_v3", "DOC20260131", "PowerPoint-Präsentation", "Sans titre 1", "Document1",
		"https://example.com/guide", "12345",
	} {
		require.Empty(t, titleOf(title), title)
	}
}
