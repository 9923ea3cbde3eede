// Package dbtcheck has no code. Its test runs dbt itself on the project of deploy/dbt, as the user
// that comes with it, on known data.
package dbtcheck
