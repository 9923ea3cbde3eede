package main

import (
	"bytes"
	"compress/gzip"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/coreos/go-systemd/v22/unit"
	"github.com/stretchr/testify/require"
)

// processes have a unit of systemd each.
var processes = []string{"migrate", "collector", "consumer", "query", "crud"}

// directives are those that the units may have, by section, and their values. systemd ignores a
// misspelt one with no more than a line in the log, so a process would run without that protection.
var directives = map[string]map[string]string{
	"Unit": {
		"Description": `Lodestone: .+`, "Documentation": `man:lodestone\(1\)`, "After": `network-online\.target`,
		"Wants": `network-online\.target`,
	},
	"Service": {
		"ExecStart": `/usr/bin/lodestone [a-z]+`, "EnvironmentFile": `-?/etc/lodestone/[a-z]+\.env`,
		"Environment":    `(LODESTONE_[A-Z_]+=[^ "]+ ?)+`,
		"StateDirectory": `lodestone-[a-z]+`, "StateDirectoryMode": `0700`, "UMask": `0077`,
		"Type": `oneshot`, "Restart": `always`, "RestartSec": `\d+`, "RestartPreventExitStatus": `2`, "LimitNOFILE": `\d+`,
		"TimeoutStopSec": `\d+`, "TimeoutStartSec": `infinity`,
		"ProtectSystem": `strict`, "ProtectProc": `invisible`, "ProcSubset": `pid`,
		"CapabilityBoundingSet": ``, "AmbientCapabilities": ``, "RestrictAddressFamilies": `AF_INET AF_INET6 AF_UNIX`,
		"SystemCallArchitectures": `native`, "SystemCallFilter": `~?@[a-z-]+`, "SystemCallErrorNumber": `EPERM`,
		"DynamicUser": `yes`, "SupplementaryGroups": `lodestone`, "NoNewPrivileges": `yes`, "ProtectHome": `yes`,
		"PrivateTmp": `yes`, "PrivateDevices": `yes`, "PrivateUsers": `yes`, "ProtectClock": `yes`,
		"ProtectHostname": `yes`, "ProtectKernelLogs": `yes`, "ProtectKernelModules": `yes`, "ProtectKernelTunables": `yes`,
		"ProtectControlGroups": `yes`,
		"LockPersonality":      `yes`, "RestrictNamespaces": `yes`, "RestrictRealtime": `yes`,
		"RestrictSUIDSGID": `yes`, "RemoveIPC": `yes`,
	},
	"Install": {"WantedBy": `multi-user\.target`},
}

// repeated are the directives that have several lines; of others, only the last one counts.
var repeated = map[string]bool{"EnvironmentFile": true, "SystemCallFilter": true}

// The units name commands, settings, manual pages and files that are there, and all processes are
// protected alike.
func TestUnits(t *testing.T) {
	z, err := gzip.NewReader(bytes.NewReader(readFile(t, filepath.Join(releases(t)[0], archiveName("tar.gz")))))
	require.NoError(t, err)
	dir := t.TempDir()
	unpack(t, z, dir)
	root := filepath.Join(dir, strings.TrimSuffix(archiveName("tar.gz"), ".tar.gz"))
	files, err := filepath.Glob(filepath.Join(root, "lib/systemd/system/*"))
	require.NoError(t, err)
	require.Len(t, files, len(processes))
	help := map[string]string{}
	for _, name := range processes {
		out, err := exec.CommandContext(t.Context(), filepath.Join(root, "bin/lodestone"), name, "--help").Output()
		require.NoError(t, err)
		help[name] = string(out)
	}
	var protections [][]string
	addresses := map[string]string{}
	for _, name := range processes {
		file := "lib/systemd/system/lodestone-" + name + ".service"
		options, err := unit.DeserializeOptions(bytes.NewReader(readFile(t, filepath.Join(root, file))))
		require.NoError(t, err, file)
		values := map[string]string{}
		var protection []string
		for _, o := range options {
			form, known := directives[o.Section][o.Name]
			require.True(t, known,
				"%s: [%s] has %s, which is no directive that the test knows: add it, if systemd.exec(5) and the like have it", file,
				o.Section, o.Name)
			require.Regexp(t, "^("+form+")$", o.Value, "%s: %s", file, o.Name)
			_, twice := values[o.Name]
			require.False(t, twice && !repeated[o.Name], "%s has %s twice", file, o.Name)
			values[o.Name] = strings.TrimSpace(values[o.Name] + " " + o.Value)
			if !perUnit[o.Name] && o.Section == "Service" {
				protection = append(protection, o.Name+"="+o.Value)
			}
		}
		protections = append(protections, protection)
		require.Equal(t, "/usr/bin/lodestone "+name, values["ExecStart"])
		require.FileExists(t, filepath.Join(root, "share/man/man1/lodestone.1"))
		require.Equal(t, "/etc/lodestone/lodestone.env -/etc/lodestone/"+name+".env", values["EnvironmentFile"])
		for setting := range strings.FieldsSeq(values["Environment"]) {
			variable, value, _ := strings.Cut(setting, "=")
			require.Contains(t, help[name], flagOf(variable), "%s sets %s", file, variable)
			if path, isPath := strings.CutPrefix(value, "/var/lib/"); isPath {
				require.True(t, strings.HasPrefix(path, values["StateDirectory"]+"/"),
					"%s: %s is outside of the state directory, and cannot be written", file, value)
			}
			if strings.HasPrefix(value, "127.0.0.1:") {
				require.Empty(t, addresses[value], "two processes listen at %s", value)
				addresses[value] = name
			}
		}
		require.Equal(t, name != "migrate", values["WantedBy"] != "", file)
	}
	for i, p := range protections {
		require.Equal(t, protections[0], p, "%s is not protected as %s is", processes[i], processes[0])
	}

	// Each process can read the secrets of the group.
	require.Contains(t, protections[0], "SupplementaryGroups=lodestone")
	require.Regexp(t, `(?m)^g lodestone -$`, string(readFile(t, filepath.Join(root, "lib/sysusers.d/lodestone.conf"))))

	settings := string(readFile(t, filepath.Join(root, "etc/lodestone/lodestone.env")))
	named := regexp.MustCompile(`(?m)^#(LODESTONE_[A-Z_]+)=`).FindAllStringSubmatch(settings, -1)
	require.Greater(t, len(named), 8)
	for _, m := range named {
		found := false
		for _, text := range help {
			found = found || strings.Contains(text, flagOf(m[1]))
		}
		require.True(t, found, "lodestone.env has %s, which no process knows", m[1])
	}
}

// perUnit are the directives in which the processes differ.
var perUnit = map[string]bool{
	"ExecStart": true, "EnvironmentFile": true, "Environment": true, "StateDirectory": true, "StateDirectoryMode": true,
	"Type": true, "Restart": true, "RestartSec": true,
	"RestartPreventExitStatus": true, "LimitNOFILE": true, "TimeoutStopSec": true, "TimeoutStartSec": true,
}

// flagOf is the flag of a setting's variable, as the help shows it.
func flagOf(variable string) string {
	return "--" + strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(variable, "LODESTONE_")), "_", "-")
}
