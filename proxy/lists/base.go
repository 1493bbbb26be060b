package lists

import (
	"regexp"
	"strings"

	"vitrine/rules"
)

// hosts matches the Host headers that are accepted: a name, or an address in brackets, and a
// port.
var hosts = regexp.MustCompile(`^(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_.-]{1,255})(?::[0-9]{1,5})?$`)

// Base returns what the URLs of an answer begin with: the configured address, or else that
// of the request. The answer repeats the Host header, so one that names no host is refused.
func (l *Lists) Base(scheme, host string) (string, error) {
	switch {
	case l.o.BaseURL != "":
		return strings.TrimSuffix(l.o.BaseURL, "/"), nil
	case !hosts.MatchString(host):
		return "", &rules.Error{Kind: rules.ErrWrongCall, Where: "Host", Reason: "is no name or address of a host"}
	}
	return scheme + "://" + strings.ToLower(host), nil
}
