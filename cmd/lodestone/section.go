package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// sections of settings, in the help of commands with many and in docs/configuration.md: by what the
// names begin with, the first that fits.
var sections = []struct {
	title    string
	prefixes []string
}{
	{"Every process", []string{"log-", "admin-"}},
	{"Stores", []string{"postgres-", "kafka-", "clickhouse-"}},
	{"Site and API", []string{"listen", "tls-", "internal-", "trusted-", "forwarded-", "public-", "collector-url",
		"query-url", "token-", "url", "magnet-", "plan-", "api-", "auth-", "limit-", "rate-"}},
	{"Capture and mail", []string{"capture-", "smtp-", "mail-", "notice-"}},
	{"Webhooks", []string{"webhook-"}},
	{"Collector", []string{"collector-"}},
	{"Producer", []string{"producer-"}},
	{"Spool", []string{"spool-"}},
	{"Consumer", []string{"consumer-"}},
	{"Counter", []string{"counter-"}},
	{"SQL", []string{"sql-"}},
	{"Retention", []string{"retention-"}},
	{"Running check", []string{"verify-"}},
	{"Query", []string{"query-"}},
	{"Daily export", []string{"export-"}},
	{"Backups", []string{"backup-"}},
}

// sectionOf returns the index of the section of a setting, or -1.
func sectionOf(name string) int {
	for i, s := range sections {
		for _, prefix := range s.prefixes {
			if strings.HasPrefix(name, prefix) {
				return i
			}
		}
	}
	return -1
}

// groupedFrom is the number of flags from which the help of a command shows them in sections.
const groupedFrom = 20

// groupFlags puts the flags of commands with many into sections.
func groupFlags(k *kong.Kong) error {
	for _, command := range k.Model.Leaves(true) {
		if len(command.Flags) < groupedFrom {
			continue
		}
		for _, f := range command.Flags {
			if i := sectionOf(f.Name); i >= 0 {
				f.Group = &kong.Group{Key: sections[i].title, Title: sections[i].title + ":"}
			}
		}
	}
	return nil
}
