// Package auth establishes callers and what admits them: API keys, sessions, and the
// limits on requests and on wrong keys of one client (API.md: Authentication).
//
//	Authenticator  a request in, a Caller or an error out (authenticator.go)
//	sessions       tokens, cookies and the user header of a proxy (session.go)
//	ClientOptions  the address of a client behind proxies (client.go)
//	Secret         a configured key or token, compared in constant time (secret.go)
//	Limiter        how often a client may do something (limiter.go)
//	Redactor       keeps secrets out of the log (secret.go)
//
// What a caller may see is for rules/access to say. All types are safe for concurrent use.
package auth
