package markup

import (
	"net/url"
	"strings"

	"vitrine/rules"
)

// The prefixes of links in rendered citations that RewriteLinks replaces, and the paths
// that replace them below a base (API.md: all-activities, 4).
const (
	activityLink = "/activities/view"
	personLink   = "/profile"
	activityPath = "/activity"
	personPath   = "/person"
)

// LinkBases checks the path parameter of all-activities, the site that links point to,
// and returns the bases for RewriteLinks: path + "/activity" and path + "/person". The
// parameter is an http or https URL or a path; an empty one gives the portal's
// "/activity" and "/person". Any other value, and any character that is not allowed in
// a URL, is a wrong call.
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
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(base, "?#"):
		return "", "", rules.Wrongf("path", "", "a base has no user, query or fragment")
	}
	for i := 0; i < len(base); i++ {
		if !alnum(base[i]) && strings.IndexByte("-._~:/@!$&()*+,;=%[]", base[i]) < 0 {
			return "", "", rules.Wrongf("path", "", "character %q at offset %d is not allowed", base[i], i)
		}
	}
	return base + activityPath, base + personPath, nil
}

// RewriteLinks replaces the prefix of links to activities with activityBase and of links
// to persons with personBase. It changes href attributes only, not text or other
// attributes that look like a link. It escapes the bases for the attribute. html must
// be a result of Clean.
func RewriteLinks(html, activityBase, personBase string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(html); {
		lt := strings.IndexByte(html[i:], '<')
		if lt < 0 {
			break
		}
		i += lt
		end, href := linkTag(html, i)
		if href > 0 {
			if rest, base := linkTarget(html[href:end], activityBase, personBase); rest > 0 {
				b.WriteString(html[done:href])
				b.WriteString(Escape(base))
				done = href + rest
			}
		}
		i = end
	}
	if done == 0 {
		return html
	}
	b.WriteString(html[done:])
	return b.String()
}

// linkTag returns the end of the tag at html[at] and the start of its href's value, 0 if
// it has none.
func linkTag(html string, at int) (end, href int) {
	i := at + 1
	for i < len(html) && html[i] != '>' {
		c := html[i]
		if c != '\'' && c != '"' {
			i++
			continue
		}
		if href == 0 && strings.HasSuffix(html[at:i], " href=") {
			href = i + 1
		}
		n := strings.IndexByte(html[i+1:], c)
		if n < 0 {
			return len(html), 0
		}
		i += n + 2
	}
	return min(i+1, len(html)), href
}

// linkTarget returns the length of the prefix of an href's value to replace, and the base
// that replaces it.
func linkTarget(value, activityBase, personBase string) (int, string) {
	for _, l := range [...]struct{ from, to string }{{activityLink, activityBase}, {personLink, personBase}} {
		rest, ok := strings.CutPrefix(value, l.from)
		if ok && rest != "" && strings.IndexByte("/?#'\"", rest[0]) >= 0 {
			return len(l.from), l.to
		}
	}
	return 0, ""
}

// WebURL returns s as an absolute http or https URL for a link, or "" if it is none. It
// is not escaped for HTML.
func WebURL(s string) string {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return ""
	}
	return strings.ReplaceAll(u.String(), "'", "%27")
}

// PathSegment returns s escaped as one segment of a URL's path, or "" for "." and "..",
// which are no segments of their own.
func PathSegment(s string) string {
	if s == "." || s == ".." {
		return ""
	}
	return url.PathEscape(strings.ToValidUTF8(s, "\uFFFD"))
}
