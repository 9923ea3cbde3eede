//go:build tools

package composecheck

import _ "github.com/docker/compose/v5/cmd"
