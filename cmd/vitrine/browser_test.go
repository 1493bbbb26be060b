package main

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is a page in a browser, and what it complained about.
type tab struct {
	context.Context
	t *testing.T

	mu         sync.Mutex // guards complaints
	complaints []string
}

// newTab opens a tab of some width. It records violations of the page's policy, whatever is
// written to the console, and uncaught exceptions.
func newTab(t *testing.T, browser context.Context, width int64) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(browser)
	t.Cleanup(closeTab)
	v := &tab{Context: ctx, t: t}
	if err := chromedp.Listen(ctx, v.note); err != nil {
		t.Fatal(err)
	}
	var giveUp context.CancelFunc // what is waited for may never come
	v.Context, giveUp = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(giveUp)
	call(v, log.Enable, cdp.Empty{})
	call(v, runtime.Enable, cdp.Empty{})
	call(v, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `addEventListener("securitypolicyviolation", (e) => console.error("refused: " + e.violatedDirective + " " + e.blockedURI + " " + e.sample))`,
	})
	v.do(chromedp.EmulateViewport(width, 900))
	return v
}

// call sends the tab a command of the browser's protocol.
func call[P, R any](v *tab, command cdp.Command[P, R], params P) {
	v.t.Helper()
	if _, err := chromedp.Call(v, command, params); err != nil {
		v.t.Fatal(err)
	}
}

func (v *tab) note(event any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		text := "console: " + string(e.Type)
		for _, arg := range e.Args {
			text += " " + string(arg.Value)
		}
		v.complaints = append(v.complaints, text)
	case *runtime.EventExceptionThrown:
		v.complaints = append(v.complaints, "exception: "+e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		v.complaints = append(v.complaints, string(e.Entry.Source)+": "+e.Entry.Text)
	}
}

// wantNoComplaint fails the test if the page was refused something or went wrong.
func (v *tab) wantNoComplaint() {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.complaints) > 0 {
		v.t.Errorf("the page complains:\n%s", strings.Join(v.complaints, "\n"))
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

// eval returns the value of an expression in the page, a promise's when it is settled.
func eval[T any](v *tab, expression string) T {
	v.t.Helper()
	got, err := chromedp.Run(v, chromedp.Evaluate[T](expression, func(p *runtime.EvaluateParams) { p.AwaitPromise = new(true) }))
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

// want fails the test if an expression is not so in the page.
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
