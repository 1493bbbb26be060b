package upstream

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
)

// pseudonym names this server in Via (RFC 9110: 7.6.3).
const pseudonym = "vitrine"

// via is the line that answers have. It names no process: a client that repeats it in a request must not look like a
// request that comes back.
func via(minor int) string { return fmt.Sprintf("1.%d %s", minor, pseudonym) }

// marks are random names of this server in Via, one for each request to the other server while it runs. A request
// that has one of them comes from this process, through the other server. A name that a client has read somewhere
// is worthless by then, so no client can make up a loop. A fixed name would refuse requests of another Vitrine
// behind this one, and of clients who repeat it.
type marks struct{ running sync.Map }

// add returns the line for a request that runs until ctx ends.
func (m *marks) add(ctx context.Context) string {
	mark := rand.Text()[:16] // 80 bits
	m.running.Store(mark, struct{}{})
	context.AfterFunc(ctx, func() { m.running.Delete(mark) })
	return via(1) + "-" + mark
}

// comesBack reports whether a request with these lines in Via is one that runs.
func (m *marks) comesBack(lines []string) bool {
	for _, hop := range listed(lines) {
		if _, mark, found := strings.Cut(hop, pseudonym+"-"); found {
			mark, _, _ = strings.Cut(mark, " ") // a comment may follow
			if _, runs := m.running.Load(mark); runs {
				return true
			}
		}
	}
	return false
}
