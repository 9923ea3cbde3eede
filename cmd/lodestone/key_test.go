package main

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/auth"
	"lodestone/pkg/config"
)

// A key has every scope unless some are named, and then those alone.
func TestScopesOfACreatedKey(t *testing.T) {
	for flag, want := range map[string][]auth.Scope{
		"":                              auth.Scopes(),
		"--scopes=people":               {auth.People},
		"--scopes=read,people:privacy":  {auth.Read, auth.Privacy},
		"--scope=keys,people,webhooks":  {auth.Keys, auth.People, auth.Webhooks},
		"--scopes=people:privacy,leads": {auth.Privacy, auth.Leads},
	} {
		var cli commands
		parser, err := newParser(&cli, &config.Files{Getenv: func(string) string { return "" }})
		require.NoError(t, err)
		args := []string{"key", "create", "--account", uuid.NewString(), "--postgres-url", "postgres://u@127.0.0.1/x"}
		if flag != "" {
			args = append(args, flag)
		}
		_, err = parser.Parse(args)
		require.NoError(t, err, flag)
		require.Equal(t, want, cli.Key.Create.Scopes, flag)
	}
	// Each scope is one that can be named.
	for _, scope := range auth.Scopes() {
		var cli commands
		parser, err := newParser(&cli, &config.Files{Getenv: func(string) string { return "" }})
		require.NoError(t, err)
		_, err = parser.Parse([]string{"key", "create", "--account", uuid.NewString(), "--scopes", string(scope),
			"--postgres-url", "postgres://u@127.0.0.1/x"})
		require.NoError(t, err, scope)
		require.Equal(t, []auth.Scope{scope}, cli.Key.Create.Scopes)
	}
}
