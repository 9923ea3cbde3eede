// Package composecheck has no code. Its tests run Docker Compose itself on the file
// docker-compose.yml, against an engine that stands in for Docker's and applies the rules by which
// Docker refuses to create a container.
package composecheck
