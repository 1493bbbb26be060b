package osiristest

import (
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a running server. Make one with Start.
type Server struct {
	t    testing.TB
	addr string

	mu        sync.Mutex // guards the fields below
	http      *http.Server
	served    chan struct{} // closed when http has ended
	institute Institute
	key       string // below /portfolio; empty if none is needed
	public    string // see CallBack
	caller    *http.Client
	failing   Failure
	failingAt map[string]Failure // by path
	over      chan struct{}      // closed when the failure changes
	gate      chan struct{}      // if not nil, answers wait until it is closed
	requests  []Request
	arrived   chan struct{} // closed at the next request
	running   int           // requests without an answer
	most      int           // the largest value of running
	accepted  int           // connections
}

// Request is a request that arrived.
type Request struct {
	Method string
	Target string // as sent, with the query
	Host   string
	Header http.Header
	Body   string
	Time   time.Time // of its arrival
}

// Path returns the target without its query.
func (r Request) Path() string {
	path, _, _ := strings.Cut(r.Target, "?")
	return path
}

// Text returns all that the request says, for a search in it.
func (r Request) Text() string {
	var text strings.Builder
	fmt.Fprintln(&text, r.Method, r.Target, r.Host)
	_ = r.Header.Write(&text) // a strings.Builder takes everything
	text.WriteString(r.Body)
	return text.String()
}

// Start starts a server on a free port of the loopback, which runs until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		t: t, addr: reserve(t), institute: newInstitute(), over: make(chan struct{}), arrived: make(chan struct{}),
	}
	s.serve()
	t.Cleanup(s.stop)
	return s
}

// URL returns the server's address, http://HOST:PORT. It stays the same when the server is Stopped and started again.
func (s *Server) URL() string { return "http://" + s.addr }

// serve listens at the address, unless the server already does.
func (s *Server) serve() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.http != nil {
		return
	}
	ln, err := listen(s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	server, served := &http.Server{Handler: http.HandlerFunc(s.handle), ConnState: s.count}, make(chan struct{})
	s.http, s.served = server, served
	go func() {
		defer close(served)
		_ = server.Serve(ln) // ErrServerClosed
	}()
}

// stop closes the listener and all connections.
func (s *Server) stop() {
	s.mu.Lock()
	server, served := s.http, s.served
	s.http = nil
	s.mu.Unlock()
	if server != nil {
		_ = server.Close() // that of the listener, which is of no use
		<-served
	}
}

func (s *Server) count(_ net.Conn, state http.ConnState) {
	if state == http.StateNew {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.accepted++
	}
}

// Edit changes the institute.
func (s *Server) Edit(change func(Institute)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.institute)
}

// Institute returns a copy of the institute.
func (s *Server) Institute() Institute {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.institute.clone()
}

// SetKey makes every page below /portfolio need a key in the parameter apikey. Empty: none needs it.
func (s *Server) SetKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// CallBack makes the pages of units and topics ask a site for /portfolio/topics and /portfolio/units before they
// answer, as OSIRIS asks itself at its public name. They answer status 500 if the site does not.
func (s *Server) CallBack(site string) { s.CallBackBy(http.DefaultClient, site) }

// CallBackBy is CallBack by a client, which may know where the site is, and its certificate.
func (s *Server) CallBackBy(client *http.Client, site string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caller, s.public = client, site
}

// Fail makes the server fail from now on, or ends the failure. It returns when connections are refused or accepted.
func (s *Server) Fail(f Failure) {
	s.t.Helper()
	s.mu.Lock()
	s.failing, s.failingAt = f, nil
	s.changedLocked()
	s.mu.Unlock()
	if f == Stopped {
		s.stop()
	} else {
		s.serve()
	}
}

// FailAt makes requests for one path fail, whatever their query. Fail ends it.
func (s *Server) FailAt(path string, f Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failingAt == nil {
		s.failingAt = map[string]Failure{}
	}
	s.failingAt[path] = f
	s.changedLocked()
}

// changedLocked ends the waiting of requests in the last failure.
func (s *Server) changedLocked() {
	close(s.over)
	s.over = make(chan struct{})
}

// Hold makes requests wait from their arrival until release is called.
func (s *Server) Hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gate := make(chan struct{})
	s.gate = gate
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.gate == gate {
			s.gate = nil
		}
		close(gate)
	})
}

const loginPath = "/user/login"

// state is what the answer to a request depends on, as of its arrival: an answer that is Held while the institute is
// edited tells the former state, as that of a server that reads its database first and renders for a second.
type state struct {
	failure     Failure
	over, gate  <-chan struct{}
	institute   Institute
	key, public string
	caller      *http.Client
}

// arrive records a request, and returns what its answer depends on.
func (s *Server) arrive(r *http.Request) state {
	body, _ := io.ReadAll(r.Body) // a client that breaks off has sent what it has sent
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests,
		Request{r.Method, r.RequestURI, r.Host, r.Header.Clone(), string(body), time.Now()})
	close(s.arrived)
	s.arrived = make(chan struct{})
	s.running++
	s.most = max(s.most, s.running)
	now := state{s.failing, s.over, s.gate, s.institute.clone(), s.key, s.public, s.caller}
	if at, found := s.failingAt[r.URL.Path]; found {
		now.failure = at
	}
	if now.failure == LoginRedirect && r.URL.Path == loginPath {
		now.failure = Healthy
	}
	return now
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	now := s.arrive(r)
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running--
	}()
	if now.gate != nil {
		select {
		case <-now.gate:
		case <-r.Context().Done():
			return
		}
	}
	path := cleaned(r.URL.Path)
	session := startSession(w, r, path)
	if fail(w, r, now, now.body(path, r.URL.Query(), session)) {
		return
	}
	if now.public != "" && !callsBack(r, path, now) {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	now.answer(w, r, path, session)
}

// cleaned returns a path without doubled slashes: nginx merges them.
func cleaned(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}

// startSession sets the headers that PHP sends with every answer. It returns the caller's session, or "" for a new
// one.
func startSession(w http.ResponseWriter, r *http.Request, path string) (id string) {
	h := w.Header()
	h.Set("Server", "nginx")
	h.Set("X-Powered-By", "PHP/8.2")
	h.Set("Expires", "Thu, 19 Nov 1981 08:52:00 GMT")
	h.Set("Cache-Control", "no-store, no-cache, must-revalidate")
	h.Set("Pragma", "no-cache")
	h.Set("Content-Type", "application/json")
	if within(path, "/portfolio") {
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Allow-Methods", "GET")
		h.Set("Access-Control-Allow-Headers", "Content-Type, Authorization")
	}
	if within(path, "/api") {
		h.Set("Expires", "0")
	}
	if cookie, err := r.Cookie("PHPSESSID"); err == nil {
		return cookie.Value
	}
	h.Set("Set-Cookie", "PHPSESSID="+strings.ToLower(rand.Text())+"; path=/")
	return ""
}

func within(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// answer answers a request if the server does not fail.
func (now state) answer(w http.ResponseWriter, r *http.Request, path, session string) {
	switch {
	case within(path, "/api/pivot-data"), within(path, "/api/command-palette"), within(path, "/api/dashboard"):
		if session == "" {
			redirect(w)
			return
		}
		write(w, envelope{Status: 200, Count: 1, Data: object{"session": session}}.text())
	case within(path, "/portfolio"), within(path, "/api"):
		write(w, now.body(path, r.URL.Query(), session))
	case path == loginPath:
		page(w, http.StatusOK, loginPage)
	case within(path, "/portal"):
		page(w, http.StatusOK, "<!DOCTYPE html>\n<html><body>"+session+"</body></html>\n")
	default:
		page(w, http.StatusNotFound, "<!DOCTYPE html>\n<html><body>Page not found</body></html>\n")
	}
}

// body returns the body of a page below /portfolio or /api.
func (now state) body(path string, query url.Values, session string) []byte {
	if rest, found := strings.CutPrefix(path, "/api/"); found {
		return now.institute.api(rest, query).text()
	}
	rest, found := strings.CutPrefix(path, "/portfolio/")
	switch {
	case !found:
		return failed(404, "no such page").text()
	case now.key != "" && query.Get("apikey") != now.key:
		return failed(403, "no key").text()
	}
	e := now.institute.portfolio(rest, query)
	if data, ok := e.Data.(object); ok && session != "" {
		data["session"] = session // pages offer more to a user who is logged in
	}
	return e.text()
}

// callsBack asks the public site for what a page shows of others, and reports whether it answered.
func callsBack(r *http.Request, path string, now state) bool {
	parts := strings.Split(path, "/")
	if len(parts) != 4 || parts[1] != "portfolio" || parts[2] != "unit" && parts[2] != "topic" {
		return true
	}
	for _, name := range []string{"topics", "units"} {
		req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, now.public+"/portfolio/"+name, nil)
		if err != nil {
			return false
		}
		req.URL.RawQuery = url.Values{"apikey": r.URL.Query()["apikey"]}.Encode()
		res, err := now.caller.Do(req)
		if err != nil {
			return false
		}
		_, err = io.Copy(io.Discard, res.Body)
		if _ = res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
			return false
		}
	}
	return true
}
