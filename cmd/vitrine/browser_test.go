package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"vitrine/proxy/browsertest"
)

// tab is a tab of a browser in a test.
type tab struct {
	*browsertest.Tab
	t *testing.T
}

// newTab opens a tab of some width, in which violations of the page's policy are complaints
// too.
func newTab(t *testing.T, browser context.Context, width int64) *tab {
	t.Helper()
	v := &tab{browsertest.Open(t, browser, width), t}
	browsertest.Call(t, v, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `addEventListener("securitypolicyviolation", (e) => console.error("refused: " + e.violatedDirective + " " + e.blockedURI + " " + e.sample))`,
	})
	return v
}

// wantNoComplaint fails the test if the page was refused something or went wrong.
func (v *tab) wantNoComplaint() {
	v.t.Helper()
	if all := v.Complaints(); len(all) > 0 {
		v.t.Errorf("the page complains:\n%s", strings.Join(all, "\n"))
	}
}

// do runs actions in the tab.
func (v *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	v.t.Helper()
	v.Do(v.t, actions...)
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
