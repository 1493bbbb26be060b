package pages

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// startBrowser starts the machine's Chromium with further options, or skips the test if there is none. The browser
// ends with the test.
func startBrowser(t *testing.T, further ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	names := []string{"chromium", "chromium-headless-shell", "headless-shell", "google-chrome"}
	found := slices.IndexFunc(names, func(name string) bool { _, err := exec.LookPath(name); return err == nil })
	if found < 0 {
		t.Skip("Chromium is not installed")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(names[found]),
		chromedp.WSURLReadTimeout(time.Hour)) // until it has started, on however busy a machine
	options = append(options, further...)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // root cannot use the sandbox
	}
	started, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(started)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s: %v", names[found], err)
	}
	return ctx
}

// tab is a tab of a browser in a test. It records what its pages request and complain about.
type tab struct {
	context.Context
	t *testing.T

	mu         sync.Mutex // guards the rest
	requests   []string   // URLs
	complaints []string
}

// newTab opens a tab of some width, and closes it when the test ends. Violations of the page's
// policy count as complaints, too. If a test waits for something in the tab, it fails a minute before the deadline of
// all tests.
func newTab(t *testing.T, browser context.Context, width int64) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(browser)
	t.Cleanup(closeTab)
	v := &tab{Context: ctx, t: t}
	if err := chromedp.Listen(ctx, v.record); err != nil {
		t.Fatal(err)
	}
	if end, ok := t.Deadline(); ok {
		var giveUp context.CancelFunc
		v.Context, giveUp = context.WithDeadline(ctx, end.Add(-time.Minute))
		t.Cleanup(giveUp)
	}
	call(v, network.Enable, network.EnableParams{})
	call(v, log.Enable, cdp.Empty{})
	call(v, runtime.Enable, cdp.Empty{})
	call(v, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `addEventListener("securitypolicyviolation", (e) => console.error("refused: " + ` +
			`e.violatedDirective + " " + e.blockedURI + " " + e.sample))`,
	})
	v.do(chromedp.EmulateViewport(width, 900))
	return v
}

// call sends a tab a command of the browser's protocol.
func call[P, R any](v *tab, command cdp.Command[P, R], params P) {
	v.t.Helper()
	if _, err := chromedp.Call(v, command, params); err != nil {
		v.t.Fatal(err)
	}
}

// scheme makes pages of the tab light or dark.
func (v *tab) scheme(name string) {
	v.t.Helper()
	call(v, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
}

// print shows pages of the tab as on paper.
func (v *tab) print(scheme string) {
	v.t.Helper()
	call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print",
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// withoutScript disables scripts in the tab.
func (v *tab) withoutScript() {
	v.t.Helper()
	call(v, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// record records an event of the tab.
func (v *tab) record(event any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		v.requests = append(v.requests, e.Request.URL)
	case *runtime.EventConsoleAPICalled:
		text := "console: " + string(e.Type)
		for _, arg := range e.Args {
			text += " " + string(arg.Value)
		}
		v.complaints = append(v.complaints, text)
	case *runtime.EventExceptionThrown:
		v.complaints = append(v.complaints, "exception: "+e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		v.complaints = append(v.complaints, string(e.Entry.Source)+": "+e.Entry.Text+" "+e.Entry.URL)
	}
}

// requested returns the URLs that pages requested so far.
func (v *tab) requested() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.requests)
}

// complained returns the console messages of pages, uncaught exceptions, and requests that the
// browser blocked.
func (v *tab) complained() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.complaints)
}

// wantNoComplaint fails the test if the page had an error or a blocked request, except for
// complaints with one of some texts.
func (v *tab) wantNoComplaint(except ...string) {
	v.t.Helper()
	all := slices.DeleteFunc(v.complained(), func(complaint string) bool {
		return slices.ContainsFunc(except, func(text string) bool { return strings.Contains(complaint, text) })
	})
	if len(all) > 0 {
		v.t.Errorf("the page complains:\n%s", strings.Join(all, "\n"))
	}
}

// do runs actions in the tab.
func (v *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	v.t.Helper()
	if err := chromedp.Do(v, actions...); err != nil {
		v.t.Fatal(err)
	}
}

// open goes to a page.
func (v *tab) open(url string) {
	v.t.Helper()
	v.do(chromedp.Navigate(url))
}

// eval returns the value of an expression in the page; for a promise, its result.
func eval[T any](v *tab, expression string) T {
	v.t.Helper()
	got, err := chromedp.Run(v,
		chromedp.Evaluate[T](expression, func(p *runtime.EvaluateParams) { p.AwaitPromise = new(true) }))
	if err != nil {
		v.t.Fatalf("%s: %v", expression, err)
	}
	return got
}

// await waits until an expression is true in the page.
func (v *tab) await(expression string) {
	v.t.Helper()
	for !eval[bool](v, "Boolean("+expression+")") {
		select {
		case <-v.Done():
			v.t.Fatalf("never true: %s", expression)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// want fails the test if an expression is false in the page.
func (v *tab) want(expression, want string) {
	v.t.Helper()
	if got := eval[string](v, expression); got != want {
		v.t.Errorf("%s = %q, want %q", expression, got, want)
	}
}

// click clicks on an element.
func (v *tab) click(selector string) {
	v.t.Helper()
	v.do(chromedp.Click(chromedp.CSS(selector)))
}

// text returns the text of an element; the test fails if there is none.
func (v *tab) text(selector string) string {
	v.t.Helper()
	text, err := chromedp.Run(v, chromedp.Text(chromedp.CSS(selector)))
	if err != nil {
		v.t.Fatalf("%s: %v", selector, err)
	}
	return text
}
