package upstream_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"

	"vitrine/proxy"
	"vitrine/proxy/proxytest"
)

// wire sends request lines as they are, which Go's client would change.
type wire struct {
	w    *world
	conn net.Conn
	read *bufio.Reader
}

func (o *wire) get(target string, headers ...string) proxytest.Response {
	o.w.T.Helper()
	if o.conn == nil {
		o.conn = o.w.Dial()
		o.read = bufio.NewReader(o.conn)
	}
	o.w.Write(o.conn, "GET "+target+" HTTP/1.1\r\nHost: site.example\r\n"+strings.Join(append(headers, ""),
		"\r\n")+"\r\n")
	res := o.w.Read(o.read)
	if res.Close {
		_ = o.conn.Close()
		o.conn = nil
	}
	return res
}

// spellings are ways to write a path that some server takes for the same.
var spellings = map[string]func(path string, at int) string{
	"two slashes":      func(p string, at int) string { return p[:at] + "/" + p[at:] },
	"a host":           func(p string, _ int) string { return "//site.example" + p },
	"an escaped slash": slash("%2f"),
	"escaped twice": func(p string, at int) string {
		return p[:at+1] + fmt.Sprintf("%%25%02x",
			p[at+1]) + p[at+2:]
	},
	"a slash twice":  slash("%252F"),
	"a backslash":    slash(`\`),
	"an escaped one": slash("%5C"),
	"capitals":       func(p string, _ int) string { return strings.ToUpper(p) },
	"one capital": func(p string, at int) string {
		return p[:at+1] + strings.ToUpper(p[at+1:at+2]) + p[at+2:]
	},
	"a parameter":        func(p string, at int) string { return p[:at] + ";x" + p[at:] },
	"one at the end":     func(p string, _ int) string { return p + ";jsessionid=1" },
	"an escaped one, ;":  func(p string, _ int) string { return p + "%3bx" },
	"a blank":            func(p string, _ int) string { return p + "%20" },
	"a blank inside":     func(p string, at int) string { return p[:at] + "%20" + p[at:] },
	"a line feed":        func(p string, _ int) string { return p + "%0a" },
	"a NUL":              func(p string, _ int) string { return p + "%00" },
	"a NUL and more":     func(p string, _ int) string { return p + "%00.png" },
	"a script":           func(p string, _ int) string { return p + ".php" },
	"a script, more":     func(p string, _ int) string { return p + ".PHP/x" },
	"an index":           func(p string, at int) string { return p[:at] + "/index.php" + p[at:] },
	"a script's folder":  func(p string, at int) string { return p[:at] + ".php" + p[at:] },
	"a format":           func(p string, _ int) string { return p + ".json" },
	"a dot":              func(p string, _ int) string { return p + "." },
	"a dot inside":       func(p string, at int) string { return p[:at] + "." + p[at:] },
	"a slash":            func(p string, _ int) string { return p + "/" },
	"slashes":            func(p string, _ int) string { return p + "//" },
	"a dot segment":      func(p string, at int) string { return p[:at] + "/." + p[at:] },
	"up and down":        func(p string, at int) string { return p[:at] + "/x/.." + p[at:] },
	"up, with ;":         func(p string, at int) string { return p[:at] + "/x/..;y" + p[at:] },
	"up, escaped":        func(p string, at int) string { return p[:at] + "/x/%2e%2e" + p[at:] },
	"up, escaped twice":  func(p string, at int) string { return p[:at] + "/x/%252e%252e" + p[at:] },
	"up, a long form":    func(p string, at int) string { return p[:at] + "/x/%c0%ae%c0%ae" + p[at:] },
	"a query":            func(p string, _ int) string { return p + "%3fx=1" },
	"a fragment":         func(p string, _ int) string { return p + "%23x" },
	"a letter that is s": func(p string, _ int) string { return strings.Replace(p, "s", "%C5%BF", 1) },
}

// slash returns a spelling with other text in place of a slash. The first one stays, since no path begins otherwise.
func slash(other string) func(path string, at int) string {
	return func(path string, at int) string {
		if at == 0 {
			return "/" + other + path[1:]
		}
		return path[:at] + other + path[at+1:]
	}
}

// places are where the segments of a path begin, except for the last character.
func places(path string) (all []int) {
	for i := range len(path) - 1 {
		if path[i] == '/' && path[i+1] != '/' {
			all = append(all, i)
		}
	}
	return all
}

// TestSpelling: no way to write a path of this server reaches the other one, and the refusal says why.
func TestSpelling(t *testing.T) {
	t.Parallel()
	w := newWorld(t, says("old"), func(o *proxy.UpstreamOptions) { o.Routes = []string{"/api/projects"} })
	ask := &wire{w: w}
	var own []string
	for _, path := range proxy.Paths() {
		if path != "/" && path != "/api/projects" {
			own = append(own, strings.NewReplacer(":kind", "unit", ":list", "activities", ":id", "ada").Replace(path))
		}
	}
	try := func(what, target string) (status int, body string) {
		before := w.asked.Load()
		res := ask.get(target)
		if n := w.asked.Load() - before; n != 0 {
			t.Errorf("%s: %s reaches the other server", what, target)
		}
		return res.StatusCode, string(res.Body)
	}
	names := make([]string, 0, len(spellings)) // a host is one only at the beginning
	for name, spell := range spellings {
		if name != "a host" {
			names = append(names, name)
		}
		for _, path := range append(own, "/api/projects") {
			for _, at := range places(path) {
				below := name == "a slash" || name == "slashes" || name == "a dot segment" || strings.HasPrefix(name,
					"up")
				if path == "/api/projects" && below {
					continue // it has moved, and these are below it
				}
				status, body := try(name, spell(path, at))
				if name == "two slashes" && (status != 404 || !strings.Contains(body, "another spelling of /")) {
					t.Errorf("%s with two slashes at %d: %d %s", path, at, status, body)
				}
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		path, used := own[random.IntN(len(own))], ""
		for range 2 + random.IntN(2) {
			all := places(path)
			if len(all) == 0 {
				break
			}
			name := names[random.IntN(len(names))]
			path, used = spellings[name](path, all[random.IntN(len(all))]), used+name+", "
		}
		try(used, path)
		try(used+"a host", spellings["a host"](path, 0))
	}
	if res := ask.get("/api/activities"); res.StatusCode != 200 || !strings.Contains(string(res.Body), `"data"`) {
		t.Errorf("the path itself: %d %.80s", res.StatusCode, res.Body)
	}
}

// TestOrdinaryPaths: the other server gets its own paths as the client wrote them.
func TestOrdinaryPaths(t *testing.T) {
	t.Parallel()
	w := newWorld(t, says("old"), nil)
	ask := &wire{w: w}
	for _, path := range []string{
		"/portfolio/unit/BIO", "/portfolio/unit/BIO/publications", "/portal/unit/%C3%84%20b",
		"/portal/person/a.b-c_d", "/portfolio/topic/C++", "/portfolio/person/65f0c0ffee0000000000abcd",
		"/portfolio/project/x%2Fy", "/portfolio/unit/", "/portfolio//unit/BIO", "/img/logo.v2.png", "/index.php",
		"/index.php?page=2", "/user.php/x", "/user/login?redirect=%2Fportal", "/API", "/api/dashboard/oa-status",
		"/api/groups/tree", "/api/activities/x", "/api/activitiesx", "/a;b/c", "/.well-known/security.txt",
		"/a/100%25", "/a,b/(c)/d=e/~f", "/a/b:c@d", "/caf%E9",
	} {
		before := w.asked.Load()
		res := ask.get(path)
		if r, _ := w.request(); res.StatusCode != 200 || w.asked.Load() != before+1 || r.RequestURI != path {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
}

// TestPrefixes: paths that upstream.paths does not name in every reading do not reach the other server.
func TestPrefixes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, says("old"), func(o *proxy.UpstreamOptions) { o.Paths = []string{"/portal", "/app/"} })
	ask := &wire{w: w}
	for path, want := range map[string]int{
		"/portal": 200, "/portal/": 200, "/portal/x%2fy": 200, "/portal/a;b": 200, "/portal//x": 200, "/app/x": 200,
		"/portal/%C3%84%20b": 200,
		"/app":               404, "/portals": 404, "/Portal/x": 404, "/portal%2fx": 404, "//portal/x": 404,
		"/portal;x/y":  404,
		"/portal%20/x": 404, "/portal.php": 404, "/app%3f/x": 404, "/%2570ortal/x": 404,
		"/portal/..;/admin": 400, "/portal/..;a=b/admin": 400, "/portal/..%3b/admin": 400,
		"/portal/%252e%252e/admin": 400, "/portal/..%20/admin": 400,
		"/portal/%c0%ae%c0%ae/admin": 400, `/portal\..\admin`: 404, `/portal/..\admin`: 400,
		"/portal/x%255c..%255cadmin": 400, "/portal/..%00/admin": 400, "/portal/.../admin": 400,
	} {
		before := w.asked.Load()
		res := ask.get(path)
		if n := w.asked.Load() - before; res.StatusCode != want || (n == 1) != (want == 200) {
			t.Errorf("%s: %d, want %d; asked %d times: %s", path, res.StatusCode, want, n, res.Body)
		}
	}
}

// TestSpelledDoors: the doors of moved routes and of paths that keys name hold in every spelling, and a key opens no
// path that a server may read as one beside its own.
func TestSpelledDoors(t *testing.T) {
	t.Parallel()
	w, _ := newGuarded(t, says("old"), nil)
	ask := &wire{w: w}
	for _, tt := range []struct {
		path   string
		key    string
		status int
	}{
		{"/export/x", "", 403}, {"/export/x", plainKey, 200}, {"/export//x", plainKey, 200}, {"/%65xport", "", 403},
		{"/export/x;y", "", 403}, {"/export/x%2fy", plainKey, 200}, {"/exports", "", 200}, {"/api/other", "", 200},
		{"/export%20", "", 404}, {"/EXPORT", "", 404}, {"//export", "", 403}, {"/export;x", "", 404},
		{"/export.php", "", 404}, {"/export%2fx", "", 404}, {"/index.php/export", "", 404},
		{"//host/export", "", 404},
		{"/%2565xport", "", 404}, {"/EXPORT", plainKey, 404}, {"/export%2fx", plainKey, 404},
		{"/export;x", plainKey, 404}, {"//host/export", apiKey, 404}, {"/Api/dashboard/oa", apiKey, 404},
		{"/api/projects/x", "", 403}, {"/api//projects/x", "", 404}, {"/API/projects", "", 404},
		{"/api/projects;x/y", "", 404}, {"/api/projects.php", apiKey, 404}, {"//api/projects/x", apiKey, 404},
		{"/portfolio/SPECTRUM/x", "", 404},
	} {
		headers := []string(nil)
		if tt.key != "" {
			headers = append(headers, "X-API-Key: "+tt.key)
		}
		before := w.asked.Load()
		res := ask.get(tt.path, headers...)
		if n := w.asked.Load() - before; res.StatusCode != tt.status || (n == 1) != (tt.status == http.StatusOK) {
			t.Errorf("%+v: %d, asked %d times: %s", tt, res.StatusCode, n, res.Body)
		}
	}
}
