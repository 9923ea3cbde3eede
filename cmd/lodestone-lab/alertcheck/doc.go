// Package alertcheck tests the alerts of deploy/prometheus with Prometheus' own packages: the
// series of a fault must raise its alert and no other, and the series of a healthy installation
// none.
package alertcheck
