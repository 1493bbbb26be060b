package response

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/rules"
)

// Response headers that report what an answer leaves out of its call (DESIGN.md: 23).
const (
	HeaderIgnored    = "Vitrine-Ignored"    // parameters and paths that the answer does not depend on
	HeaderRestricted = "Vitrine-Restricted" // the permission whose lack cut the list
	headerPrefer     = "Prefer"
	headerApplied    = "Preference-Applied"
	handlingStrict   = "handling=strict"
)

// reportIgnored sets Vitrine-Ignored: what the answer to a call does not depend on. For
// callers that prefer strict handling that is an error; a cache must not give them the
// response to others.
func reportIgnored(c *fiber.Ctx, ignored string) error {
	if ignored == "" {
		return nil
	}
	if before := c.GetRespHeader(HeaderIgnored); before == "" {
		SetHeader(c, HeaderIgnored, ignored)
	} else if !strings.HasSuffix(before, ignored) { // it may be set twice, see Serve
		SetHeader(c, HeaderIgnored, before+", "+ignored)
	}
	c.Append(fiber.HeaderVary, headerPrefer)
	if !strict(c) {
		return nil
	}
	return &rules.Error{Kind: rules.ErrWrongCall, Reason: "Strict handling was asked for, and these are ignored: " + ignored}
}

// strict reports whether a call is to fail rather than be answered in part (RFC 7240).
func strict(c *fiber.Ctx) bool {
	for _, header := range c.Request().Header.PeekAll(headerPrefer) {
		for preference := range strings.SplitSeq(string(header), ",") {
			preference, _, _ = strings.Cut(preference, ";")
			name, value, _ := strings.Cut(preference, "=")
			if strings.EqualFold(strings.TrimSpace(name), "handling") { // of several the first counts
				return strings.EqualFold(strings.Trim(value, ` "	`), "strict")
			}
		}
	}
	return false
}

// reportHandling sets the headers that report what a plan leaves out of its call.
func reportHandling(c *fiber.Ctx, p *Plan) error {
	if p.Restricted != "" {
		SetHeader(c, HeaderRestricted, p.Restricted)
	}
	if c.Get(headerPrefer) != "" && strict(c) {
		SetHeader(c, headerApplied, handlingStrict)
	}
	return reportIgnored(c, p.Ignored)
}
