// Package auth establishes callers and what admits them: API keys, sessions, and the
// limits on requests and on wrong keys of one client (API.md: Authentication).
//
//	Authenticator  a request in, a Caller or an error out (authenticator.go)
//	sessions       tokens, cookies and the user header of a proxy (session.go)
//	ClientOptions  the address of a client behind proxies (client.go)
//	Key            a configured key, compared in constant time (key.go)
//	Limiter        how often a client may do something (limiter.go)
//	Redactor       keeps keys out of the log (key.go)
//
// What a caller may see is for rules/access to say. All types are safe for concurrent use.
package auth
