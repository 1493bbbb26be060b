package pages

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"text/template"
	"unicode/utf8"

	"golang.org/x/net/html"

	"vitrine/cmd/vitrine/programtest"
)

// road is a proxy before a server of lists, which names the proxy's address as its own. It can
// fail.
type road struct {
	*httptest.Server
	broken atomic.Bool
	strays atomic.Value // the result of a visitor's request; a string
}

// newRoad starts a demo behind a road.
func newRoad(t *testing.T) *road {
	t.Helper()
	r, to := new(road), new(url.URL)
	through := &httputil.ReverseProxy{
		Rewrite:   func(p *httputil.ProxyRequest) { p.SetURL(to); p.Out.Host = p.In.Host },
		Transport: &http.Transport{DisableCompression: true},
	}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.broken.Load() {
			panic(http.ErrAbortHandler)
		}
		for _, name := range []string{"Cookie", "Authorization", "Range", "If-None-Match", "If-Modified-Since",
			"Content-Length"} {
			if value := req.Header.Get(name); value != "" {
				r.strays.Store(name + ": " + value)
			}
		}
		if "http://"+req.Host != r.URL {
			r.strays.Store("Host: " + req.Host)
		}
		through.ServeHTTP(w, req)
	}))
	t.Cleanup(r.Close)
	dir := t.TempDir()
	programtest.Setenv(dir, "VITRINE_LISTS_BASE_URL", r.URL)
	base, err := url.Parse(programtest.Start(t, dir, "--demo").Ready().Base)
	if err != nil {
		t.Fatal(err)
	}
	*to = *base
	return r
}

// textOf returns the body that a program gets from an address.
func textOf(t *testing.T, address string, header ...string) string {
	t.Helper()
	status, text := programtest.Fetch(t, http.MethodGet, address, header...)
	if status != http.StatusOK {
		t.Fatalf("%s: status %d: %.300s", address, status, text)
	}
	return text
}

// served returns the snippets of the start page without scripts, by their ids.
func served(t *testing.T, data string) map[string]string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(textOf(t, data+"/", "Accept", "text/html")))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if id, ok := strings.CutPrefix(a.Val, "vl_snippet-"); ok && a.Key == "id" {
				all[id] = n.FirstChild.Data
			}
		}
	}
	return all
}

// snippetParts divides a snippet of an include into the configuration of the site's server and the
// part for the page.
func snippetParts(text string) (conf, directive string) {
	conf, directive, _ = strings.Cut(text, "<!-- In the page -->")
	return conf, strings.TrimSpace(directive)
}

// builderIncludes run the snippets that put a fragment into a page, by their ids. Each starts a
// site with two pages: page includes the list, and gone includes one from an address without a
// list.
var builderIncludes = map[string]struct {
	needs string
	start func(t *testing.T, snippet, gone string) (address string)
}{
	"ssi": {"nginx", func(t *testing.T, snippet, gone string) string {
		address := freeAddress(t)
		conf, directive := snippetParts(snippet)
		_, missing := snippetParts(gone)
		dir := folder(t, map[string]string{"site/page": site(directive), "site/gone": site(missing)})
		// Pages made by a program accept POST, and the settings of many sites name their host.
		conf = "default_type text/html; proxy_set_header Host www.institute.example;\nserver { listen " + address +
			"; root " + dir + "/site; error_page 405 =200 $uri;\n" + conf + "}\n"
		nginx(t, dir, address, conf)
		return address
	}},
	"apache": {"apache2", func(t *testing.T, snippet, gone string) string {
		address := freeAddress(t)
		conf, directive := snippetParts(snippet)
		_, missing := snippetParts(gone)
		dir := folder(t, map[string]string{"site/page.html": site(directive), "site/gone.html": site(missing)})
		conf += "Alias /page " + dir + "/site/page.html\nAlias /gone " + dir + "/site/gone.html\n"
		apache(t, dir, address, conf, "alias", "include", "headers", "proxy", "proxy_http", "socache_shmcb", "ssl")
		return address
	}},
	"esi": {"varnishd", func(t *testing.T, snippet, gone string) string {
		conf, directive := snippetParts(snippet)
		_, missing := snippetParts(gone)
		pages := map[string]string{"/": "here", "/page": site(directive), "/gone": site(missing)}
		origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte(pages[r.URL.Path]))
		}))
		t.Cleanup(origin.Close)
		host, port, _ := strings.Cut(strings.TrimPrefix(origin.URL, "http://"), ":")
		address := freeAddress(t)
		dir := folder(t,
			map[string]string{"front.vcl": "vcl 4.1;\nbackend site { .host = \"" + host + "\"; .port = \"" + port +
				"\"; }\n" + conf})
		daemon(t, address, "varnishd", "-F", "-n", filepath.Join(dir, "work"), "-a", address, "-f",
			filepath.Join(dir, "front.vcl"), "-s", "malloc,16m")
		return address
	}},
	"php": {"php", func(t *testing.T, snippet, gone string) string {
		return phpPages(t, snippet, gone, nil,
			func(_, directive string) string { return "<?php require '../list.php'; ?>" + site(directive+"\n") })
	}},
	"twig": {"php", func(t *testing.T, snippet, gone string) string {
		if _, err := os.Stat("/usr/share/php/Twig/autoload.php"); err != nil {
			t.Skip("Twig is not installed")
		}
		return phpPages(t, snippet, gone, nil, func(conf, template string) string {
			return "<?php require '/usr/share/php/Twig/autoload.php'; require '../list.php';\n" +
				"$twig = new \\Twig\\Environment(new \\Twig\\Loader\\ArrayLoader(['page' => <<<'TWIG'\n" +
				site(template+"\n") + "TWIG]));\n" + conf + "echo $twig->render('page');"
		})
	}},
	"drupal": {"php", func(t *testing.T, snippet, gone string) string {
		return phpPages(t, snippet, gone,
			map[string]string{
				"drupal.php": `<?php namespace Drupal\Core\Render; class Markup { static function create($html) { ` +
					`return $html; } }`},
			func(conf, template string) string {
				template = regexp.MustCompile(`{{ (publications_\w+) }}`).ReplaceAllString(template,
					"<?= $$variables['$1']['#markup'] ?>\n")
				return "<?php require '../drupal.php'; require '../list.php';\n" + conf +
					"$variables = []; THEME_preprocess_page($variables); ?>" + site(template)
			})
	}},
	"typo3": {"php", func(t *testing.T, snippet, gone string) string {
		parts := func(snippet string) string {
			code, script, _ := strings.Cut(snippet, "\n# TypoScript")
			called := regexp.MustCompile(`userFunc = (\S+)->(\w+)`).FindStringSubmatch(script)
			if called == nil {
				t.Fatalf("no function in %s", script)
			}
			return code + "\n<!-- In the page -->\n<?= (new \\" + called[1] + ")->" + called[2] + "('', []) ?>"
		}
		return phpPages(t, parts(snippet), parts(gone), nil, func(code, call string) string {
			return "<?php\n" + code + "require '../list.php'; ?>" + site(call+"\n")
		})
	}},
	"wordpress": {"php", func(t *testing.T, snippet, gone string) string {
		page := func(snippet string) string {
			return "<?php chdir('..'); require 'wordpress.php';\n" + snippet + "\n?>" +
				site("<?= current($shortcodes)() ?>\n")
		}
		return phpServer(t, map[string]string{"wordpress.php": wordPress, "page/index.php": page(snippet),
			"gone/index.php": page(strings.ReplaceAll(gone, "vitrine_copy", "another"))})
	}},
}

// phpPages serves pages in PHP with a snippet: page has its two parts, and may require list.php, which has the
// function of the snippet for PHP.
func phpPages(t *testing.T, snippet, gone string, more map[string]string,
	page func(conf, directive string) string) string {
	text, err := os.ReadFile("../../../../proxy/lists/page/snippets.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, function, _ := strings.Cut(string(text), "=== php PHP\n")
	function, _ = snippetParts(function)
	files := map[string]string{"page/index.php": page(snippetParts(snippet)),
		"gone/index.php": page(snippetParts(gone))}
	maps.Copy(files, more)
	files["list.php"] = strings.TrimSpace(unhurried(function))
	return phpServer(t, files)
}

// phpServer serves a folder of PHP until the test ends, and then deletes the cached files.
func phpServer(t *testing.T, files map[string]string) (address string) {
	t.Helper()
	address = freeAddress(t)
	dir := folder(t, nil)
	for _, sub := range []string{"page", "gone", "copies", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	daemon(t, address, "php", "-d", "error_reporting=-1", "-d", "display_errors=1", "-d", "sys_temp_dir="+dir+"/tmp",
		"-S", address, "-t", dir)
	return address
}

// timeOut matches one of a snippet, in seconds.
var timeOut = regexp.MustCompile(`((?i:timeout)[^\w;]*|--max-time )\d+`)

// unhurried returns a snippet whose time-outs do not end a request that a busy machine answers late.
func unhurried(snippet string) string { return timeOut.ReplaceAllString(snippet, "${1}300") }

// addressIn matches the address of a fragment in a snippet.
var addressIn = regexp.MustCompile(`(?:/vitrine|http://[^/']*)(/lists/[^"']*\.html[^"']*)`)

// headingIn matches the heading that a snippet writes before its list.
var headingIn = regexp.MustCompile(`(?m)^<h\d>.*</h\d>\n`)

// editIn matches the comment in a page that leads back to the builder.
var editIn = regexp.MustCompile(`(?m)^<!-- Edit this list: \S+ -->\n`)

// includeSnippet puts a snippet into a page of a site, and visits it as browsers do.
func includeSnippet(t *testing.T, data *road, id, snippet string) {
	way := builderIncludes[id]
	if _, err := exec.LookPath(way.needs); err != nil {
		t.Skipf("%s is not installed", way.needs)
	}
	path := addressIn.FindStringSubmatch(snippet)
	if path == nil {
		t.Fatalf("no address of a fragment in\n%s", snippet)
	}
	fragment := textOf(t, data.URL+path[1])
	if !strings.Contains(fragment, listMark) {
		t.Fatalf("%s does not return a list: %.300s", path[1], fragment)
	}
	res, err := http.Head(data.URL + path[1])
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	gone := strings.ReplaceAll(snippet, path[1], "/lists/unit/NIX.html")
	before, after, _ := strings.Cut(site("|"), "|")
	_, directive := snippetParts(snippet)
	before += editIn.FindString(directive) + headingIn.FindString(directive)
	address := way.start(t, snippet, gone)
	comment := regexp.MustCompile(`<!--[^>]*-->`)
	bare := comment.ReplaceAllString(before, "")
	for name, headers := range map[string][]string{
		"a browser":          nil,
		"a visitor's cookie": {"Cookie", "session=secret", "Authorization", "Basic YTpi"},
		"only brotli":        {"Accept-Encoding", "br"},
		"a reload": {"If-None-Match", res.Header.Get("ETag"), "If-Modified-Since",
			"Fri, 01 Jan 2038 00:00:00 GMT"},
		"a part": {"Range", "bytes=0-9", "If-Range", res.Header.Get("ETag")},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			data.strays.Store("")
			status, page := request(method, address, "/page", headers...)
			if status != http.StatusOK || !utf8.ValidString(page) || page != before+fragment+after {
				t.Errorf("%s, %s: %d, %d bytes of %d: %.200q … %q", method, name, status, len(page),
					len(before+fragment+after), page, page[max(len(page)-200, 0):])
			}
			if stray := data.strays.Load().(string); stray != "" {
				t.Errorf("%s, %s: the server of lists gets %s", method, name, stray)
			}
		}
		if status, page := request(http.MethodHead, address, "/page", headers...); status != http.StatusOK ||
			page != "" {
			t.Errorf("HEAD, %s: %d %.100q", name, status, page)
		}
	}
	if page := visit(address, "/gone"); comment.ReplaceAllString(page, "") != bare+after {
		t.Errorf("without its list the page is %.400q", page)
	}
	data.broken.Store(true)
	defer data.broken.Store(false)
	if page := comment.ReplaceAllString(visit(address, "/page"), ""); page != bare+fragment+after &&
		page != bare+after {
		t.Errorf("without the server of lists the page is %.400q", page)
	}
}

// TestBuilderSnippets runs each snippet that the start page of a running program offers, with the
// first choices and with others, as its reader would: in the page of a site.
func TestBuilderSnippets(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	data := newRoad(t)
	t.Run("served", func(t *testing.T) { runSnippets(t, nil, data, served(t, data.URL)) })
	t.Run("built", func(t *testing.T) {
		chrome := startBrowser(t)
		v := newTab(t, chrome, 1280)
		v.open(data.URL + "/")
		v.await(`document.querySelector("#vl_preview .vl-item")`)
		change(v, "q", `'light' & "$"`)
		change(v, "limit", "7")
		change(v, "unit", "night eco") // typed, and chosen from the suggestions
		v.await(
			`document.querySelector("#vl_unit-names option[value='Night Ecology (ECO)']") && ` +
				`document.getElementById("vl_status").textContent.startsWith("Choose one")`)
		eval[bool](v, `document.getElementById("vl_unit").dispatchEvent(new Event("change", {bubbles: true}))`)
		v.await(
			`document.getElementById("vl_snippet-html").textContent.includes("/lists/unit/ECO?") && ` +
				`document.getElementById("vl_snippet-html").textContent.includes("limit=7")`)
		v.want(`document.querySelector("#vl_snippet-iframe").textContent.match(/title="([^"]*)"/)[1]`,
			"Night Ecology")
		person := eval[string](v,
			`new Promise((found) => { const field = document.getElementById("vl_person"), names = field.list; `+
				`field.focus(); new MutationObserver(() => found(names.options[0].value)).observe(names, `+
				`{childList: true}) })`)
		change(v, "person", person)
		v.await(
			`document.getElementById("vl_snippet-html").textContent.includes("/lists/person/") && ` +
				`document.getElementById("vl_snippet-html").textContent.includes("unit=ECO")`)
		change(v, "person", "")
		v.await(
			`document.getElementById("vl_snippet-html").textContent.includes("/lists/unit/ECO?") && ` +
				`document.querySelector("#vl_preview .vl-item")`)
		change(v, "title", `Licht & 'Nacht' {{ 1 }} <?php "$x" ?>`)
		v.await(
			`document.getElementById("vl_snippet-html").textContent.includes("Licht") && ` +
				`document.querySelector("#vl_shown > .vl-title").textContent.startsWith("Licht & ")`)
		built := eval[map[string]string](v,
			`Object.fromEntries([...document.querySelectorAll("[id^=vl_snippet-]")].map((e) => `+
				`[e.id.slice("vl_snippet-".length), e.textContent]))`)
		for id, snippet := range built {
			heading := strings.Contains(snippet,
				"<h2>Licht &#38; &#39;Nacht&#39; &#123;&#123; 1 }} &#60;?php &#34;$x&#34; ?&#62;</h2>\n")
			if writes := id != "curl" && id != "csp"; heading != writes ||
				writes && id != "html" && !strings.Contains(snippet, "title=0") {
				t.Errorf("%s: a heading %t in\n%s", id, heading, snippet)
			}
		}
		runSnippets(t, chrome, data, built)
		snippetsTogether(t, data, served(t, data.URL), built)
	})
}

// snippetsTogether runs the snippets of two lists on one site: they share no name, and no cached file.
func snippetsTogether(t *testing.T, data *road, one, two map[string]string) {
	if _, err := exec.LookPath("php"); err != nil {
		t.Skip("php is not installed")
	}
	names := regexp.MustCompile(`\b(?:[Pp]ublications|vitrine|vitrine_copy)_[0-9a-z]+\b|publications-[0-9a-z]+`)
	for _, id := range []string{"drupal", "wordpress", "typo3", "hugo"} {
		for _, name := range names.FindAllString(strings.ReplaceAll(one[id], "vitrine_list", ""), -1) {
			if strings.Contains(two[id], name) {
				t.Errorf("%s: both snippets have %s", id, name)
			}
		}
	}
	files := map[string]string{"wordpress.php": wordPress}
	page := "<?php chdir('..'); require 'wordpress.php';"
	var want []string
	for i, all := range []map[string]string{one, two} {
		function, _ := snippetParts(all["php"])
		class, _, _ := strings.Cut(all["typo3"], "\n# TypoScript")
		for name, text := range map[string]string{"function": function, "class": "<?php " + class,
			"shortcode": "<?php " + all["wordpress"]} {
			file := fmt.Sprint(name, i, ".php")
			files[file] = strings.TrimSpace(unhurried(text))
			page += " require '" + file + "';"
		}
		page += " echo (new \\Institute\\Site\\" + regexp.MustCompile(`class (\w+)`).FindStringSubmatch(class)[1] +
			")->render();"
		want = append(want, textOf(t, data.URL+addressIn.FindStringSubmatch(all["php"])[1]))
	}
	files["page/index.php"] = page + " foreach ($shortcodes as $show) echo $show();"
	files["gone/index.php"] = files["page/index.php"]
	address := phpServer(t, files)
	for _, broken := range []bool{false, true} {
		data.broken.Store(broken)
		if got := visit(address, "/page/"); got != want[0]+want[1]+want[0]+want[1] {
			t.Errorf("broken %t: the page has %d bytes: %.300s", broken, len(got), got)
		}
	}
	data.broken.Store(false)
}

// runSnippets runs snippets by their ids: those for a page's HTML in a browser, if there is one.
func runSnippets(t *testing.T, chrome context.Context, data *road, all map[string]string) {
	if len(all) == 0 {
		t.Fatal("the page offers no snippets")
	}
	for id, snippet := range all {
		snippet = unhurried(snippet)
		t.Run(id, func(t *testing.T) {
			switch {
			case builderIncludes[id].start != nil:
				includeSnippet(t, data, id, snippet)
			case id == "curl":
				downloadSnippet(t, snippet)
			case id == "hugo":
				hugoSnippet(t, data, snippet)
			case id == "csp":
				for _, source := range []string{"script-src ", "style-src ", "connect-src ", "frame-src "} {
					if !strings.Contains(snippet, source+data.URL+"/") {
						t.Errorf("no %s in %s", source, snippet)
					}
				}
			case id == "html" || id == "iframe":
				if chrome != nil {
					showSnippet(t, chrome, data.URL, id, snippet)
				}
			default:
				t.Error("no test runs this snippet")
			}
		})
	}
}

// remote is what Hugo's try returns, and resources its functions of that name.
type remote struct {
	Value *struct{ Content string }
	Err   error
}

type resources struct{ t *testing.T }

// GetRemote returns the body at an address, or an error.
func (r resources) GetRemote(address string) remote {
	status, text := programtest.Fetch(r.t, http.MethodGet, address)
	if status != http.StatusOK {
		return remote{Err: fmt.Errorf("status %d", status)}
	}
	return remote{Value: &struct{ Content string }{text}}
}

// hugoSnippet executes a template of Hugo with functions like those of Hugo.
func hugoSnippet(t *testing.T, data *road, snippet string) {
	address := regexp.MustCompile(`GetRemote "([^"]*)"`).FindStringSubmatch(snippet)
	if address == nil {
		t.Fatalf("no address in %s", snippet)
	}
	for target, want := range map[string]string{address[1]: textOf(t, address[1]),
		data.URL + "/lists/unit/NIX.html": ""} {
		var warned, out strings.Builder
		err := template.Must(template.New("").Funcs(template.FuncMap{
			"try":       func(r remote) remote { return r },
			"resources": func() resources { return resources{t} },
			"safeHTML":  func(s string) string { return s },
			"warnf":     func(format string, args ...any) string { fmt.Fprintf(&warned, format, args...); return "" },
		}).Parse(strings.ReplaceAll(snippet, address[1], target))).Execute(&out, nil)
		if got := strings.TrimSpace(headingIn.ReplaceAllString(out.String(), "")); err != nil ||
			got != strings.TrimSpace(want) || (warned.Len() > 0) != (want == "") {
			t.Errorf("%s: %v, warned %q, %.300q", target, err, warned.String(), got)
		}
	}
}

// downloadSnippet runs a command that saves a list as a file.
func downloadSnippet(t *testing.T, snippet string) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", snippet)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	bib, err := os.ReadFile(filepath.Join(dir, "publications.bib"))
	address := strings.Split(snippet, "'")[1]
	if want := textOf(t, address); err != nil || string(bib) != want {
		t.Errorf("%v, %d bytes, want %d", err, len(bib), len(want))
	}
}

// showSnippet opens a page with a snippet in a browser.
func showSnippet(t *testing.T, chrome context.Context, data, id, snippet string) {
	v := newTab(t, chrome, 1280)
	v.open(website(t, data, snippet))
	if id == "iframe" {
		v.await(
			`Number(document.querySelector("iframe").height) !== 800 || ` +
				`document.querySelector("iframe").clientHeight !== 800`)
		v.wantNoComplaint()
		return
	}
	v.await(listShown)
	if got, want := eval[string](v,
		`document.querySelector("vitrine-list .vl-title, vitrine-list .vl-count").textContent`), ""; got == want {
		t.Error("the list has neither title nor count")
	}
	v.wantNoComplaint()
}
