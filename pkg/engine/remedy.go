package engine

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// remedies maps messages of an engine or the system to advice for a person.
var remedies = []struct{ message, remedy string }{
	{"No space left on device", "the disk is full: free some space, or choose another directory with --data"},
	{"Address already in use", portTaken},
	{directoryLocked, "another process uses this directory: stop it, or choose another directory with --data"},
	{serverLeft, "another PostgreSQL uses this directory: stop it, or choose another directory with --data"},
	{leftProcesses, "processes of an earlier PostgreSQL still run on this directory: they end within seconds, so try again"},
	{"has wrong ownership",
		"the directory was created by another user: start as that user, or choose another directory with --data"},
	{"Permission denied", "this user may not write there: choose another directory with --data"},
	{"database files are incompatible with server",
		"the data was written by another version: use that version, or choose another directory with --data"},
	{lostPassword, "the file passwords.json beside the data is not the one that belongs to the data: put that one back"},
	{"Illegal instruction",
		"the processor lacks an instruction that the engine needs (AVX2): run the engine elsewhere and give its address"},
	{"SIGILL", "the processor lacks an instruction that the engine needs (AVX2): run the engine elsewhere and give its address"},
	{"Cannot allocate memory", "the machine is out of memory: close other programs"},
}

// lostPassword is PostgreSQL's message when our own health check is refused.
const lostPassword = `password authentication failed for user "` + postgresSuperuser + `"`

// directoryLocked is ClickHouse's message while another server has its directory.
const directoryLocked = "Cannot lock file"

// serverLeft is PostgreSQL's message while another server has its directory.
const serverLeft = `lock file "postmaster.pid" already exists`

// leftProcesses is PostgreSQL's message while the child processes of a killed server still run.
const leftProcesses = "pre-existing shared memory block"

const portTaken = "its port is taken by another program: stop that one, or start again to get another port"

// remedyFor returns the remedy for a message, or "".
func remedyFor(message string) string {
	for _, r := range remedies {
		if strings.Contains(strings.ToLower(message), strings.ToLower(r.message)) {
			return r.remedy
		}
	}
	return ""
}

// explainFile adds the remedy to an error of the file system, if one is known.
func explainFile(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: the disk is full: free some space, or choose another directory with --data", err)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: this user may not write there: choose another directory with --data", err)
	}
	return err
}
