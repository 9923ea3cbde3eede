package apachekafka

import "context"

// ClusterID is for tests.
func ClusterID(dir string) string { return clusterID(dir) }

// Probe asks whether the cluster's node serves at an address.
func (k *Cluster) Probe(ctx context.Context, address string) error {
	return k.probeAt(ctx, &node{}, address)
}
