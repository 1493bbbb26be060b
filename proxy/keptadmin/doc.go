// Package keptadmin is what operators see of answers that are kept by rule, and do with them:
//
//	Refresh     fetches answers again, or drops them      (refresh.go)
//	Statuses    reports the state of each rule            (status.go)
//
// Package cache/kept keeps the answers, and package proxy/response sends them. This package knows no server.
package keptadmin
