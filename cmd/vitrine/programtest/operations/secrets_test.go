package operations

import (
	"bytes"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/configs"
)

// canaries writes a unique word to a file for every secret setting of commands in a folder, and
// returns the words by the setting's path.
func canaries(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, words := t.TempDir(), map[string]string{}
	for _, setting := range configs.Settings() {
		if !setting.Secret {
			continue
		}
		word := "canary-" + strings.ReplaceAll(setting.Path, ".", "-") + "-0123456789abcdef0123456789"
		file := filepath.Join(files, setting.Path)
		programtest.WriteLines(t, file, word)
		programtest.Setenv(dir, "VITRINE_"+strings.ToUpper(strings.ReplaceAll(setting.Path, ".", "_"))+"_FILE", file)
		words[setting.Path] = word
	}
	// The address of a target may have secrets anywhere; nothing listens there, so that sending fails and is logged.
	words["purge.targets"] = "canary-target"
	programtest.Setenv(dir, "VITRINE_PURGE_TARGETS",
		"front=purge http://canary-target:canary-target@127.0.0.1:1/canary-target?token=canary-target")
	if len(words) < 4 {
		t.Fatalf("only %d settings are secret", len(words))
	}
	return words
}

// TestSecretsStayIn looks for secrets in everything that the program writes or sends.
func TestSecretsStayIn(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := t.TempDir()
	words := canaries(t, dir)
	const password = "canary-password"
	words["store"] = password
	programtest.Setenv(dir, "VITRINE_LOG_LEVEL", "debug")
	programtest.Setenv(dir, "VITRINE_LOG_REQUESTS", "true")
	said := map[string]string{}
	say := func(where, what string) { said[where] += what }

	say("config", programtest.Run(t, dir, "config"))
	s := programtest.Start(t, dir, "--demo").Ready()
	token := strings.TrimSpace(programtest.Run(t, dir, "token", "--user", "ssandman"))
	words["token"] = token
	api, portfolio, admin := words["auth.api_key"], words["auth.portfolio_key"], words["admin.token"]
	for _, call := range []string{
		"/api/activities?limit=1&apikey=" + api, "/api/activities?limit=x&apikey=" + api,
		"/api/activities?apikey=" + api + "x",
		"/api/activities?limit=1&APIKEY=" + api, "/api/activities?limit=1&%61pikey=" + url.QueryEscape(api),
		"/api/none?apikey=" + api,
		"/portfolio/spectrum?limit=1&apikey=" + portfolio, "/api/users/unknown?apikey=" + api,
		"/api/html?limit=1&json=%7B&apikey=" + api,
	} {
		_, body := s.Get(call)
		say("answers", body)
	}
	for _, header := range [][2]string{{"X-API-Key", api}, {"Authorization", "Bearer " + token},
		{"Cookie", "vitrine_session=" + token}, {"Authorization", "Bearer " + token + "x"}} {
		_, body := s.Get("/api/all-activities?page=my-activities", header[0], header[1])
		say("answers", body)
	}
	for _, path := range []string{"/", "/metrics", "/admin/config", "/admin/views", "/debug/pprof/",
		"/debug/pprof/cmdline", "/debug/pprof/goroutine?debug=2", "/debug/pprof/heap?debug=1"} {
		for _, given := range []string{admin, admin + "x"} {
			_, body := programtest.Fetch(t, http.MethodGet, s.Admin+path, "Authorization", "Bearer "+given)
			say("admin", body)
		}
	}
	for _, path := range []string{"/openapi.json", "/openapi-3.0.json", "/docs", "/readyz", "/healthz"} {
		_, body := s.Get(path)
		say("answers", body)
	}
	s.Stop()
	say("log", s.Log())

	// A file names a store that cannot be reached, with a password.
	file := filepath.Join(dir, "store")
	programtest.WriteLines(t, file, "mongodb://reader:"+password+
		"@127.0.0.1:1/institute?serverSelectionTimeoutMS=200&connectTimeoutMS=200&timeoutMS=300")
	programtest.Setenv(dir, "VITRINE_STORE_FILE", file)
	for _, args := range [][]string{{"config"}, {"status"}, {"materialize"}, {"query"}, {"import", file},
		{"osiris"}} {
		cmd := programtest.Command(dir, args...)
		out, _ := cmd.CombinedOutput() // fails as intended
		say(args[0], string(out))
	}
	if !strings.Contains(said["status"], "127.0.0.1:1") {
		t.Errorf("status did not try the store that the file names: %s", said["status"])
	}
	for where, what := range said {
		for path, word := range words {
			if i := strings.Index(what, word); i >= 0 {
				t.Errorf("%s reveals %s: …%.200s", where, path, what[max(i-100, 0):])
			}
		}
	}
}

// TestVisiblePassword: if an operator gives the store's password on the command line, the log warns
// that others can read it there, and the operator's listener does not show it.
func TestVisiblePassword(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	out, err := programtest.Command(t.TempDir(), "materialize", "--store",
		"mongodb://a:canary-password@127.0.0.1:1/x?serverSelectionTimeoutMS=100").CombinedOutput()
	if text := string(out); err == nil || !strings.Contains(text, "VITRINE_STORE_FILE") ||
		strings.Contains(text, "canary") {
		t.Errorf("materialize: %v: %s", err, text)
	}
	s := programtest.Start(t, t.TempDir(), "--demo")
	if status, body := programtest.Fetch(t, http.MethodGet, s.Admin+"/debug/pprof/cmdline"); status !=
		http.StatusNotFound {
		t.Errorf("the command line: %d %s", status, body)
	}
}

// TestSecretFlags: secret settings have no flags.
func TestSecretFlags(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	for _, setting := range configs.Settings() {
		if setting.Secret && setting.Flag != "" {
			t.Errorf("%s is secret and has the flag --%s", setting.Path, setting.Flag)
		}
	}
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("no list of processes to search")
	}
	dir := t.TempDir()
	words := canaries(t, dir)
	s := programtest.Start(t, dir, "--demo")
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.Cmd.Process.Pid), "cmdline"))
	if err != nil {
		t.Fatal(err)
	}
	for path, word := range words {
		if bytes.Contains(line, []byte(word)) {
			t.Errorf("the list of processes reveals %s", path)
		}
	}
}
