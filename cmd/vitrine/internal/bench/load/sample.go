package load

import (
	"slices"
	"time"
)

// Rate returns requests per second.
func (s Sample) Rate() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(len(s.Requests)) / s.Elapsed.Seconds()
}

// Mean returns the bytes of a body, on average.
func (s Sample) Mean() int64 {
	if len(s.Requests) == 0 {
		return 0
	}
	return s.Bytes / int64(len(s.Requests))
}

// Between returns the times of the requests that began, or were due, in a window.
func (s Sample) Between(from, to time.Time) Latencies {
	var l Latencies
	for _, r := range s.Requests {
		if at := s.Began.Add(r.At); !at.Before(from) && at.Before(to) {
			l = append(l, r.Took)
		}
	}
	slices.Sort(l)
	return l
}

// Latencies returns the times of all requests.
func (s Sample) Latencies() Latencies {
	l := make(Latencies, len(s.Requests))
	for i, r := range s.Requests {
		l[i] = r.Took
	}
	slices.Sort(l)
	return l
}

// Latencies are sorted.
type Latencies []time.Duration

// Quantile returns the time that the share q of the requests stayed within; 0 if
// there are none.
func (l Latencies) Quantile(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[min(int(q*float64(len(l))), len(l)-1)]
}

// Median returns the middle value, the mean of the middle two where their number is
// even, and 0 of none.
func Median[T float64 | time.Duration | int64](values []T) T {
	n := len(values)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
