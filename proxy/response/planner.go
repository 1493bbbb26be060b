package response

import (
	"errors"
	"sync"
)

// plannedBytes bounds the memory for plans, of planOverhead bytes and planFactor times the text of a filter each.
const plannedBytes, planFactor, planOverhead = 32 << 20, 8, 512

// Planner caches the plans of URLs, because compiling a filter costs more than finding an answer. Answers are kept by
// the plan's canonical query, never by URL. The zero Planner is empty.
type Planner struct {
	mu sync.RWMutex // guards the rest
	// newer takes the place of older when it takes half of plannedBytes. A requested plan moves to newer.
	newer, older map[string]*servedPlan // plans are immutable
	bytes        int                    // of newer
}

// get returns the cached plan of a URL, or nil. Most calls find their plan in newer and only read; one that finds it
// in older puts it into newer, after it has released the lock, so that the plan outlives the next change of maps.
func (p *Planner) get(url []byte) *servedPlan {
	p.mu.RLock()
	found := p.newer[string(url)]
	old := found == nil
	if old {
		found = p.older[string(url)]
	}
	p.mu.RUnlock()
	if old && found != nil {
		p.put(url, found)
	}
	return found
}

// put caches the plan of a URL. If two requests make the same plan at once, either may stay: they are equal. A plan
// that is put twice counts twice, so the maps may change a little early.
func (p *Planner) put(url []byte, plan *servedPlan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.newer == nil || p.bytes >= plannedBytes/2 {
		p.newer, p.older, p.bytes = map[string]*servedPlan{}, p.newer, 0
	}
	p.newer[string(url)] = plan
	p.bytes += planFactor*len(url) + planOverhead
}

// drop forgets the plan of a URL.
func (p *Planner) drop(url []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.newer, string(url))
	delete(p.older, string(url))
}

// dropWrong drops the plan of a URL if the error of its Build is ErrGuess. It returns the error.
func (p *Planner) dropWrong(url []byte, err error) error {
	if errors.Is(err, ErrGuess) {
		p.drop(url)
	}
	return err
}
