package response

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/rules"
)

// Response headers that report which parts of a request the answer ignores (docs/decisions.md: What was ignored).
const (
	HeaderIgnored    = "Vitrine-Ignored"    // parameters and paths that the answer does not depend on
	HeaderRestricted = "Vitrine-Restricted" // the permission that the caller lacks to see the whole list
	HeaderKept       = "Vitrine-Kept"       // ?1: the other server's answer, kept by rule
	headerPrefer     = "Prefer"
	headerApplied    = "Preference-Applied"
	handlingStrict   = "handling=strict"
)

// ReportIgnored sets Vitrine-Ignored to the parts of the request that the answer does not depend on. Callers that
// prefer strict handling get an error instead; a cache must not give them the response to others.
func ReportIgnored(c *fiber.Ctx, ignored string) error {
	if ignored == "" {
		return nil
	}
	if before := c.GetRespHeader(HeaderIgnored); before == "" {
		SetHeader(c, HeaderIgnored, ignored)
	} else if before != ignored && !strings.HasSuffix(before, ", "+ignored) {
		// the header may be set twice, see Serve
		SetHeader(c, HeaderIgnored, before+", "+ignored)
	}
	c.Append(fiber.HeaderVary, headerPrefer)
	if !strict(c) {
		return nil
	}
	SetHeader(c, headerApplied, handlingStrict)
	return &rules.Error{Kind: rules.ErrWrongCall,
		Reason: "Strict handling was asked for, and these are ignored: " + ignored}
}

// strict reports whether the caller prefers strict handling (RFC 7240).
func strict(c *fiber.Ctx) bool {
	for _, header := range c.Request().Header.PeekAll(headerPrefer) {
		for preference := range strings.SplitSeq(string(header), ",") {
			preference, _, _ = strings.Cut(preference, ";")
			name, value, _ := strings.Cut(preference, "=")
			if strings.EqualFold(strings.TrimSpace(name), "handling") { // if there are several, the first counts
				return strings.EqualFold(strings.Trim(value, ` "	`), "strict")
			}
		}
	}
	return false
}

// reportHandling sets the headers that report which parts of the request a plan ignores or restricts.
func reportHandling(c *fiber.Ctx, p *servedPlan, hasPrefer bool) error {
	if p.Restricted != "" {
		SetHeader(c, HeaderRestricted, p.Restricted)
	}
	if hasPrefer && strict(c) {
		SetHeader(c, headerApplied, handlingStrict)
	}
	return ReportIgnored(c, p.Ignored)
}
