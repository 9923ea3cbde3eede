//go:build long

package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/backup"
)

// A backup that lacks a document is complete otherwise: the check names the document.
// TestABackupWhileADocumentIsDeleted of the lab makes and restores one.
func TestACheckNamesDocumentsThatABackupLacks(t *testing.T) {
	t.Parallel()
	place, magnet := t.TempDir(), uuid.New()
	m := backup.Manifest{Version: 3, Name: "20261127T020000Z",
		Gone: []backup.Gone{{ID: uuid.New(), LeadMagnetID: magnet, Version: 3, Title: "The Guide"}}}
	text, err := json.Marshal(m)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(place, m.Name), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(place, m.Name, "manifest.json"), text, 0o600))
	sum := fmt.Sprintf("%x  manifest.json\n", sha256.Sum256(text))
	require.NoError(t, os.WriteFile(filepath.Join(place, m.Name, "manifest.json.sha256"), []byte(sum), 0o600))
	p := launch(t, place, nil, "backup", "check", place)
	require.Zero(t, p.wait(), "%s", p.out)
	require.Contains(t, p.out.String(), m.Name+" is complete")
	require.Contains(t, p.out.String(),
		`not in the backup, since it was deleted while the backup was made: version 3 of the document "The Guide" (lead magnet `+magnet.String()+`)`)
}
