// Package store holds SQL of Postgres. The queries are in query/; the code beside is
// generated from them and from the migrations.
//
// Queries of entities do not name the account: Pool.Account limits each of them to the rows of one
// account.
package store

//go:generate go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 generate
