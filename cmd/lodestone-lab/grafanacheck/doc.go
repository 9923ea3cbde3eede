// Package grafanacheck has no code. Its tests read the dashboards of deploy/grafana by Grafana's
// own schema, and run each of their queries as the SQL user on known data, with Grafana's variables
// and the macros of its ClickHouse plugin filled in.
package grafanacheck
