package config

import (
	"maps"
	"slices"
	"strings"
)

// commands are those that were removed, and what to do instead.
var commands = map[string]string{
	"blank-again":        "make the erasures pending in Postgres (docs/privacy.md)",
	"erase":              "ask the API for POST /api/v1/people/erase (docs/privacy.md)",
	"export events":      byTheAPI,
	"export readers":     byTheAPI,
	"export submissions": byTheAPI,
	"restore status":     "ask Postgres for the table restored (docs/backup.md)",
}

const byTheAPI = "get the file from the API (docs/export.md)"

// removed are settings that were removed, and what to do instead.
var removed = map[string]string{
	"--kafka-oauth-scopes":                    noOAuth,
	"--kafka-oauth-token-path":                noOAuth,
	"--kafka-oauth-url":                       noOAuth,
	"--mcp-tls-cert":                          mcpProxy,
	"--mcp-tls-key":                           mcpProxy,
	"--mcp-tls-client-ca":                     mcpProxy,
	"--file-cache-bytes":                      "leave it out: files are read from the bucket",
	"--backup-keep-days":                      "leave it out: delete old backups, or set a lifecycle rule of the bucket (docs/backup.md)",
	"--incremental":                           "leave it out: every backup is whole",
	"--backup-s3-access-key":                  oneStore,
	"--backup-s3-endpoint":                    oneStore,
	"--backup-s3-region":                      oneStore,
	"--backup-s3-secret-key":                  oneStore,
	"--export-s3-access-key":                  oneStore,
	"--export-s3-endpoint":                    oneStore,
	"--export-s3-region":                      oneStore,
	"--export-s3-secret-key":                  oneStore,
	"--file-s3-access-key":                    oneStore,
	"--file-s3-endpoint":                      oneStore,
	"--file-s3-region":                        oneStore,
	"--file-s3-secret-key":                    oneStore,
	"--collector-address-requests-per-minute": atTheProxy,
	"--collector-max-connections-per-ip":      atTheProxy,

	"--consumer-block-age":         "use --consumer-batch-age",
	"--postgres-read-url":          "leave it out: Postgres at --postgres-url answers every read",
	"--plan-free-lead-magnets":     inPlans,
	"--plan-free-stored-bytes":     inPlans,
	"--plan-free-generic-links":    inPlans,
	"--plan-free-access-links":     inPlans,
	"--plan-free-events-per-month": inPlans,
	"--plan-pro-lead-magnets":      inPlans,
	"--plan-pro-stored-bytes":      inPlans,
	"--plan-pro-generic-links":     inPlans,
	"--plan-pro-access-links":      inPlans,
	"--plan-pro-events-per-month":  inPlans,
	"--plan-team-lead-magnets":     inPlans,
	"--plan-team-stored-bytes":     inPlans,
	"--plan-team-generic-links":    inPlans,
	"--plan-team-access-links":     inPlans,
	"--plan-team-events-per-month": inPlans,

	"--api-tls-ca":        ownAuthority,
	"--backup-s3-tls-ca":  ownAuthority,
	"--clickhouse-tls-ca": ownAuthority + ", and add secure=true to the parameters of --clickhouse-url",
	"--export-s3-tls-ca":  ownAuthority,
	"--file-s3-tls-ca":    ownAuthority,
	"--internal-tls-ca":   ownAuthority,
	"--kafka-tls-ca":      ownAuthority + ", and set --kafka-tls",
	"--openid-tls-ca":     ownAuthority,
	"--smtp-tls-ca":       ownAuthority,

	"--api-tls-cert":        noClientCertificate,
	"--api-tls-key":         noClientCertificate,
	"--backup-s3-tls-cert":  noClientCertificate,
	"--backup-s3-tls-key":   noClientCertificate,
	"--clickhouse-tls-cert": noClientCertificate,
	"--clickhouse-tls-key":  noClientCertificate,
	"--export-s3-tls-cert":  noClientCertificate,
	"--export-s3-tls-key":   noClientCertificate,
	"--file-s3-tls-cert":    noClientCertificate,
	"--file-s3-tls-key":     noClientCertificate,
	"--internal-tls-cert":   noClientCertificate,
	"--internal-tls-key":    noClientCertificate,
	"--kafka-tls-cert":      noClientCertificate,
	"--kafka-tls-key":       noClientCertificate,
	"--openid-tls-cert":     noClientCertificate,
	"--openid-tls-key":      noClientCertificate,
	"--smtp-tls-cert":       noClientCertificate,
	"--smtp-tls-key":        noClientCertificate,
}

const (
	noOAuth  = "log in to Kafka with plain, scram-sha-256, scram-sha-512 or aws-msk-iam"
	mcpProxy = "put a proxy with TLS before `lodestone mcp`"
)

const oneStore = "give it without the first word, such as --s3-endpoint: files, backups and exports are in one store"
const atTheProxy = "leave it out: limit what one address may send at the proxy or the firewall before the collector"

const inPlans = `give it in --plans, such as --plans '{"free": {"lead_magnets": 5}}'`

const (
	ownAuthority        = "name the file in the environment variable SSL_CERT_FILE instead"
	noClientCertificate = "leave it out: Lodestone logs in with user and password, not with a certificate (docs/tls.md)"
)

// RemovedCommand returns an error if the arguments begin with a removed command.
func RemovedCommand(args []string) error {
	for command, remedy := range commands {
		if strings.HasPrefix(strings.Join(args, " ")+" ", command+" ") {
			return InvalidFlag("lodestone "+command, "was removed", remedy)
		}
	}
	return nil
}

// Removed returns a problem for each removed setting that the arguments or the environment give.
func Removed(args []string, getenv func(string) string) (problems []*Problem) {
	all := maps.Clone(removed)
	for _, setting := range constants {
		all[setting] = "leave it out: it is a constant"
	}
	for setting, remedy := range all {
		isFlag := func(arg string) bool { return arg == setting || strings.HasPrefix(arg, setting+"=") }
		if slices.ContainsFunc(args, isFlag) || getenv(EnvName(setting)) != "" || getenv(EnvName(setting)+"_FILE") != "" {
			problems = append(problems, &Problem{Setting: setting, Wrong: "was removed", Remedy: remedy})
		}
	}
	slices.SortFunc(problems, func(a, b *Problem) int { return strings.Compare(a.Setting, b.Setting) })
	return problems
}
