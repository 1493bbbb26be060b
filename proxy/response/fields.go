package response

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/listener"
)

// fields are the header fields that an answer depends on, found in one pass over the head. The first value of a name
// that is not empty counts.
type fields struct {
	codings       string // Accept-Encoding
	noneMatch     string // If-None-Match
	hasNoneMatch  bool
	modifiedSince string // If-Modified-Since
	unmodified    bool   // nothing has changed since modifiedSince, see setModified
	hasPrefer     bool
}

// fieldsOf returns the fields of a request.
func fieldsOf(c *fiber.Ctx) (f fields) {
	head := listener.HeadOf(c.Context())
	for i := range head.Fields {
		sent := &head.Fields[i]
		var field *string
		switch {
		case sent.Is(fiber.HeaderAcceptEncoding):
			field = &f.codings
		case sent.Is(fiber.HeaderIfNoneMatch):
			field, f.hasNoneMatch = &f.noneMatch, true
		case sent.Is(fiber.HeaderIfModifiedSince):
			field = &f.modifiedSince
		case sent.Is(headerPrefer):
			f.hasPrefer = true
		}
		if field != nil && *field == "" {
			*field = strings.TrimSpace(sent.Value)
		}
	}
	return f
}
