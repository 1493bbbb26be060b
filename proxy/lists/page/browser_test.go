package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"vitrine/proxy/lists/element"
	"vitrine/proxy/lists/page"
)

// browser starts the machine's Chromium, or skips the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no Chromium on this machine to look at the pages with")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which root cannot have
	}
	started, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(started)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return ctx
}

// tab is a tab of the browser, and what its pages complained about.
type tab struct {
	context.Context

	mu         sync.Mutex // guards complaints
	complaints []string
}

// newTab opens a tab of some width with a colour scheme.
func newTab(t *testing.T, browser context.Context, width int64, scheme string) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(browser)
	t.Cleanup(closeTab)
	v := &tab{Context: ctx}
	if err := chromedp.Listen(ctx, v.note); err != nil {
		t.Fatal(err)
	}
	var giveUp context.CancelFunc // what is waited for may never come
	v.Context, giveUp = context.WithTimeout(ctx, time.Minute)
	t.Cleanup(giveUp)
	instruct(t, v, log.Enable, cdp.Empty{})
	instruct(t, v, runtime.Enable, cdp.Empty{})
	instruct(t, v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	v.do(t, chromedp.EmulateViewport(width, 900))
	return v
}

// note keeps what a page complains about.
func (v *tab) note(event any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		v.complaints = append(v.complaints, "console: "+string(e.Type))
	case *runtime.EventExceptionThrown:
		v.complaints = append(v.complaints, "exception: "+e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if strings.Contains(e.Entry.Text, "404") {
			return // the list of a hostile address
		}
		v.complaints = append(v.complaints, string(e.Entry.Source)+": "+e.Entry.Text+" "+e.Entry.URL)
	}
}

// calm fails the test if a page complained.
func (v *tab) calm(t *testing.T) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.complaints) > 0 {
		t.Errorf("complaints: %s", strings.Join(v.complaints, "\n"))
	}
}

func (v *tab) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(v, actions...); err != nil {
		t.Fatal(err)
	}
}

// see runs an expression in the page, and waits for what it promises.
func see[T any](t *testing.T, v *tab, expression string) T {
	t.Helper()
	found, err := chromedp.Run(v, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return found
}

// instruct sends the tab a command of the browser's protocol.
func instruct[P, R any](t *testing.T, v *tab, command cdp.Command[P, R], params P) R {
	t.Helper()
	result, err := chromedp.Call(v, command, params)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// serving serves the documents and files under the path of the base, each document under
// its name, and returns the URL of that path.
func serving(t *testing.T, more map[string]http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	for name, doc := range documents() {
		mux.HandleFunc("/vitrine/"+name, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Content-Security-Policy", page.Policy)
			w.Write(doc)
		})
	}
	for _, root := range []string{"", "/vitrine"} { // the page of an error knows no base
		for _, f := range page.Files() {
			mux.HandleFunc(root+f.Path, send(f.Type, f.Body))
		}
		for _, f := range element.Files() {
			mux.HandleFunc(root+f.Path, send(f.Type, f.Body))
		}
	}
	mux.HandleFunc("/favicon.ico", func(http.ResponseWriter, *http.Request) {})
	for path, handler := range more {
		mux.HandleFunc(path, handler)
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL + "/vitrine/"
}

func send(mediaType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.Write(body)
	}
}

// pages are the documents that are whole pages.
func pages() (names []string) {
	for name, doc := range documents() {
		if strings.HasPrefix(string(doc), "<!DOCTYPE") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestPageLooks: no page is wider than its window, light or dark, narrow or wide, and none
// loads what the policy refuses. VITRINE_TEST_SHOTS names a folder for pictures of them.
func TestPageLooks(t *testing.T) {
	chrome, shots := browser(t), os.Getenv("VITRINE_TEST_SHOTS")
	root := serving(t, builderAnswers())
	for _, width := range []int64{390, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			v := newTab(t, chrome, width, scheme)
			for _, name := range pages() {
				v.do(t, chromedp.Navigate(root+name))
				if name == "start" {
					v.do(t, chromedp.WaitVisible(chromedp.CSS("#vl-preview .vl-item")))
				}
				if wide := see[int](t, v, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
					t.Errorf("%s at %d is too wide by %d", name, width, wide)
				}
				if shots != "" {
					picture, err := chromedp.Run(v, chromedp.FullScreenshot(100))
					if err == nil {
						err = os.WriteFile(filepath.Join(shots, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), picture, 0o644)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			v.calm(t)
		}
	}
}

// builderAnswers are what the builder asks for.
func builderAnswers() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"/vitrine/lists/": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Asked", r.URL.RawQuery)
			if strings.HasSuffix(r.URL.Path, ".json") {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, `{"facets": {"year": [{"value": 2024, "label": "2024", "count": 12}, {"value": 2022, "label": "2022", "count": 40}, {"value": 2019, "label": "2019", "count": 3}, {"value": null, "label": "without year", "count": 2}], "type": [{"value": "article, short", "label": "<b>Article</b>", "count": 50}]}}`)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			w.Write(page.Fragment(plainList()))
		},
	}
}
