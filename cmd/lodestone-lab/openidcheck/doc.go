// Package openidcheck has no code. Its test signs in to the dashboard by the example of an OpenID
// provider of zitadel/oidc, which is certified, so that more than our own idea of a provider is
// tried.
package openidcheck
