package pdf

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Authors of public files on the web, and names like them.
func TestAnAuthorIsAPerson(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Ada Lovelace", "Ludwig van Beethoven", "van der Berg, Jan", "Jeanne d'Arc", "J. R. Tolkien",
		"Maria Sa", "Ludwig Mies van der Rohe",
		"Anne-Marie O’Brien", "GRACE HOPPER", "王 小明", "Иван Петров", "José María Aznar y López",
		"William Gates III", "Thomas Co",
	} {
		require.Equal(t, name, personOf(name))
	}
	for _, name := range []string{
		"the author", "the user", "TCPDF Group", "ISO Forms Production", "Nordkart AS",
		"DHBW International", "Jo Doe - www.example.com",
		"State Printing Office - ab", "Example XML Form Language group", "jdoe", "admin user", "Marketing Team",
		"Northwind Research GmbH", "OECD Paris", "Jo Doe (home)", "NORTHWIND INC.",
	} {
		require.Empty(t, personOf(name), name)
	}
}
