// Package charttest has no code. Its tests render the Helm chart with Helm's own packages, decode
// every object strictly into its Kubernetes type, and compare the pods with the rules that all of
// them follow.
package charttest
