// Package browsertest starts Chromium for tests of pages.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Start starts the machine's Chromium, or skips the test if there is none. The browser ends
// with the test.
func Start(t *testing.T) context.Context {
	t.Helper()
	names := []string{"chromium", "chromium-headless-shell", "headless-shell", "google-chrome"}
	found := slices.IndexFunc(names, func(name string) bool { _, err := exec.LookPath(name); return err == nil })
	if found < 0 {
		t.Skip("no Chromium on this machine to look at the page with")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(names[found]))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which root cannot have
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

// Tab is a tab of a browser. It records what its pages request and complain about.
type Tab struct {
	context.Context

	mu         sync.Mutex // guards the rest
	requests   []string   // URLs
	complaints []string
}

// Open opens a tab of some width, which is closed with the test. What a test waits for in it
// fails after some minutes.
func Open(t *testing.T, browser context.Context, width int64) *Tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(browser)
	t.Cleanup(closeTab)
	tab := &Tab{Context: ctx}
	if err := chromedp.Listen(ctx, tab.record); err != nil {
		t.Fatal(err)
	}
	var giveUp context.CancelFunc
	tab.Context, giveUp = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(giveUp)
	Call(t, tab, network.Enable, network.EnableParams{})
	Call(t, tab, log.Enable, cdp.Empty{})
	Call(t, tab, runtime.Enable, cdp.Empty{})
	tab.Do(t, chromedp.EmulateViewport(width, 900))
	return tab
}

// Call sends a tab a command of the browser's protocol.
func Call[P, R any](t *testing.T, tab context.Context, command cdp.Command[P, R], params P) R {
	t.Helper()
	result, err := chromedp.Call(tab, command, params)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// Do runs actions in the tab.
func (v *Tab) Do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(v, actions...); err != nil {
		t.Fatal(err)
	}
}

// record records an event of the tab.
func (v *Tab) record(event any) {
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

// Requests returns the URLs that pages requested so far.
func (v *Tab) Requests() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.requests)
}

// Complaints returns what pages wrote to the console, uncaught exceptions, and what the
// browser refused.
func (v *Tab) Complaints() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.complaints)
}
