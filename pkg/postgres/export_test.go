package postgres

// WriteASCIIDomains is the migration of keys of addresses.
var WriteASCIIDomains = writeASCIIDomains
