package engine

// ClusterID is for tests.
func ClusterID(dir string) string { return clusterID(dir) }
