package pages

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

// TestCacheWithoutHost: if the key of a cache lacks the host, as nginx's does by default, no client
// gets links to a host that another client has sent.
func TestCacheWithoutHost(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("nginx"); err != nil {
		t.Skip("nginx is not installed")
	}
	data, address := programtest.ListHost(t), freeAddress(t)
	dir := folder(t, nil)
	conf := "daemon off; pid " + dir +
		"/pid; error_log stderr; events {}\nuser root;\nhttp { access_log off; proxy_cache_path " + dir +
		"/cache keys_zone=all:1m;\n" +
		"server { listen " + address + "; location / { proxy_pass " + data.Base +
		"; proxy_set_header Host $http_host; proxy_cache all; proxy_cache_valid any 1m; add_header X-Kept " +
		"$upstream_cache_status; } } }\n"
	file := programtest.WriteFile(t, dir, conf)
	daemon(t, address, "nginx", "-e", "stderr", "-p", dir, "-c", file)
	for _, path := range []string{"/", "/lists", "/lists.json", "/lists/activities", "/lists/activities.json",
		"/lists/activities.html", "/lists/activities.bib", "/lists/unit/ECO"} {
		for i, host := range []string{"evil.example", "localhost"} {
			res, body := programtest.AskAs(t, "http://"+address+path, host)
			if res.StatusCode != http.StatusOK || i > 0 && res.Header.Get("X-Kept") != "HIT" ||
				strings.Contains(body, "evil") || strings.Contains(res.Header.Get("Link"), "evil") {
				t.Errorf("%s of %s: %s, %s", path, host, res.Status, res.Header.Get("X-Kept"))
			}
		}
	}
	for _, path := range []string{"/lists/activities.atom", "/lists/activities.csv", "/lists/activities.jsonld",
		"/sitemap.xml"} {
		if res, body := programtest.AskAs(t, "http://"+address+path, "evil.example"); res.StatusCode !=
			http.StatusMisdirectedRequest || strings.Contains(body, "evil") {
			t.Errorf("%s: %s %s", path, res.Status, body)
		}
		if res, body := programtest.AskAs(t, "http://"+address+path, "localhost"); res.StatusCode != http.StatusOK ||
			!strings.Contains(body, "http://localhost/") {
			// nginx does not cache errors
			t.Errorf("%s after it: %s", path, res.Status)
		}
	}
}

// TestHosts: absolute URLs have the hosts of listen and of the loopback, or those of lists.hosts.
func TestHosts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteDump(t, dir)
	for settings, hosts := range map[string]map[string]int{
		"": {"localhost": 200, "LOCALHOST:1": 200, "127.0.0.1:80": 200,
			"[::1]:80": 200, "127.0.0.2": 200, "0.0.0.0": 421, "evil.example": 421},
		"lists: {hosts: [www.example:80]}": {"www.example:80": 200, "www.example": 421, "localhost": 421,
			"127.0.0.2": 421},
		"lists: {base_url: https://www.example}": {"evil.example": 200, "www.example": 200},
	} {
		file := programtest.WriteFile(t, dir, "store: bolt://v.db\n"+settings+"\n")
		s := programtest.Start(t, dir, "--config", file, "--listen", "127.0.0.2:0").Ready()
		for host, want := range hosts {
			if res, body := programtest.AskAs(t, s.Base+"/lists/activities.atom", host); res.StatusCode != want {
				t.Errorf("%s: %s is %s: %s", settings, host, res.Status, body)
			}
		}
		s.Stop()
	}
}
