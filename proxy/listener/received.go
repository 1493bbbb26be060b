package listener

import (
	"time"

	"github.com/valyala/fasthttp"
)

// Received returns when a request was received: now, if it came from no connection, as those of an explanation.
func Received(request *fasthttp.RequestCtx) time.Time {
	if at := request.Time(); !at.IsZero() {
		return at
	}
	return time.Now()
}
