package osiristest

import (
	"context"
	"slices"
)

// Requests returns all requests that arrived since Forget, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Count returns how many requests for a target arrived. The query counts.
func (s *Server) Count(target string) int {
	return s.countIf(func(r Request) bool { return r.Target == target })
}

// CountPath returns how many requests for a path arrived, with any query.
func (s *Server) CountPath(path string) int {
	return s.countIf(func(r Request) bool { return r.Path() == path })
}

// Total returns how many requests arrived.
func (s *Server) Total() int { return s.countIf(func(Request) bool { return true }) }

func (s *Server) countIf(counts func(Request) bool) (n int) {
	for _, r := range s.Requests() {
		if counts(r) {
			n++
		}
	}
	return n
}

// Counts returns how often each target was requested.
func (s *Server) Counts() map[string]int {
	n := map[string]int{}
	for _, r := range s.Requests() {
		n[r.Target]++
	}
	return n
}

// Forget drops the records of requests, and of the most that ran at a time.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.most = nil, s.running
}

// Running returns how many requests wait for their answers, and the most that ever did at a time.
func (s *Server) Running() (now, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running, s.most
}

// Accepted returns how many connections were accepted.
func (s *Server) Accepted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// Await waits until n requests have arrived since Forget, and reports whether they did before ctx ended.
func (s *Server) Await(ctx context.Context, n int) bool {
	for {
		s.mu.Lock()
		got, more := len(s.requests), s.arrived
		s.mu.Unlock()
		if got >= n {
			return true
		}
		select {
		case <-more:
		case <-ctx.Done():
			return false
		}
	}
}
