package email_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/email"
)

func TestCompany(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"ada@Acme.com": "acme.com", "ada@mail.acme.co.uk": "mail.acme.co.uk", "jo@käse.example": "käse.example",
		"ada@gmail.com": "", "ada@YAHOO.co.uk": "", "ada@gmx.net": "", "ada@web.de": "", "ada@live.nl": "",
		"ada@live.nation.com": "live.nation.com",
		"ada@livermore.com":   "livermore.com", "ada@web.design": "web.design",
	} {
		require.Equal(t, want, email.Company(address), address)
	}
}
