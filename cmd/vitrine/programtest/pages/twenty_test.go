package pages

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"vitrine/cmd/vitrine/programtest"
)

// TestTwentyLists makes lists of institutes' pages as editors do, from the start page alone: by clicks and keys.
// The preview has the entries that the list should have; a page of another site, with a style of its own for each
// element, shows the same list by the chosen snippet; and the snippet's comment leads back to the form.
func TestTwentyLists(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	records := madeRecords(t)
	eachMadeList(t, func(v *tab, data string, l madeList) {
		snippet := l.make(v, data)
		want := l.entries(v.t, data, records)
		wantEntries(v, previewRoot, want)
		v.open(institutePage(v.t, snippet))
		l.onPage(v, snippet, want)
		back := strings.Fields(editIn.FindString(snippet))
		v.open(back[len(back)-2])
		v.await(previewShown + ` && ` + chosenSnippet + ` === ` + strconv.Quote(snippet))
		v.wantNoComplaint()
	})
}

// TestFacesTwentyLists: axe finds no fault in the builder with each list nor in the institute's page, nor does a
// validator in that page.
func TestFacesTwentyLists(t *testing.T) {
	source, folder := axe(t), t.TempDir()
	validator := filepath.Join(facePrograms(t), "node_modules", ".bin", "html-validate")
	look := func(v *tab, name string) {
		eval[any](v, source+"; 0")
		// At its end the builder has no preview above the form.
		eval[any](v, `scrollTo(0, document.documentElement.scrollHeight)`)
		for width, scheme := range map[int64]string{390: "light", 1280: "dark"} {
			v.scheme(scheme)
			v.do(chromedp.EmulateViewport(width, 900))
			if found := eval[string](v, violations); found != "" {
				v.t.Errorf("%s, %s, %d: %s", name, scheme, width, found)
			}
			shoot(v, fmt.Sprint(filepath.Base(v.t.Name()), "-", name, "-", scheme, "-", width))
		}
	}
	eachMadeList(t, func(v *tab, data string, l madeList) {
		snippet := l.make(v, data)
		look(v, "builder")
		address := institutePage(v.t, snippet)
		v.open(address)
		v.await(madeShown)
		look(v, "page")
		// HTML has no per cent here, but browsers do, and editors of CMS keep no style.
		text := strings.Replace(textOf(v.t, address), ` width="100%"`, "", 1)
		name := filepath.Join(folder, filepath.Base(v.t.Name())+".html")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			v.t.Fatal(err)
		}
	})
	validate := exec.CommandContext(t.Context(), validator, "--config",
		"../../../../proxy/lists/page/testdata/htmlvalidate.json", folder)
	if out, err := validate.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// eachMadeList calls see with each list, a tab of its own, and the address of a server that has madeActivities and
// a citation style of the institute.
func eachMadeList(t *testing.T, see func(v *tab, data string, l madeList)) {
	t.Helper()
	dir := t.TempDir()
	programtest.WriteDemo(t, dir, 1000)
	programtest.WriteLines(t, filepath.Join(dir, "dump", "activities.jsonl"), madeActivities(t)...)
	programtest.Run(t, dir, "import", "--store", "bolt://v.db", "dump")
	style, err := filepath.Abs("../testdata/authoryear.csl")
	if err != nil {
		t.Fatal(err)
	}
	conf := programtest.WriteFile(t, dir, fmt.Sprintf("lists: {styles: {authoryear: %q}}\n", style))
	s := programtest.Start(t, dir, "--store", "bolt://v.db", "--config", conf).Ready()
	chrome := startBrowser(t)
	t.Run("list", func(t *testing.T) { // which ends when all have ended
		for name, l := range madeLists() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				see(newTab(t, chrome, 1280), s.Base, l)
			})
		}
	})
}

// These are the roots of the list in the preview and on the institute's page.
const (
	previewRoot = `((e) => e?.shadowRoot ?? e)(document.querySelector("#vl_preview vitrine-list"))`
	pageRoot    = `((e) => e?.shadowRoot ?? e ?? document.body)(document.querySelector("vitrine-list"))`
)

// madeShown is true when the institute's page shows the list.
const madeShown = `(frame => frame ? frame.height !== "800" : ` + pageRoot + `.querySelector(".vl-item") && ` +
	`!` + pageRoot + `.querySelector("[aria-busy]"))(document.querySelector("iframe"))`

// make makes a list in the builder of a server, and returns its snippet.
func (l madeList) make(v *tab, data string) (snippet string) {
	v.t.Helper()
	v.open(data + "/")
	v.await(previewShown)
	for _, step := range l.steps {
		operate(v, step[0], step[1])
	}
	v.await(previews(v.t, l.want))
	v.await(previewShown + ` && /^\d/.test(` + builderStatus + `)`)
	return eval[string](v, chosenSnippet)
}

// previews returns an expression that is true when the preview has the list of an address below /lists/, with its
// parameters in any order.
func previews(t *testing.T, address string) string {
	t.Helper()
	path, query, _ := strings.Cut(address, "?")
	want, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`((url) => url.pathname === %q && `+
		`String(new URLSearchParams([...url.searchParams].sort())) === %q)(new URL(`+
		`document.querySelector("#vl_preview vitrine-list")?.getAttribute("src") ?? location))`,
		"/lists/"+path, want.Encode())
}

// operate uses a button, box, menu or field of the builder with the mouse and the keyboard, and waits until the
// builder's address has what was chosen. It opens the fold around it before. Of boxes with one name, text is the
// value.
func operate(v *tab, name, text string) {
	v.t.Helper()
	selector := fmt.Sprintf("#vl_%s, [type=checkbox][name=%q][value=%q]", strings.ReplaceAll(name, ".", "_2e"),
		name, text)
	field := fmt.Sprintf("document.querySelector(%q)", selector)
	before := eval[string](v, "location.hash")
	if eval[bool](v, field+`.closest("details:not([open])") !== null`) {
		v.click("details:not([open]):has(" + selector + ") > summary")
	}
	v.await(field + ".checkVisibility()")
	switch eval[string](v, field+".type") {
	case "button", "checkbox":
		v.click(selector)
	case "select-one":
		at := eval[int](v, fmt.Sprintf(
			"[...%[1]s.options].findIndex((o) => o.text === %[2]q) - %[1]s.selectedIndex", field, text))
		if at <= 0 {
			v.t.Fatalf("%s has no %q below the chosen one", name, text)
		}
		v.do(chromedp.Focus(chromedp.CSS(selector)), chromedp.KeyEvent(strings.Repeat(kb.ArrowDown, at)))
	default:
		v.click(selector)
		v.do(chromedp.KeyEvent(kb.End))
		// At once: what is typed by half is looked for, too, where the machine is slow.
		call(v, input.InsertText, input.InsertTextParams{Text: text})
		v.do(chromedp.KeyEvent(kb.Tab))
		if eval[bool](v, field+".dataset.facet === undefined") { // its text is the value
			const values = "[...new URLSearchParams(location.hash.slice(1)).values()]"
			v.await(fmt.Sprintf("%s.includes(%q)", values, text))
		}
	}
	v.await("location.hash !== " + strconv.Quote(before))
}

// entries returns the ids of the list's first page, by the server's JSON. The list has as many entries as there are
// records that it must have.
func (l madeList) entries(t *testing.T, data string, records []madeRecord) (ids []string) {
	t.Helper()
	path, query, _ := strings.Cut(l.want, "?")
	ids, count := entriesOf(t, data+"/lists/"+path+".json?"+strings.ReplaceAll(query, " ", "+"))
	if l.has == nil {
		return ids
	}
	all := slices.DeleteFunc(slices.Clone(records), func(r madeRecord) bool { return !l.has(r) })
	if len(all) != count {
		t.Errorf("the list has %d entries, want %d", count, len(all))
	}
	return ids
}

// entriesOf returns the ids of a page of a list in JSON, and how many entries the list has.
func entriesOf(t *testing.T, address string) (ids []string, count int) {
	t.Helper()
	var answer struct {
		Count int
		Items []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(textOf(t, address)), &answer); err != nil {
		t.Fatal(err)
	}
	for _, item := range answer.Items {
		ids = append(ids, item.ID)
	}
	return ids, answer.Count
}

// wantEntries fails the test unless a root shows entries with some ids.
func wantEntries(v *tab, root string, want []string) {
	v.t.Helper()
	got := eval[[]string](v, `Array.from(`+root+`.querySelectorAll(".vl-item"), (e) => e.dataset.id)`)
	if !slices.Equal(got, want) || len(got) == 0 {
		v.t.Errorf("%s has %q, want %q", root, got, want)
	}
}

// These find parts of a snippet in HTML.
var (
	attributesIn  = regexp.MustCompile(`<vitrine-list src="[^"]*"(?: ([^>]*))?>`)
	frameSourceIn = regexp.MustCompile(`<iframe [^>]*src="([^"]*)"`)
)

// onPage looks at the institute's page, which is open: at what is in its frame, if it has one.
func (l madeList) onPage(v *tab, snippet string, want []string) {
	v.t.Helper()
	v.await(madeShown)
	if frame := frameSourceIn.FindStringSubmatch(snippet); frame != nil {
		v.open(html.UnescapeString(frame[1]))
	} else if got := attributesIn.FindStringSubmatch(snippet); got == nil || got[1] != l.attributes {
		v.t.Errorf("the attributes are not %s in\n%s", l.attributes, snippet)
	}
	wantEntries(v, pageRoot, want)
	if !eval[bool](v, `((list) => {
		const headings = Array.from(list.querySelectorAll(".vl-group"), (e) => e.textContent);
		const citations = Array.from(list.querySelectorAll(".vl-citation"), (e) => e.textContent.trim());
		return Boolean(`+l.looks+`);
	})(`+pageRoot+`)`) {
		v.t.Errorf("not true of the page: %s\n%s", l.looks, eval[string](v, pageRoot+`.textContent`))
	}
}
