package lists

import (
	"iter"
	"time"

	"vitrine/proxy/response"
)

// Request is a request, copied out of the server's buffers, because a plan may outlive them. Args is read once or
// not at all, and only before Plan returns.
type Request struct {
	Path   Path
	Args   iter.Seq2[[]byte, []byte]
	Accept string // the client's preference among MediaTypes; empty if it has none
	// Language is the client's preference among Languages; empty if it has none. It counts for pages without the
	// parameter lang; a fragment has the language of the page that includes it.
	Language string
	Base     string // the beginning of absolute URLs, see Lists.Base; if empty, absolute URLs are refused
	// the views and the clock as the plan sees them
	Planning *response.Planning
}

// year returns the calendar year of the request in a zone.
func (r Request) year(zone *time.Location) int { return r.Planning.Now().In(zone).Year() }
