package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// UserAgent is the user agent of the requests. A Shadow ignores such requests, so that two servers do not compare
// each other's for ever.
const UserAgent = "vitrine-compare"

// Keys are the API keys of a side. Empty ones are not sent. They are sent in the header X-API-Key and in no URL.
type Keys struct {
	API       string // for all paths but those below /portfolio
	Portfolio string
}

// Side is one of the two servers. It sends its key as a header, so that no URL has it.
type Side struct {
	Name   string // its name in messages
	Most   int64  // bytes of an answer; longer ones are errors; 64 MiB
	base   *url.URL
	keys   atomic.Pointer[Keys]
	client http.Client
}

// NewSide returns the side at an address, which may have a path. If transport is nil, it uses the network.
// Redirections are answers to compare and not followed: where they lead is part of what the sides agree on.
func NewSide(name, address string, keys Keys, transport http.RoundTripper) (*Side, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		u.RawQuery+u.Fragment != "" {
		return nil, fmt.Errorf("%s: want a web address such as https://osiris.example.org, without user and query",
			name)
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	if transport == nil {
		// The shared transport would keep two idle connections for each host and accept a header of 10 MB.
		network := http.DefaultTransport.(*http.Transport).Clone()
		network.MaxResponseHeaderBytes, network.MaxIdleConnsPerHost = 64<<10, 16
		transport = network
	}
	s := &Side{Name: name, Most: 64 << 20, base: u}
	s.client = http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	s.SetKeys(keys)
	return s, nil
}

// SetKeys changes the keys.
func (s *Side) SetKeys(k Keys) { s.keys.Store(&k) }

// below returns a URL without the path of the side. The sides may have different paths in front; only what is
// behind them is the same on both.
func (s *Side) below(target string) string {
	if rest, ok := strings.CutPrefix(target, s.base.EscapedPath()); ok && strings.HasPrefix(rest, "/") {
		return rest
	}
	return target
}

// Answer is an answer of a side.
type Answer struct {
	Status   int
	Type     string // the media type
	Location string // path and query of a redirection
	Body     []byte
	Took     time.Duration

	Restricted bool      // the list is shorter than for a caller with a permission (Vitrine-Restricted)
	Modified   time.Time // Last-Modified; zero if the answer does not say it
	Received   time.Time

	// Forwarded says that the answer is another server's, which a Vitrine sent on: to compare it with the old
	// server's would compare that one with itself.
	Forwarded bool
	Kept      bool // a Vitrine keeps the answer by a rule of upstream.keep
}

// Ask sends a request and reads the answer. Answers that say nothing about the resource are errors: a limit was
// reached, or a server in front of or behind the side is unavailable. Errors do not contain the URL. The minute is
// for the whole answer, body included.
func (s *Side) Ask(ctx context.Context, r Request) (a Answer, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errSlow)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.Method, s.base.String()+r.Target, nil)
	if err != nil {
		return a, errors.New("the URL cannot be asked")
	}
	req.Header.Set("User-Agent", UserAgent)
	key := s.keys.Load().API
	if strings.HasPrefix(r.Target, "/portfolio/") {
		key = s.keys.Load().Portfolio
	}
	if key != "" {
		req.Header.Set("X-API-Key", key)
	}
	begun := time.Now()
	res, err := s.client.Do(req)
	// An url.Error has the URL in its text, whose parameters may be personal.
	if bare := (*url.Error)(nil); errors.As(err, &bare) {
		err = bare.Err
	}
	if err != nil {
		return a, err
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return a, fmt.Errorf("%d %s", res.StatusCode, http.StatusText(res.StatusCode))
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, s.Most+1))
	if int64(len(body)) > s.Most {
		err = errTooLong
	}
	if err != nil {
		return a, fmt.Errorf("read the answer: %w", err)
	}
	a = Answer{Status: res.StatusCode, Body: s.cleaned(body), Took: time.Since(begun),
		Forwarded: isForwarded(res.Header), Kept: res.Header.Get(keptHeader) != ""}
	a.Received, a.Restricted = begun.Add(a.Took), res.Header.Get("Vitrine-Restricted") != ""
	a.Modified, _ = http.ParseTime(res.Header.Get("Last-Modified")) // zero if it is none
	a.Type, _, _ = mime.ParseMediaType(res.Header.Get("Content-Type"))
	if at, err := res.Location(); err == nil {
		a.Location = string(s.cleaned([]byte(s.below(at.RequestURI()))))
	}
	return a, nil
}

var (
	errTooLong = errors.New(TooLong)
	errSlow    = errors.New("no whole answer within a minute")
)

// The names by which a Vitrine says where an answer comes from. A test asks one.
const (
	hop        = "vitrine" // in Via and Cache-Status
	keptHeader = "Vitrine-Kept"
)

// isForwarded reports whether an answer comes through a Vitrine from another server. Its Via says so (RFC 9110:
// 7.6.3). Where a rule keeps answers, but not this one, its Cache-Status says so by the status of the next server
// (RFC 9211: 2.3).
func isForwarded(h http.Header) bool {
	for via := range strings.SplitSeq(strings.Join(h["Via"], ","), ",") {
		if words := strings.Fields(via); len(words) > 1 && words[1] == hop {
			return true
		}
	}
	for cache := range strings.SplitSeq(strings.Join(h["Cache-Status"], ","), ",") {
		name, how, _ := strings.Cut(strings.TrimSpace(cache), ";")
		if name == hop && strings.Contains(how, "fwd-status=") {
			return true
		}
	}
	return false
}

// cleaned returns a body without the side's keys. It replaces addresses of the side itself by paths, as written in
// text and in PHP's JSON. A side that writes its own address into links would otherwise differ in each of them.
func (s *Side) cleaned(body []byte) []byte {
	base, keys := s.base.String(), s.keys.Load()
	for own, instead := range map[string]string{base: "", strings.ReplaceAll(base, "/", `\/`): "", keys.API: hidden,
		keys.Portfolio: hidden} {
		if own != "" && bytes.Contains(body, []byte(own)) {
			body = bytes.ReplaceAll(body, []byte(own), []byte(instead))
		}
	}
	return body
}

// envelope returns the status in the envelope of a JSON answer, or that of the answer. Only the beginning and short
// bodies are looked at: an error's envelope is small, a list's is not worth decoding.
func (a Answer) envelope() int {
	var e struct{ Status int }
	if a.Status == http.StatusOK && bytes.HasPrefix(bytes.TrimSpace(a.Body[:min(len(a.Body), 64)]), []byte("{")) &&
		len(a.Body) < 16<<10 {
		_ = json.Unmarshal(a.Body, &e) // ignore the error: other answers have no envelope
	}
	if e.Status >= 400 && e.Status < 600 {
		return e.Status
	}
	return a.Status
}
