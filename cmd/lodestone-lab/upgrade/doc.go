// Package upgrade has the test of an upgrade: the processes of the release before run beside those
// of this one, on one schema and under load, there and back again.
package upgrade
