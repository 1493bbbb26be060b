package pages

import (
	"bufio"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

// TestFacesOfCaches runs the HTTP working group's tests of caches against upstream.url: all required and optimal ones
// pass but those that testdata/caches.txt gives a reason for. Varnish and nginx, run in the same way, are for
// comparison.
func TestFacesOfCaches(t *testing.T) {
	packages := facePrograms(t)
	suite := filepath.Join(packages, "node_modules", "http-cache-tests")
	origin := cacheOrigin(t, suite)
	expected := make(map[string]bool)
	text, err := os.ReadFile("../testdata/caches.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if id, reason, _ := strings.Cut(strings.TrimSpace(line), " "); id != "" && id != "#" {
			expected[id] = strings.TrimSpace(reason) != ""
		}
	}
	dir := t.TempDir()
	config := "upstream: {url: 'http://" + origin + "', methods: [POST, PUT, DELETE, M-SEARCH]}\n"
	if err := os.WriteFile(filepath.Join(dir, "vitrine.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("Vitrine", func(t *testing.T) {
		t.Parallel()
		own := programtest.Start(t, dir, "--demo", "--config", "vitrine.yml").Ready()
		failed := runCacheTests(t, packages, own.Base)
		for id, how := range failed {
			if !expected[id] {
				t.Errorf("%s fails without a reason: %s", id, how)
			}
		}
		for id := range maps.Keys(expected) {
			if failed[id] == "" {
				t.Errorf("../testdata/caches.txt has a reason why %s fails, and it passes", id)
			}
		}
	})
	for command, start := range map[string]func(t *testing.T, origin string) string{
		"varnishd": plainVarnish, "nginx": plainNginx} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(command); err != nil {
				t.Skip(command + " is not installed")
			}
			runCacheTests(t, packages, start(t, origin))
		})
	}
}

// cacheOrigin starts the suite's server behind the caches.
func cacheOrigin(t *testing.T, suite string) (addr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "server/server.mjs")
	cmd.Dir = suite
	cmd.Env = append(os.Environ(), "npm_config_protocol=http", "npm_config_port=0",
		"npm_config_pidfile="+filepath.Join(t.TempDir(), "pid"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // which reports the kill
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(strings.Trim(line[strings.LastIndex(line, "//")+2:], "/\n"))
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// runCacheTests returns the required and optimal tests that fail, with what went wrong, and logs how many pass.
func runCacheTests(t *testing.T, packages, base string) map[string]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "--no-warnings", "caches.mjs", base)
	cmd.Dir = packages
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	failed, passed, all := make(map[string]string), make(map[string]int), make(map[string]int)
	for line := range strings.Lines(string(out)) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(fields) < 3 || fields[0] == "check" {
			continue
		}
		all[fields[0]]++
		if fields[2] == "pass" {
			passed[fields[0]]++
		} else {
			failed[fields[1]] = fields[2]
		}
	}
	t.Logf("%d of %d required and %d of %d optimal tests pass", passed["required"], all["required"],
		passed["optimal"], all["optimal"])
	return failed
}

func plainVarnish(t *testing.T, origin string) string {
	t.Helper()
	address := freeAddress(t)
	dir := folder(t, nil)
	daemon(t, address, "varnishd", "-F", "-n", filepath.Join(dir, "work"), "-a", address, "-b", origin, "-s",
		"malloc,16m")
	return "http://" + address
}

func plainNginx(t *testing.T, origin string) string {
	t.Helper()
	address := freeAddress(t)
	dir := folder(t, nil)
	nginx(t, dir, address,
		fmt.Sprintf(
			"proxy_cache_path %s/cache keys_zone=k:8m;\nserver { listen %s; location / { proxy_pass http://%s; "+
				"proxy_cache k; proxy_cache_revalidate on; } }\n", dir, address, origin))
	return "http://" + address
}
