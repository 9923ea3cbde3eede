// Command lodestone-release makes a release from a checkout: programs for each platform, archives,
// packages, an image for containers, lists of what is in them, checksums and signatures. The same
// source and the same version of Go make the same bytes, wherever and whenever it runs. It is a
// module of its own, so that the product does not depend on what it needs.
package main
