package proxy

import (
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/view"
	"vitrine/proxy/query"
	"vitrine/rules"
	"vitrine/rules/raw"
)

// The headers that tell what became of a call (DESIGN.md: 23).
const (
	headerIgnored    = "Vitrine-Ignored"    // parameters and paths that the answer does not depend on
	headerRestricted = "Vitrine-Restricted" // the permission whose lack cut the list
	headerPrefer     = "Prefer"
	headerApplied    = "Preference-Applied"
	handlingStrict   = "handling=strict"
)

// tell has a plan say what it leaves out of a call. What records have is not told of
// records that the caller may not see.
func (p *plan) tell(of query.Params) {
	p.ignored = of.Ignored()
	paths, build := of.Paths(), p.build
	if len(paths) == 0 || p.restricted != "" {
		return
	}
	p.build = func(ctx context.Context, s *view.Snapshot) (*body, error) {
		b, err := build(ctx, s)
		if err == nil {
			b.ignored, err = unknown(ctx, s, paths)
		}
		return b, err
	}
}

// unknown lists those of the paths that no record of a snapshot has; empty if there are
// none. Of views in the store it is not known.
func unknown(ctx context.Context, s *view.Snapshot, paths []string) (string, error) {
	var missing []string
	for _, path := range paths {
		parsed, err := raw.ParsePath(path)
		if err != nil {
			continue // it was refused, or names no field
		}
		has, err := s.Has(ctx, parsed)
		if err != nil {
			return "", err
		}
		if !has {
			missing = append(missing, path)
		}
	}
	return query.IgnoredPaths(missing), nil
}

// tellIgnored says what the answer to a call does not depend on. For callers who want
// their call taken strictly that is an error; a cache must not give them what others
// were answered.
func tellIgnored(c *fiber.Ctx, ignored string) error {
	if ignored == "" {
		return nil
	}
	if told := c.GetRespHeader(headerIgnored); told == "" {
		setHeader(c, headerIgnored, ignored)
	} else if !strings.HasSuffix(told, ignored) { // it may be said twice, see catchUp
		setHeader(c, headerIgnored, told+", "+ignored)
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

// tellHandling says what a plan leaves out of its call.
func tellHandling(c *fiber.Ctx, p plan) error {
	if p.restricted != "" {
		setHeader(c, headerRestricted, p.restricted)
	}
	if c.Get(headerPrefer) != "" && strict(c) {
		setHeader(c, headerApplied, handlingStrict)
	}
	return tellIgnored(c, p.ignored)
}
