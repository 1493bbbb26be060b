package markup

import (
	"net/url"
	"strings"

	"vitrine/rules"
)

// The prefixes of citations' links, and the paths that replace them (openapi.json: GET /api/all-activities).
const (
	activityLink = "/activities/view"
	personLink   = "/profile"
	activityPath = "/activity"
	personPath   = "/person"
)

// LinkBases checks the path parameter of all-activities, the site that links point to, and returns the bases for
// RewriteLinks: path + "/activity" and path + "/person". The parameter is an http or https URL or a path; an empty
// one gives the portal's "/activity" and "/person". Any other value, and any character that is not allowed in a
// URL, is a wrong call. The checks are strict, because the base becomes part of every link of the answer: a client
// could otherwise make this server's answer lead to a script, or to another host by //host. Such answers may be
// kept.
func LinkBases(path string) (activity, person string, err error) {
	base := strings.TrimRight(path, "/")
	u, perr := url.Parse(base)
	switch {
	case perr != nil:
		return "", "", rules.Wrongf("path", "", "not a URL or path")
	case u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https":
		return "", "", rules.Wrongf("path", "", "scheme %q is not http or https", u.Scheme)
	case strings.HasPrefix(base, "//"):
		return "", "", rules.Wrongf("path", "", "a browser reads //… as a host")
	case (u.Scheme != "") != (u.Host != ""):
		return "", "", rules.Wrongf("path", "", "a URL needs a scheme and a host")
	case u.User != nil || strings.ContainsAny(base, "?#"):
		return "", "", rules.Wrongf("path", "", "a base has no user, query or fragment")
	}
	for i := 0; i < len(base); i++ {
		if !alnum(base[i]) && strings.IndexByte("-._~:/@!$&()*+,;=%[]", base[i]) < 0 {
			return "", "", rules.Wrongf("path", "", "character %q at offset %d is not allowed", base[i], i)
		}
	}
	return base + activityPath, base + personPath, nil
}

// RewriteLinks replaces the prefix of links to activities with activityBase and of links to persons with
// personBase. It changes only href attributes, not text or other attributes that look like a link. It escapes the
// bases for the attribute. html must be a result of Clean. /activities/view/5 with the base /portal/activity
// becomes /portal/activity/5; /activities/viewer stays, since the prefix must end where a segment does.
func RewriteLinks(html, activityBase, personBase string) string {
	return editLinks(html, func(address string) (size int, to string, keep bool) {
		for _, l := range [...]struct{ from, to string }{{activityLink, activityBase}, {personLink, personBase}} {
			rest, ok := strings.CutPrefix(address, l.from)
			if ok && (rest == "" || strings.IndexByte("/?#", rest[0]) >= 0) {
				return len(l.from), Escape(l.to), true
			}
		}
		return 0, "", true
	})
}

// editLinks calls edit with the address of each link as it is written. edit returns how many bytes to replace at
// the address's beginning, the replacement, and whether to keep the link. If a link is not kept, its content is.
// html must be a result of Clean. It looks for "<" and ">" alone, which is enough in a result of Clean: there
// attributes contain neither, and link elements are closed. It copies only if something changes.
func editLinks(html string, edit func(address string) (size int, to string, keep bool)) string {
	var out strings.Builder
	done := 0 // bytes of html already copied to out
	replace := func(from, to int, with string) {
		out.WriteString(html[done:from])
		out.WriteString(with)
		done = to
	}
	kept := make([]bool, 0, maxDepth) // for each open link, whether its start tag was kept
	for end := 0; ; {
		lt := strings.IndexByte(html[end:], '<')
		if lt < 0 {
			break
		}
		start := end + lt
		size := strings.IndexByte(html[start:], '>') + 1 // attributes do not contain ">"
		if size == 0 {
			break
		}
		end = start + size
		tag := html[start:end]
		if tag == "</a>" {
			last := len(kept) - 1
			if last >= 0 && !kept[last] {
				replace(start, end, "")
			}
			kept = kept[:max(last, 0)]
		} else if tag == "<a>" || strings.HasPrefix(tag, "<a ") {
			href := hrefOf(tag)
			if href == 0 { // an anchor, not a link
				kept = append(kept, true)
				continue
			}
			address, _, _ := strings.Cut(tag[href:], tag[href-1:href])
			size, to, keep := edit(address)
			if kept = append(kept, keep); !keep {
				replace(start, end, "")
			} else if size > 0 {
				replace(start+href, start+href+size, to)
			}
		}
	}
	if done == 0 {
		return html
	}
	out.WriteString(html[done:])
	return out.String()
}

// hrefOf returns the offset of the value of a tag's href, or 0. It skips quoted values, so that title=' href=' is
// no address.
func hrefOf(tag string) int {
	for i := 0; i < len(tag); i++ {
		if quote := tag[i]; quote == '\'' || quote == '"' {
			if strings.HasSuffix(tag[:i], " href=") {
				return i + 1
			}
			i += strings.IndexByte(tag[i+1:], quote) + 1
		}
	}
	return 0
}

// IsLink accepts http, https, and a path from the root of the site. Other addresses could run a script. // and /\
// begin a host for browsers.
func IsLink(address string) bool {
	return isAbsolute(address) || strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "//") &&
		!strings.HasPrefix(address, `/\`)
}

// isAbsolute reports whether an address has a host.
func isAbsolute(address string) bool {
	return strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
}

// WebURL returns s as an absolute http or https URL for a link, or "" for other text. The URL is not escaped for
// HTML. An apostrophe is escaped, because url.URL leaves it and attributes may stand in single quotes.
func WebURL(s string) string {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return ""
	}
	return strings.ReplaceAll(u.String(), "'", "%27")
}

// PathSegment escapes s for a URL's path. "." and ".." become "", because browsers resolve them.
func PathSegment(s string) string {
	if s == "." || s == ".." {
		return ""
	}
	return url.PathEscape(strings.ToValidUTF8(s, "\uFFFD"))
}
