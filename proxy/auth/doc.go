// Package auth identifies and admits callers: API keys, sessions, and the limits on requests
// and on wrong keys of one client (docs/decisions.md: Keys and sessions).
//
//	Authenticator  a request in, a Caller or an error out (authenticator.go)
//	sessions       tokens, cookies and the user header of a proxy (session.go)
//	ClientOptions  the address of a client behind proxies (client.go)
//	Key            a named key and its limits (key.go)
//	Secret         a configured key or token, compared in constant time (secret.go)
//	Limiter        how often a client may do something (limiter.go)
//	Redactor       keeps secrets out of the log (secret.go)
//
// Package rules/access decides what a caller may see. All types are safe for concurrent use.
package auth
