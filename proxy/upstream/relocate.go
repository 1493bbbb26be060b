package upstream

import (
	"net/http"
	"net/url"
	"strings"
)

// relocate makes addresses and cookies below the other server's base ones below this server's root. With the base
// https://old.example/osiris, Location: https://old.example/osiris/x becomes /x. Other sites stay.
func (p *Proxy) relocate(r *request, header http.Header) {
	for _, name := range []string{"Location", "Content-Location"} {
		at, own := header.Get(name), false
		for _, site := range []string{p.base.Scheme + "://" + p.base.Host, p.schemeOf(r) + "://" + p.options.Host} {
			if rest, found := strings.CutPrefix(at, site); found && !own {
				at, own = rest, true
			}
		}
		if path, below := p.relocated(at); below && (own || p.base.Path != "") {
			header.Set(name, path)
		}
	}
	for i, cookie := range header["Set-Cookie"] {
		header["Set-Cookie"][i] = p.relocatedCookie(r, cookie)
	}
}

// relocated returns what a path below the other server's base path is here, and whether it is below. It never begins
// with two slashes, or what browsers read as such: clients would read a host after them.
func (p *Proxy) relocated(path string) (here string, below bool) {
	rest, below := strings.CutPrefix(path, p.base.EscapedPath())
	return "/" + strings.TrimLeft(rest, "/\\\t"), below && (rest == "" || strings.IndexByte("/?#", rest[0]) >= 0)
}

// relocatedCookie returns a Set-Cookie header with the path that the cookie has here, and without a domain of the
// other server to which this one does not belong: browsers would refuse the cookie.
func (p *Proxy) relocatedCookie(r *request, cookie string) string {
	parts := strings.Split(cookie, ";")
	kept := parts[:1]
	for _, part := range parts[1:] {
		name, value, _ := strings.Cut(part, "=")
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "path":
			if here, below := p.relocated(value); below && p.base.Path != "" {
				part = " Path=" + here
			}
		case "domain":
			value = strings.ToLower(strings.TrimPrefix(value, "."))
			if belongs(p.options.Host, value) && !belongs(r.host, value) {
				continue
			}
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, ";")
}

// belongs reports whether a host, perhaps with a port, is in a domain.
func belongs(host, domain string) bool {
	u := url.URL{Host: strings.ToLower(host)}
	return u.Hostname() == domain || strings.HasSuffix(u.Hostname(), "."+domain)
}
