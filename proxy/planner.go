package proxy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dgraph-io/ristretto/v2"
	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/auth"
	"vitrine/proxy/query"
)

// plannedBytes bounds the plans kept for one resource. A plan holds its filter,
// which is some times as large as the text it was read from.
const plannedBytes, planFactor, planOverhead = 4 << 20, 8, 512

// planner remembers the plans of query strings. To read a filter, check it and
// compile it costs more than to find an answer; popular URLs are read once.
// Answers themselves are kept by the plan's canonical query, never by URL.
type planner struct {
	resource resource
	key      auth.Key // what its callers need
	edition  int      // plans of another are not these settings'
	kept     *ristretto.Cache[[]byte, plan]
}

func newPlanner(r resource, key auth.Key) (*planner, error) {
	kept, err := ristretto.NewCache(&ristretto.Config[[]byte, plan]{
		NumCounters: 10 * plannedBytes / planOverhead,
		MaxCost:     plannedBytes,
		BufferItems: 64,
	})
	if err != nil {
		return nil, fmt.Errorf("proxy: memory of plans: %w", err)
	}
	return &planner{resource: r, key: key, kept: kept}, nil
}

// plan returns the plan for a request. What a session asks depends on who it is
// and is read anew; so is what holds once, and what was wrong.
func (p *planner) plan(c *fiber.Ctx, r request) (plan, error) {
	url := c.Context().URI().QueryString() // Fiber's: ristretto keeps its hashes only
	anonymous := r.Anonymous()
	if anonymous {
		if found, ok := p.kept.Get(url); ok && found.edition == p.edition {
			return found, nil
		}
	}
	r.params = query.Read(c.Context().QueryArgs().All())
	if err := r.params.CheckLanguage(); err != nil {
		return plan{}, err
	}
	r.id = strings.Clone(c.Params("id"))
	made, err := p.resource(c.UserContext(), r)
	if err == nil {
		made.tell(r.params)
	}
	if p.edition > 0 {
		// Answers are kept across editions; their keys must not be.
		made.edition, made.query = p.edition, strconv.Itoa(p.edition)+"\x00"+made.query
	}
	if err == nil && anonymous && !made.once {
		p.kept.Set(url, made, int64(planFactor*len(url)+planOverhead))
	}
	return made, err
}
