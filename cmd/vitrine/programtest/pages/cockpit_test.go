package pages

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"vitrine/cmd/vitrine/programtest"
)

// openCockpit opens the operator's page of a server and enters the token.
func openCockpit(t *testing.T, chrome context.Context, s *programtest.Server, width int64, token string) *tab {
	t.Helper()
	v := newTab(t, chrome, width)
	v.open(s.Admin + "/")
	if token != "" {
		v.do(chromedp.WaitVisible(chromedp.CSS("#token")), chromedp.SendKeys(chromedp.CSS("#token"), token+"\r"))
	}
	v.await(`document.querySelector("#views tbody tr")`)
	return v
}

// stateIs is true if the page reports a state.
func stateIs(state string) string {
	return fmt.Sprintf(`document.getElementById("contact").textContent.startsWith(%q)`, state)
}

// cell is the text of a cell of the page's row for a view.
func cell(view string, column int) string {
	return fmt.Sprintf(`document.querySelector("#views tr[data-key=%s]").children[%d].textContent`, view, column)
}

// TestCockpit: an operator enters the token, sees the state, and runs jobs by keyboard and by mouse.
func TestCockpit(t *testing.T) {
	t.Parallel()
	chrome, dir := startBrowser(t), t.TempDir()
	programtest.Setenv(dir, "VITRINE_ADMIN_TOKEN", "Right")
	s := programtest.Start(t, dir, "--demo").Ready()
	s.Get("/api/projects") // an anonymous caller may see them in the demo
	s.Get("/nowhere")

	v := newTab(t, chrome, 1280)
	v.open(s.Admin + "/")
	v.do(chromedp.WaitVisible(chromedp.CSS("#token")), chromedp.SendKeys(chromedp.CSS("#token"), "Wrong\r"))
	v.await(stateIs("The operator's token is needed"))
	v.do(chromedp.SendKeys(chromedp.CSS("#token"), "Right\r"))
	v.await(stateIs("Ready"))
	v.await(
		`document.querySelector("#requests tr[data-key=projects]") && document.querySelector("#requests ` +
			`tr[data-key=other]")`)
	v.await(cell("activities", 5) + `.startsWith("ok, ")`)
	v.await(`document.querySelector("#views tr[data-key=activities] rect")`)

	v.do(chromedp.Focus(chromedp.CSS(`[aria-label="Refresh activities"]`)), chromedp.KeyEvent("\r"))
	v.await(`document.getElementById("outcome").textContent.startsWith("Refresh activities: begun")`)
	v.want(`document.activeElement.getAttribute("aria-label")`, "Refresh activities")
	before := eval[string](v, `document.querySelector("#views tr[data-key=projects] svg").getAttribute("aria-label")`)
	v.click(`[aria-label="More for projects"]`)
	v.click(`[data-force=projects]`)
	v.click("#yes")
	v.await(`document.getElementById("outcome").textContent.startsWith("Force projects: begun")`)
	v.await(
		fmt.Sprintf(`document.querySelector("#views tr[data-key=projects] svg").getAttribute("aria-label") !== %q`,
			before))
	v.click("#reload")
	v.await(`document.getElementById("outcome").textContent === "Reload: nothing has changed"`)

	cockpitForceByKeyboard(v)
	cockpitExplains(v, s)

	v.await(`[...document.querySelectorAll("#charts strong")].every((e) => e.textContent)`)
	v.do(chromedp.Reload())
	v.await(stateIs("Ready")) // the browser has the token
	v.wantOnly(s.Admin)
	v.wantNoComplaint("403", "404")
	if code := s.Stop(); code != 0 {
		t.Errorf("SIGTERM while an operator watches: exit code %d", code)
	}
	v.await(stateIs("No contact"))
}

// cockpitForceByKeyboard: Force is behind the menu of its row, which says what it does, and is asked for once more.
// Each step back returns to where the operator was.
func cockpitForceByKeyboard(v *tab) {
	v.t.Helper()
	const hidden = `document.querySelector("[data-force=projects]").checkVisibility() + ""`
	v.want(hidden, "false")
	v.do(chromedp.Focus(chromedp.CSS(`[aria-label="More for projects"]`)), chromedp.KeyEvent("\r"))
	v.await(`document.activeElement.dataset.force === "projects"`)
	v.want(hidden, "true")
	v.want(`document.activeElement.parentNode.textContent`,
		"Publishes projects even if many rows disappear. You are asked once more.Force projects …")
	v.do(chromedp.KeyEvent(kb.Escape))
	v.await(`document.activeElement.dataset.more === "projects"`)
	v.want(hidden, "false")
	v.do(chromedp.KeyEvent("\r"))
	v.await(`document.activeElement.dataset.force === "projects"`)
	v.do(chromedp.KeyEvent("\r"))
	v.await(`document.getElementById("sure").open`)
	v.want(`document.activeElement.id`, "no")
	v.want(`document.getElementById("h-sure").textContent`, "Force projects?")
	v.do(chromedp.KeyEvent("\r"))
	v.await(`document.activeElement.dataset.more === "projects"`)
	v.want(`document.getElementById("sure").open + ""`, "false")
}

// milliseconds matches what differs between two explanations of the same request.
var milliseconds = regexp.MustCompile(`(?m)in [\d.]+ ms$| +[\d.]+$`)

// cockpitExplains: the page explains in the words of the command.
func cockpitExplains(v *tab, s *programtest.Server) {
	v.t.Helper()
	const target = "/api/projects?filter[nothing]=1"
	v.do(chromedp.SendKeys(chromedp.CSS("#url"), target+"\r"))
	v.await(`document.getElementById("explained").textContent.startsWith("selected: ")`)
	command := programtest.Run(v.t, s.Cmd.Dir, "explain", target, "--store", "bolt://data/demo.db",
		"--admin-listen", strings.TrimPrefix(s.Admin, "http://"))
	page := eval[string](v, `document.getElementById("explained").textContent`)
	if page = milliseconds.ReplaceAllString(page, ""); page != milliseconds.ReplaceAllString(command, "") {
		v.t.Errorf("the page explains\n%s\nand the command\n%s", page, command)
	}
	v.do(chromedp.SendKeys(chromedp.CSS("#id"), "unknown\r"))
	v.await(`document.getElementById("explained").textContent.startsWith("in the answer: no — ")`)
	v.do(chromedp.SetValue(chromedp.CSS("#url"), "/api/nothing"), chromedp.SendKeys(chromedp.CSS("#id"), "\r"))
	v.await(`!document.getElementById("explained").textContent.includes("in the answer")`)
	v.want(`document.querySelectorAll("#explained pre")[1].hidden + ""`, "true")
}

// TestFacesCockpit: axe finds no fault in the page in several states, light and dark, narrow and wide.
func TestFacesCockpit(t *testing.T) {
	source, chrome, dir := axe(t), startBrowser(t), t.TempDir()
	programtest.Setenv(dir, "VITRINE_ADMIN_TOKEN", "Right")
	s := programtest.StartWhole(t, dir)
	for _, path := range []string{"/api/projects", "/api/activities", "/lists/activities", "/old/page", "/nowhere"} {
		s.Get(path)
	}
	for _, width := range []int64{390, 820, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			// Each tab closes when its subtest ends: Chromium has six connections to a server, and each page keeps
			// one.
			t.Run(fmt.Sprint(scheme, "-", width),
				func(t *testing.T) { cockpitAccessible(t, chrome, s, source, width, scheme) })
		}
	}
}

func cockpitAccessible(t *testing.T, chrome context.Context, s *programtest.Server, source string, width int64,
	scheme string) {
	v := newTab(t, chrome, width)
	see := func(state string) {
		eval[any](v, source+"; 0")
		if found := eval[string](v, violations); found != "" {
			t.Errorf("%s: %s", state, found)
		}
		shoot(v, fmt.Sprint("cockpit-", state, "-", scheme, "-", width))
	}
	v.scheme(scheme)
	v.open(s.Admin + "/")
	v.do(chromedp.WaitVisible(chromedp.CSS("#token")))
	see("token")
	v.do(chromedp.SendKeys(chromedp.CSS("#token"), "Right\r"))
	v.await(`document.querySelectorAll("polyline[points]").length > 3 && points.length > 2`)
	v.await(cell("activities", 5) + `.startsWith("ok, ")`)
	see("state")
	v.do(chromedp.SendKeys(chromedp.CSS("#url"), "/lists/activities?q=moth\r"))
	v.await(`document.getElementById("explained").textContent.startsWith("selected: ")`)
	see("explained")
	v.click(`[aria-label="More for projects"]`)
	see("menu")
	v.click(`[data-force=projects]`)
	see("dialog")
	v.click("#no")
	v.print(scheme)
	shoot(v, fmt.Sprint("cockpit-print-", scheme, "-", width))
	v.wantNoComplaint("403")
}
