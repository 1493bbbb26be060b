package pages

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"vitrine/cmd/vitrine/programtest"
)

const (
	embeddingDoc = "../../../../docs/embedding.md"
	docHost      = "https://data.institute.example" // the server of lists in the document
	docUnit      = "/unit/BIO"                      // a unit in the document
	demoUnit     = "/unit/ECO"                      // a unit of the demo
	snippetLines = 15                               // the most lines of a snippet
	listMark     = `class="vl-list"`                // every fragment has it
)

// snippet is a fenced block of the document.
type snippet struct{ heading, language, text string }

// snippets reads the document.
func snippets(t *testing.T) (all []snippet) {
	t.Helper()
	text, err := os.ReadFile(embeddingDoc)
	if err != nil {
		t.Fatal(err)
	}
	heading := ""
	for _, part := range regexp.MustCompile("(?m)^#+ (.*)$|^```(\\w+)\n((?s:.*?))^```$").
		FindAllStringSubmatch(string(text), -1) {
		if part[1] != "" {
			heading = part[1]
		} else {
			all = append(all, snippet{heading, part[2], part[3]})
		}
	}
	return all
}

// snippetOf returns the snippet in a language below a heading, adapted to the demo on a server.
func snippetOf(t *testing.T, heading, language, server string) string {
	t.Helper()
	for _, s := range snippets(t) {
		if s.heading == heading && s.language == language {
			return onDemo(s.text, server)
		}
	}
	t.Fatalf("%s has no %s under %q", embeddingDoc, language, heading)
	return ""
}

// onDemo replaces the example's names in a text of the document by those of the demo on a server.
func onDemo(text, server string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, docHost, server), docUnit, demoUnit)
}

// inlineOf returns the code in the document's text that has the given beginning.
func inlineOf(t *testing.T, begins, server string) string {
	t.Helper()
	text, err := os.ReadFile(embeddingDoc)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "`"+begins)
	code, _, closed := strings.Cut(rest, "`")
	if !ok || !closed {
		t.Fatalf("%s has no code `%s…`", embeddingDoc, begins)
	}
	return onDemo(begins+code, server)
}

// TestEmbeddingSnippets: each snippet is short, and a test of this file runs it.
func TestEmbeddingSnippets(t *testing.T) {
	programtest.WholeOnly(t)
	tested := map[string]bool{
		"The element html": true, "Appearance css": true, "nginx SSI nginx": true, "Apache SSI sh": true,
		"Apache SSI apache": true, "Varnish ESI vcl": true,
		"PHP php": true, "Twig php": true, "Twig twig": true, "TYPO3 Fluid php": true, "TYPO3 Fluid xml": true,
		"WordPress php": true,
		"iframe html":   true, "oEmbed sh": true, "curl sh": true, "Python python": true,
		"Citation styles yaml": true, "People html": true,
	}
	for _, s := range snippets(t) {
		if n := strings.Count(s.text, "\n"); n > snippetLines {
			t.Errorf("%s: %d lines of %s; at most %d", s.heading, n, s.language, snippetLines)
		}
		if !tested[s.heading+" "+s.language] {
			t.Errorf("%s: no test runs its %s", s.heading, s.language)
		}
		delete(tested, s.heading+" "+s.language)
	}
	for name := range tested {
		t.Errorf("the document no longer has %s", name)
	}
}

// TestEmbeddingStyles: with the settings of the document, and files at their names, the program has the styles.
func TestEmbeddingStyles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	settings := snippetOf(t, "Citation styles", "yaml", "")
	style := `<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0" default-locale="fr-FR">
		<info><title>S</title><id>s</id><updated>2026-11-30T00:00:00+00:00</updated></info>
		<citation><layout><text variable="title"/></layout></citation>
		<bibliography><layout><text term="in"/><text variable="title" prefix=" "/></layout></bibliography></style>`
	locale := `<locale xmlns="http://purl.org/net/xbiblio/csl" version="1.0" xml:lang="fr-FR">
		<terms><term name="in">dans</term></terms></locale>`
	for _, name := range regexp.MustCompile(`[\w-]+\.(csl|xml)`).FindAllString(settings, -1) {
		text := style
		if strings.HasSuffix(name, ".xml") {
			text = locale
		}
		programtest.WriteLines(t, filepath.Join(dir, name), text)
	}
	programtest.WriteLines(t, filepath.Join(dir, "vitrine.yml"), settings)
	s := programtest.Start(t, dir, "--demo", "--config", "vitrine.yml").Ready()
	for _, name := range []string{"apa", "din"} {
		if status, body := s.Get("/lists/activities.json?limit=1&style=" + name); status != http.StatusOK ||
			!strings.Contains(body, `"text":"Dans `) {
			t.Errorf("%s: %d %.600s", name, status, body)
		}
	}
}

// The states of a line.
const (
	up = iota
	broken
	silent
)

// flaky is a proxy to a server of lists that can fail, as a network does.
type flaky struct {
	*httptest.Server
	state atomic.Int32
}

// newFlaky starts a proxy to a server. Answers are fresh for only a second.
func newFlaky(t *testing.T, server string) *flaky {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	through := httputil.NewSingleHostReverseProxy(to)
	through.ModifyResponse = func(res *http.Response) error {
		res.Header.Set("Cache-Control", "public, max-age=1, stale-while-revalidate=600, stale-if-error=600")
		return nil
	}
	l := new(flaky)
	end := make(chan struct{})
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch l.state.Load() {
		case broken:
			panic(http.ErrAbortHandler)
		case silent:
			select {
			case <-r.Context().Done():
			case <-end:
			}
			return
		}
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { close(end); l.Close() })
	return l
}

// includes are the ways to include a list without a script. Each returns a function that returns
// the page of the site, or an empty text while there is no answer.
var includes = []struct {
	name  string
	needs string // program or file
	start func(t *testing.T, server string) (page func() string)
}{
	{"nginx", "nginx", startNginx},
	{"apache", "apache2", startApache},
	{"varnish", "varnishd", startVarnish},
	{"php", "php", startPHP},
	{"twig", "/usr/share/php/Twig/autoload.php", startTwig},
	{"fluid", "php", startFluid},
	{"wordpress", "php", startWordPress},
}

// TestEmbeddingIncludes: pages have the list, and keep it when the server of lists breaks
// connections or does not answer.
func TestEmbeddingIncludes(t *testing.T) {
	programtest.WholeOnly(t)
	data := programtest.ListHost(t)
	for _, way := range includes {
		t.Run(way.name, func(t *testing.T) {
			_, err := os.Stat(way.needs)
			if _, missing := exec.LookPath(way.needs); missing != nil && err != nil {
				t.Skipf("%s is not installed", way.needs)
			}
			t.Parallel()
			l := newFlaky(t, data.Base)
			page := way.start(t, l.URL)
			// The snippets' time-outs are of some seconds, which the first answer may take on a busy machine.
			programtest.Await(t, "the page has the list",
				func() string { return programtest.Lacking(page(), listMark) })
			for _, state := range []int32{up, broken, silent} {
				l.state.Store(state)
				// Long enough for the site's copy to expire.
				for range 5 {
					if html := page(); !strings.Contains(html, listMark) || !strings.Contains(html, "Our site") {
						t.Fatalf("line %d: the page has no list:\n%.600s", state, html)
					}
					<-time.After(300 * time.Millisecond)
				}
			}
		})
	}
}

// freeAddress returns an address for a program that cannot choose a port itself. On Linux the whole of 127.0.0.0/8 is
// the loopback: at a host of its own the port stays free until the program has started, whatever ports others get.
func freeAddress(t *testing.T) string {
	t.Helper()
	host := "127.0.0.1"
	if runtime.GOOS == "linux" {
		host = net.IPv4(127, byte(1+rand.IntN(254)), byte(rand.IntN(256)), byte(1+rand.IntN(254))).String()
	}
	ln, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// daemon runs a program until the test ends, and waits until it answers at an address.
func daemon(t *testing.T, address string, name string, args ...string) {
	t.Helper()
	program(t, func() bool { return visit(address, "/") != "" }, name, args...)
}

// program runs a program until the test ends, and waits until it is ready.
func program(t *testing.T, ready func() bool, name string, args ...string) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		if t.Failed() {
			t.Logf("%s: %.2000s", name, out.String())
		}
	})
	for !ready() {
		select {
		case <-ended:
			t.Fatalf("%s ended: %s", name, out.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// browser has the headers that a browser sends when its visitor opens a page of a site.
var browser = map[string]string{
	"Accept":          "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
	"Accept-Encoding": "gzip, deflate, br, zstd", "Accept-Language": "de,en;q=0.5", "Upgrade-Insecure-Requests": "1",
	"Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "none",
	"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
}

// visit returns the text that a visitor sees of a page, with additional request headers; an empty
// text if there is no answer.
func visit(address, path string, headers ...string) string {
	_, page := request(http.MethodGet, address, path, headers...)
	return page
}

// request sends a browser's request, and decompresses the answer.
func request(method, address, path string, headers ...string) (status int, page string) {
	var form io.Reader
	if method == http.MethodPost {
		form = strings.NewReader("name=Anna&text=" + strings.Repeat("x", 10_000))
	}
	req, err := http.NewRequest(method, "http://"+address+path, form)
	if err != nil {
		return 0, ""
	}
	for name, value := range browser {
		req.Header.Set(name, value)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close()
	body := io.Reader(res.Body)
	if res.Header.Get("Content-Encoding") == "gzip" && method != http.MethodHead {
		if body, err = gzip.NewReader(res.Body); err != nil {
			return res.StatusCode, ""
		}
	}
	text, _ := io.ReadAll(body)
	return res.StatusCode, string(text)
}

// folder returns a folder with files that daemons of other users can use.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "embedding")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, sub := range []string{dir, filepath.Join(dir, "site"), filepath.Join(dir, "cache")} {
		_ = os.MkdirAll(sub, 0o755)
		if err := os.Chmod(sub, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// site returns a page of a site with a directive in it.
func site(directive string) string {
	return "<!doctype html><title>Our site</title>\n" + directive + "\n"
}

func startNginx(t *testing.T, server string) func() string {
	address := freeAddress(t)
	dir := folder(t, map[string]string{"site/page.html": site(inlineOf(t, "<!--# include", ""))})
	conf := snippetOf(t, "nginx SSI", "nginx", server)
	conf = strings.NewReplacer("/var/cache/nginx/lists", dir+"/cache", "server {",
		"server { listen "+address+"; root "+dir+"/site;").Replace(conf)
	nginx(t, dir, address, conf)
	return func() string { return visit(address, "/page.html") }
}

// nginx runs nginx with a given http block until the test ends.
func nginx(t *testing.T, dir, address, conf string) {
	t.Helper()
	conf = "daemon off; pid " + dir +
		"/pid; error_log stderr; events {}\nhttp { access_log off; gzip on; types { text/html html; }\n" + conf +
		"}\n"
	if os.Geteuid() == 0 {
		conf = "user root;\n" + conf
	}
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon(t, address, "nginx", "-e", "stderr", "-p", dir, "-c", file)
}

func startApache(t *testing.T, server string) func() string {
	address := freeAddress(t)
	dir := folder(t, map[string]string{"site/page.html": site(inlineOf(t, "<!--#include", ""))})
	inDir := strings.NewReplacer("/var/www/html", dir+"/site")
	job := func() {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", inDir.Replace(snippetOf(t, "Apache SSI", "sh", server)))
		_ = cmd.Run() // fails while the proxy breaks connections
	}
	apache(t, dir, address, inDir.Replace(snippetOf(t, "Apache SSI", "apache", server)), "include")
	return func() string { job(); return visit(address, "/page.html") }
}

// apache runs Apache with a virtual host's configuration and some modules, until the test ends.
func apache(t *testing.T, dir, address, host string, modules ...string) {
	t.Helper()
	conf := "ServerRoot " + dir + "\nServerName localhost\nListen " + address + "\nPidFile " + dir +
		"/pid\nErrorLog /dev/stderr\n"
	for _, name := range append([]string{"mpm_event", "authz_core", "mime", "filter", "deflate"}, modules...) {
		conf += "LoadModule " + name + "_module /usr/lib/apache2/modules/mod_" + name + ".so\n"
	}
	conf += "TypesConfig /dev/null\nAddType text/html .html\nAddOutputFilterByType DEFLATE text/html\n"
	conf += "<VirtualHost *>\nDocumentRoot " + dir + "/site\n" + host + "</VirtualHost>\n"
	if os.Geteuid() == 0 {
		conf += "User www-data\nGroup www-data\n"
	}
	file := filepath.Join(dir, "apache.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon(t, address, "apache2", "-D", "FOREGROUND", "-f", file)
}

func startVarnish(t *testing.T, server string) func() string {
	page := site(inlineOf(t, "<esi:include", ""))
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, page)
	}))
	t.Cleanup(origin.Close)
	address := freeAddress(t)
	host := func(of string) string {
		name, port, _ := net.SplitHostPort(strings.TrimPrefix(of, "http://"))
		return fmt.Sprintf(".host = %q; .port = %q;", name, port)
	}
	vcl := strings.NewReplacer(
		`.host = "127.0.0.1"; .port = "8080";`, host(origin.URL),
		`.host = "data.institute.example"; .port = "80";`, host(server),
	).Replace(snippetOf(t, "Varnish ESI", "vcl", server))
	dir := folder(t, map[string]string{"front.vcl": vcl})
	daemon(t, address, "varnishd", "-F", "-n", filepath.Join(dir, "work"), "-a", address, "-f",
		filepath.Join(dir, "front.vcl"), "-s", "malloc,16m")
	return func() string { return visit(address, "/page.html") }
}

// php returns a function that runs a script in a folder.
func php(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "php", "-d", "error_reporting=-1", "-d", "display_errors=1", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("php %s: %v\n%s", script, err, out)
	}
	if bytes.Contains(out, []byte("Warning:")) || bytes.Contains(out, []byte("Deprecated:")) ||
		bytes.Contains(out, []byte("Notice:")) {
		t.Errorf("php %s: %.500s", script, out)
	}
	return string(out)
}

// phpSite returns the page of a site in PHP. Before each visit it makes the site's copies old.
func phpSite(t *testing.T, files map[string]string) func() string {
	t.Helper()
	dir := folder(t, files)
	if err := os.Mkdir(filepath.Join(dir, "copies"), 0o755); err != nil {
		t.Fatal(err)
	}
	return func() string {
		copies, _ := filepath.Glob(filepath.Join(dir, "copies", "*"))
		for _, file := range copies {
			if err := os.Chtimes(file, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		return php(t, dir, "page.php")
	}
}

func startPHP(t *testing.T, server string) func() string {
	return phpSite(t, map[string]string{
		"list.php": snippetOf(t, "PHP", "php", server),
		"page.php": "<?php require 'list.php'; ?>" + site(inlineOf(t, "<?= vitrine_list", server)),
	})
}

func startTwig(t *testing.T, server string) func() string {
	return phpSite(t, map[string]string{
		"list.php":  snippetOf(t, "PHP", "php", server),
		"page.twig": site(snippetOf(t, "Twig", "twig", server)),
		"page.php": "<?php require '/usr/share/php/Twig/autoload.php'; require 'list.php';\n" +
			"$twig = new \\Twig\\Environment(new \\Twig\\Loader\\FilesystemLoader('.'));\n" +
			snippetOf(t, "Twig", "php", server) + "echo $twig->render('page.twig');\n",
	})
}

// startFluid runs the view helper as Fluid would: the registries that the tests use do not have
// Fluid itself.
func startFluid(t *testing.T, server string) func() string {
	var page struct {
		XMLName xml.Name `xml:"html"`
		List    struct {
			URL string `xml:"url,attr"`
		} `xml:"http://typo3.org/ns/Institute/Site/ViewHelpers list"`
	}
	if err := xml.Unmarshal([]byte(snippetOf(t, "TYPO3 Fluid", "xml", server)), &page); err != nil ||
		page.List.URL == "" {
		t.Fatalf("the template has no list: %v", err)
	}
	return phpSite(t, map[string]string{
		"list.php":   snippetOf(t, "PHP", "php", server),
		"helper.php": snippetOf(t, "TYPO3 Fluid", "php", server),
		"fluid.php": `<?php namespace TYPO3Fluid\Fluid\Core\ViewHelper;
abstract class AbstractViewHelper {
    protected $escapeOutput = true;
    protected $arguments = [];
    private $known = [];
    abstract public function render();
    protected function registerArgument(string $name, string $type, string $description, bool $required = false): static { $this->known[$name] = $type; return $this; }
    public function run(array $arguments): string {
        $this->initializeArguments();
        foreach ($arguments as $name => $value) settype($value, $this->known[$name]);
        $this->arguments = $arguments;
        return $this->escapeOutput ? htmlspecialchars($this->render()) : $this->render();
    }
}`,
		"page.php": "<?php require 'fluid.php'; require 'list.php'; require 'helper.php'; ?>" +
			site("<?= (new \\Institute\\Site\\ViewHelpers\\ListViewHelper)->run(['url' => '"+page.List.URL+"']) ?>"),
	})
}

// wordPress has the few functions of WordPress that shortcodes call.
const wordPress = `<?php
function add_shortcode(string $tag, callable $make) { $GLOBALS['shortcodes'][$tag] = $make; }
function get_transient(string $name) { return false; /* it has run out */ }
function set_transient(string $name, $value, int $seconds) { return true; }
function get_option(string $name, $default = false) { return is_file("copies/$name") ? file_get_contents("copies/$name") : $default; }
function update_option(string $name, $value, $autoload = null) { return (bool) file_put_contents("copies/$name", $value); }
function wp_remote_get(string $url, array $arguments = []) {
    $context = stream_context_create(['http' => ['timeout' => $arguments['timeout'], 'ignore_errors' => true]]);
    $body = @file_get_contents($url, false, $context);
    return $body === false ? null : ['code' => (int) explode(' ', $http_response_header[0])[1], 'body' => $body];
}
function wp_remote_retrieve_response_code($answer) { return $answer['code'] ?? ''; }
function wp_remote_retrieve_body($answer) { return $answer['body'] ?? ''; }`

// startWordPress runs the shortcode with those functions.
func startWordPress(t *testing.T, server string) func() string {
	shortcode := inlineOf(t, "[vitrine src=", server)
	_, src, _ := strings.Cut(shortcode, `"`)
	src, _, _ = strings.Cut(src, `"`)
	return phpSite(t, map[string]string{
		"wordpress.php": wordPress,
		"list.php":      "<?php\n" + snippetOf(t, "WordPress", "php", server),
		"page.php": "<?php require 'wordpress.php'; require 'list.php'; ?>" +
			site("<?= $shortcodes['vitrine'](['src' => '"+strings.ReplaceAll(src, "&", "&amp;")+
				"']) . $shortcodes['vitrine'](['src' => 'file:///etc/hostname']) . $shortcodes['vitrine']([]) ?>"),
	})
}

// TestEmbeddingFetches runs the snippets of programs.
func TestEmbeddingFetches(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	data := programtest.ListHost(t)
	l := newFlaky(t, data.Base)
	run := func(t *testing.T, dir, program string, args ...string) (string, error) {
		t.Helper()
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
		var stderr bytes.Buffer
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir, cmd.Stderr = dir, &stderr
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, stderr.String())
		}
		return string(out), err
	}
	t.Run("curl", func(t *testing.T) {
		dir := t.TempDir()
		call := snippetOf(t, "curl", "sh", l.URL)
		for _, state := range []int32{up, up, broken} {
			l.state.Store(state)
			_, err := run(t, dir, "sh", "-c", unhurried(call))
			bib, readErr := os.ReadFile(filepath.Join(dir, "publications.bib"))
			if readErr != nil || !bytes.HasPrefix(bib, []byte("@")) {
				t.Errorf("line %d: %v, %v, %.300s", state, err, readErr, bib)
			}
		}
		l.state.Store(up)
	})
	t.Run("python", func(t *testing.T) {
		out, err := run(t, t.TempDir(), "python3", "-c", unhurried(snippetOf(t, "Python", "python", l.URL)))
		if err != nil || !regexp.MustCompile(`(?m)^20\d\d \S`).MatchString(out) {
			t.Errorf("%v\n%.500s", err, out)
		}
	})
	t.Run("oembed", func(t *testing.T) {
		// The server names lists by its own address, not by the proxy's.
		out, err := run(t, t.TempDir(), "sh", "-c", unhurried(snippetOf(t, "oEmbed", "sh", data.Base)))
		var answer struct{ Type, Version, HTML string }
		if err == nil {
			err = json.Unmarshal([]byte(out), &answer)
		}
		if err != nil || answer.Type != "rich" || answer.Version != "1.0" ||
			!strings.Contains(answer.HTML, "<iframe ") {
			t.Errorf("%v\n%.500s", err, out)
		}
	})
}
