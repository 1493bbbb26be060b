package identifier

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DOI returns the DOI in s, or "" if s is something else. s may be an address of the resolver doi.org, or begin
// with a label such as "doi:" or "info:doi/". Of an address it decodes the escapes once and drops blanks, a slash
// at the end, a fragment, and what trackers add. Without an address it decodes none, because a DOI may contain "%"
// and "?". "https://dx.doi.org/10.5555/Owl.1?utm_source=x" and "doi: 10.5555/Owl.1" are 10.5555/Owl.1.
func DOI(s string) string {
	if s = Bare(s); isDOI(s) {
		return s
	}
	return ""
}

// Bare returns s without a resolver's address or a label, as DOI does, but without a check of the rest. The steps:
// what stands around it goes, then label and address, then what another identifier behind it begins. Only of an
// address are the escapes decoded and the extras cut.
func Bare(s string) string {
	if isPlainDOI(s) {
		return s
	}
	s, closing := unwrap(tidy(s))
	rest, address := cutResolver(s)
	if rest = unescape(upToNext(rest)); !address {
		return strings.TrimSpace(strings.TrimSuffix(rest, closing))
	}
	rest = strings.TrimSuffix(strings.ReplaceAll(rest, " ", ""), closing)
	rest = strings.TrimRight(withoutExtras(rest), "/")
	rest, _ = cutResolver(unescape(strings.ReplaceAll(tidy(decode(rest)), " ", "")))
	return rest
}

// DOIAddress returns the address of a DOI, or "" if doi is "". It is escaped once for URLs; it is not escaped for
// HTML, but has no quotes. 10.5555/<a>#1 has the address https://doi.org/10.5555/%3Ca%3E%231.
func DOIAddress(doi string) string {
	if doi == "" {
		return ""
	}
	address := "https://doi.org/" + (&url.URL{Path: doi}).EscapedPath()
	if strings.IndexByte(address, '%') >= 0 { // a Replacer always allocates
		address = readable.Replace(address)
	}
	return address
}

// readable reverses escapes, so that the brackets and signs of old DOIs stay readable.
var readable = strings.NewReplacer("%21", "!", "%28", "(", "%29", ")", "%2A", "*")

// DOIKey returns a text that is equal for equal DOIs. These compare without regard to the case of ASCII letters,
// and of no others (DOI Handbook, 3.4.4). It is for comparing alone: pages show the DOI with the capitals that its
// registrant has chosen.
func DOIKey(doi string) string {
	for i := range len(doi) {
		if 'A' <= doi[i] && doi[i] <= 'Z' {
			key := []byte(doi)
			for ; i < len(key); i++ {
				key[i] = lower(key[i])
			}
			return string(key)
		}
	}
	return doi
}

// isDOI reports whether s is "10.", a registrant's number, a slash and a suffix of graphic characters without
// blanks. The suffix has no other rules, and old ones have brackets, semicolons and angle brackets.
func isDOI(s string) bool {
	n := registrant(s)
	if n == 0 || n == len(s) {
		return false
	}
	for _, r := range s[n:] {
		noncharacter := r == utf8.RuneError || r&0xfffe == 0xfffe
		if r <= ' ' || noncharacter || r >= 0x7f && (unicode.IsControl(r) || unicode.IsSpace(r)) {
			return false
		}
	}
	return true
}

// registrant returns the length of the part of a DOI up to its first slash, such as "10.1000.10/", or 0. The number
// has at least four digits today; nine leave room. Parts after a dot are subdivisions.
func registrant(s string) int {
	if !strings.HasPrefix(s, "10.") {
		return 0
	}
	end := strings.IndexByte(s, '/')
	if end < 0 {
		return 0
	}
	for part, rest, more := "", s[len("10."):end], true; more; {
		first := len(rest) == end-len("10.")
		part, rest, more = strings.Cut(rest, ".")
		if part == "" || strings.Trim(part, "0123456789") != "" || first && (len(part) < 4 || len(part) > 9) {
			return 0
		}
	}
	return end + 1
}

// isPlainDOI reports whether Bare has nothing to do, as for nearly all records. An ampersand may begin an escape;
// all other cases begin with something else or have a blank.
func isPlainDOI(s string) bool {
	if !strings.HasPrefix(s, "10.") {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f || s[i] == '&' {
			return false
		}
	}
	return true
}

// cutResolver cuts labels and resolvers' addresses, also repeated, from the beginning of s. address is whether one
// was an address, whose rest is escaped. People paste addresses behind addresses,
// "https://doi.org/https://doi.org/10.5555/owl.1", so it goes on until nothing is left to cut.
func cutResolver(s string) (rest string, address bool) {
	for {
		host, http := cutSchemes(s)
		name, _ := cutFold(strings.TrimPrefix(host, "//"), "www.")
		name, _ = cutFold(name, "dx.")
		if after, found := cutFold(name, "doi.org"); found && after != "" && strings.IndexByte(":/ ", after[0]) >= 0 {
			s, address = strings.TrimLeft(after, ":/ "), true
		} else if http && (registrant(host) > 0 || hasFold(host, "doi:")) {
			s, address = host, true
		} else if after, found := cutFold(s, "info:doi/"); found { // an address, too (RFC 4452)
			s, address = strings.TrimLeft(after, " "), true
		} else if after, found := cutLabel(s); found {
			s = after
		} else {
			return s, address
		}
	}
}

// labels are what stands before a DOI that is no address.
var labels = []string{"urn:doi:", "digital object identifier", "doi"}

// cutLabel cuts one label and the signs behind it, a full-width colon among them.
func cutLabel(s string) (after string, found bool) {
	for _, label := range labels {
		if after, found = cutFold(s, label); found {
			return strings.TrimLeft(after, ":=/. \uff1a"), true
		}
	}
	return s, false
}

// brackets are pairs that texts have around an identifier. None of them begins one.
var brackets = map[byte]string{'<': ">", '(': ")", '[': "]", '{': "}", '"': `"`, '\'': "'"}

// unwrap returns s without a bracket at its beginning, and the one that then belongs to its end. A bracket at the
// end alone stays, because a DOI may end with one.
func unwrap(s string) (inner, closing string) {
	if s == "" || brackets[s[0]] == "" {
		return s, ""
	}
	return s[1:], brackets[s[0]]
}

// unescape replaces the escapes that publishers' XML leaves in old DOIs, such as those of the SICI. SICI:
// 10.1002/(SICI)1097&lt;1::AID&gt;2.0 has been stored as &lt;, and sometimes as &amp;lt;.
func unescape(s string) string {
	if strings.IndexByte(s, '&') < 0 {
		return s
	}
	return escapes.ReplaceAllStringFunc(s, func(escape string) string {
		switch escape[len(escape)-3:] {
		case "lt;":
			return "<"
		case "gt;":
			return ">"
		}
		return "&"
	})
}

// escapes matches an escape, also one that was escaped itself.
var escapes = regexp.MustCompile(`&(?:amp;)*[lg]t;|&(?:amp;)+`)

// upToNext returns s without what follows a blank and begins another identifier, or names the kind of the first
// one, as PubMed does in "10.5555/owl.1 [doi]". A DOI has no blank, yet what follows one may belong to it, when a
// line was broken; so it is cut only before what begins anew.
func upToNext(s string) string {
	for at := strings.IndexByte(s, ' ') + 1; at > 0; {
		if beginsIdentifier(s[at:]) {
			return strings.TrimRight(s[:at], " ,;")
		}
		next := strings.IndexByte(s[at:], ' ') + 1
		if at += next; next == 0 {
			break
		}
	}
	return s
}

// beginsIdentifier reports whether a text begins like an identifier or an address.
func beginsIdentifier(s string) bool {
	for _, word := range []string{"http:", "https:", "doi", "info:", "urn:", "pmid", "[doi]", "[pii]"} {
		if hasFold(s, word) {
			return true
		}
	}
	return registrant(s) > 0
}

// withoutExtras returns an address, from its path on, without a fragment and without what trackers add. A "#" after
// a hyphen is the check character of a SICI, not the beginning of a fragment. What else is in the query stays: some
// publishers' DOIs have a "?" in them.
func withoutExtras(s string) string {
	if i := strings.IndexByte(s, '#'); i >= 0 && (i == 0 || s[i-1] != '-' || i < len(s)-1) {
		s = s[:i]
	}
	path, query, has := strings.Cut(s, "?")
	if !has {
		return s
	}
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(pair, "="); pair != "" && !isTracker(name) {
			kept = append(kept, pair)
		}
	}
	if len(kept) == 0 {
		return path
	}
	return path + "?" + strings.Join(kept, "&")
}

// trackers are the beginnings of the names of parameters that trackers and search engines add to links. They are
// those of the setting lists.ignored_parameters by default, of which a test of the program compares every one. They
// are not that setting, because a DOI is the same whatever a server's operator wants to ignore, and package configs,
// which has the defaults as they are documented, may not import this one. A page ignores any name that is not ours; a
// DOI cannot, since the rest of its query may belong to it.
var trackers = []string{
	"utm_", "mtm_", "matomo_", "pk_", "piwik_", "_ga", "_gl", "gad_", "gclid", "gclsrc", "dclid", "gbraid", "wbraid",
	"srsltid", "fbclid", "fb_", "mibextid", "igsh", "msclkid", "li_fat_id", "trk", "lipi", "ttclid", "tt_", "twclid",
	"ref_src", "ref_url", "epik", "rdt_cid", "sccid", "_hs", "__hs", "hsa_", "hsctatracking", "mc_cid", "mc_eid",
	"mkt_tok", "s_cid", "s_kwcid", "ef_id", "yclid", "ysclid", "ymclid", "_openstat", "wt_mc", "wt.mc_", "at_medium",
	"at_campaign", "xtor", "elq", "sfmc_", "oly_", "vero_", "_ke", "_kx", "ml_subscriber", "ck_subscriber_id", "dm_i",
	"cn-reloaded", "irclickid", "dicbo", "guce_", "guccounter", "_branch_match_id", "casa_token",
}

// isTracker reports whether a parameter, by its name, is of a tracker.
func isTracker(name string) bool {
	for _, tracker := range trackers {
		if hasFold(name, tracker) {
			return true
		}
	}
	return false
}

// decode decodes the escapes of a URL once. Other percent signs stay, and so does a text that would not be UTF-8.
// url.PathUnescape would fail for a single percent sign, which a DOI may have.
func decode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			out, i = append(out, hex(s[i+1])<<4|hex(s[i+2])), i+2
		} else {
			out = append(out, s[i])
		}
	}
	if !utf8.Valid(out) {
		return s
	}
	return string(out)
}

// isHex reports whether c is a hexadecimal digit, of which hex returns the value.
func isHex(c byte) bool { return isDigit(c) || 'a' <= lower(c) && lower(c) <= 'f' }

func hex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return lower(c) - 'a' + 10
}
