package mark

import "strings"

// NormalORCID returns an ORCID in its bare form, 0000-0002-1825-0097, whether it is given
// so, without hyphens, or as the address of its page; "" for text that is none. It does
// not compute the check digit: a person is found by the ORCID that the institute stores.
func NormalORCID(text string) string {
	text = strings.ToUpper(strings.TrimSpace(text))
	if i := strings.LastIndexByte(text, '/'); i >= 0 {
		host := strings.TrimPrefix(strings.TrimPrefix(text[:i], "HTTPS://"), "HTTP://")
		if host != "ORCID.ORG" && host != "WWW.ORCID.ORG" {
			return ""
		}
		text = text[i+1:]
	}
	digits := strings.ReplaceAll(text, "-", "")
	if len(digits) != 16 || strings.Trim(digits[:15], "0123456789") != "" || !strings.ContainsAny(digits[15:], "0123456789X") {
		return ""
	}
	return digits[:4] + "-" + digits[4:8] + "-" + digits[8:12] + "-" + digits[12:]
}
