package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/valyala/fasthttp"
)

// Case is one kind of request.
type Case struct {
	Name string
	// Path returns path and query of the n-th request, counted over all rounds.
	Path   func(n int64) string
	Header map[string]string
}

// Options say what to measure and for how long.
type Options struct {
	Addr     string        // HOST:PORT of the front end
	Cases    []Case        // nil: DefaultCases
	Conns    int           // connections at a time; 0 means 16
	Duration time.Duration // per target and round; 0 means 1 s
	Rounds   int           // 0 means 5
	// Progress, if set, is called before each case.
	Progress func(name string)
}

// Result is what one case came to: medians over the rounds.
type Result struct {
	Name     string        `json:"name"`
	Bytes    int           `json:"bytes"`        // of one body, as sent
	Rate     float64       `json:"rate"`         // requests per second
	P50      time.Duration `json:"p50_ns"`       // of the front end
	P99      time.Duration `json:"p99_ns"`       // of the front end
	BareRate float64       `json:"bare_rate"`    // requests per second of the bare handler
	BareP50  time.Duration `json:"bare_p50_ns"`  // of the bare handler
	BareP99  time.Duration `json:"bare_p99_ns"`  // of the bare handler
	Ratio    float64       `json:"ratio"`        // of the rates, round by round
	Spread   float64       `json:"ratio_spread"` // highest ratio less the lowest
}

// Run measures every case. The cases must answer 200.
func Run(ctx context.Context, o Options) ([]Result, error) {
	if o.Cases == nil {
		o.Cases = DefaultCases()
	}
	if o.Conns <= 0 {
		o.Conns = 16
	}
	if o.Duration <= 0 {
		o.Duration = time.Second
	}
	if o.Rounds <= 0 {
		o.Rounds = 5
	}
	results := make([]Result, 0, len(o.Cases))
	for _, c := range o.Cases {
		if o.Progress != nil {
			o.Progress(c.Name)
		}
		r, err := o.measure(ctx, c)
		if err != nil {
			return results, fmt.Errorf("case %s: %w", c.Name, err)
		}
		results = append(results, r)
	}
	return results, nil
}

// measure runs the rounds of one case: front end, bare handler, in turns.
func (o Options) measure(ctx context.Context, c Case) (r Result, err error) {
	answer, err := fetch(o.Addr, c)
	if err != nil {
		return r, err
	}
	base, err := startBare(answer.contentType, answer.encoding, answer.body)
	if err != nil {
		return r, err
	}
	defer func() {
		if stopped := base.stop(); err == nil {
			err = stopped
		}
	}()
	var ours, theirs []sample
	var ratios []float64
	front, back := driver{addr: o.Addr, c: c}, driver{addr: base.addr, c: c}
	for range o.Rounds {
		a, err := front.drive(ctx, o.Conns, o.Duration)
		if err != nil {
			return r, err
		}
		b, err := back.drive(ctx, o.Conns, o.Duration)
		if err != nil {
			return r, err
		}
		if err := ctx.Err(); err != nil {
			return r, err
		}
		ours, theirs, ratios = append(ours, a), append(theirs, b), append(ratios, a.rate()/b.rate())
	}
	return Result{
		Name: c.Name, Bytes: len(answer.body),
		Rate: medianOf(ours, sample.rate), BareRate: medianOf(theirs, sample.rate),
		P50: medianOf(ours, p50), P99: medianOf(ours, p99),
		BareP50: medianOf(theirs, p50), BareP99: medianOf(theirs, p99),
		Ratio: median(ratios), Spread: slices.Max(ratios) - slices.Min(ratios),
	}, nil
}

func p50(s sample) time.Duration { return s.quantile(0.50) }
func p99(s sample) time.Duration { return s.quantile(0.99) }

func medianOf[T float64 | time.Duration](samples []sample, of func(sample) T) T {
	values := make([]T, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	return median(values)
}

func median[T float64 | time.Duration](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// answer is what the front end said to the first request of a case.
type answer struct {
	contentType, encoding string
	body                  []byte
}

func fetch(addr string, c Case) (answer, error) {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	req.SetRequestURI("http://" + addr + c.Path(0))
	for name, value := range c.Header {
		req.Header.Set(name, value)
	}
	client := &fasthttp.Client{ReadBufferSize: 64 << 10}
	if err := client.Do(req, res); err != nil {
		return answer{}, fmt.Errorf("GET %s: %w", req.URI(), err)
	}
	if res.StatusCode() != fasthttp.StatusOK {
		return answer{}, fmt.Errorf("GET %s: status %d: %.200s", req.URI(), res.StatusCode(), res.Body())
	}
	return answer{
		contentType: string(res.Header.ContentType()),
		encoding:    string(res.Header.ContentEncoding()),
		body:        slices.Clone(res.Body()),
	}, nil
}
