// Package bot tells crawlers, link scanners and other programs that open links by themselves from
// people. Plain HTTP libraries are none of them: servers send events too.
package bot

// Request is what a classification looks at.
type Request struct {
	UserAgent []byte
}
