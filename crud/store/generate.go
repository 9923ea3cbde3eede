// Package store holds the SQL of the entities. The queries are in query/; the code beside is
// generated from them and from the migrations.
//
// No query names the account: Pool.Account limits every one of them to the rows of one account.
package store

//go:generate go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 generate
