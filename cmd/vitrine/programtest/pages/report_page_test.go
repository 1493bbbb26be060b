package pages

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/compare"
)

// reportPage serves the page of a comparison that has causes of all parts, long texts and long names, and returns
// its URL.
func reportPage(t *testing.T) string {
	t.Helper()
	old, oldErr := compare.NewSide("old", "https://osiris.institute.example.org/osiris", compare.Keys{}, nil)
	new, newErr := compare.NewSide("new", "http://127.0.0.1:8080", compare.Keys{}, nil)
	if err := errors.Join(oldErr, newErr); err != nil {
		t.Fatal(err)
	}
	c := compare.NewComparison(old, new, compare.Settings{Accepted: compare.OSIRIS(), Examples: 3})
	add := func(target, was, is string, errs ...error) {
		answer := func(body string) compare.Answer {
			return compare.Answer{Status: http.StatusOK, Type: "application/json", Body: []byte(body),
				Forwarded: body == "forwarded"}
		}
		c.Add(t.Context(), compare.Request{Method: http.MethodGet, Target: target},
			[2]compare.Answer{answer(was), answer(is)}, [2]error(append(errs, nil, nil)))
	}
	const row = `{"status":200,"count":2,"data":[{"id":"64a0b1c2d3e4f5a6b7c8d9e%d","year":%s,"title":"%s"}]}`
	long := strings.Repeat("Polar Ice and the Memory of Melodies: a Crossover Trial. ", 9)
	for i := range 12 {
		target := fmt.Sprintf("/api/endpoint-%d?columns[]=title&json=%%7B%%22year%%22%%3A%d%%7D", i, i)
		add(target, fmt.Sprintf(row, i%10, `"2023"`, long), fmt.Sprintf(row, i%10, "2023", long+"other"))
		add(target+"&status", `{"status":404,"msg":"Fehler"}`, `{"status":404,"msg":"no such record"}`)
		add(target+"&same", row, row)
		add(fmt.Sprint("/portfolio/unit/", i), "", "forwarded")
	}
	unbroken := strings.Repeat("x", 290)
	add("/api/"+unbroken, `{"data":{"`+unbroken+`":"`+unbroken+`"}}`, `{"data":{"`+unbroken+`":1}}`)
	add("/api/html", `{"data":[{"id":"1","print":"<p><a href='/a'>Doe</a></p>"}]}`,
		`{"data":[{"id":"1","print":"<p><a href='/b'>Roe</a></p>"}]}`)
	add("/api/down", "{}", "{}", errors.New("502 Bad Gateway"))
	body, err := c.Report().HTML()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", compare.Policy)
		_, _ = w.Write(body) // the browser may have gone
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// eachReportPage shows the report on screens of several widths, light and dark.
func eachReportPage(t *testing.T, see func(v *tab, name string)) {
	chrome, url := startBrowser(t), reportPage(t)
	v := newTab(t, chrome, 1280)
	v.open(url + "/admin/compare")
	for _, width := range []int64{390, 820, 1280} {
		v.do(chromedp.EmulateViewport(width, 900))
		for _, scheme := range []string{"light", "dark"} {
			v.scheme(scheme)
			see(v, fmt.Sprintf("report-%d-%s", width, scheme))
		}
	}
	v.wantNoComplaint("favicon")
}

// TestReportPage: the report of a comparison can be read on a phone and on paper.
func TestReportPage(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	eachReportPage(t, func(v *tab, name string) {
		for _, all := range []bool{false, true} {
			eval[any](v, fmt.Sprintf(`document.querySelectorAll("details").forEach((d) => { d.open = %v }); 0`, all))
			if found := eval[[]string](v, flaws); len(found) > 0 {
				t.Errorf("%s, open %v: %s", name, all, strings.Join(found, "; "))
			}
		}
		shoot(v, name)
		// A number on a narrow screen says what it is, and what is zero is left out.
		if eval[bool](v, `innerWidth < 900`) {
			v.want(`getComputedStyle(document.querySelector("td:not(.zero)"), "::before").content`, "\"differ \"")
			v.want(`getComputedStyle(document.querySelector("td.zero")).display`, "none")
		}
	})
}

// TestReportPagePrinted: on paper nothing is folded, nothing is cut, and links say where they lead.
func TestReportPagePrinted(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	chrome, url := startBrowser(t), reportPage(t)
	for _, scheme := range []string{"light", "dark"} {
		v := newTab(t, chrome, 720) // about the width of a page
		v.print(scheme)
		v.open(url + "/admin/compare")
		if n := eval[int](v, `document.querySelectorAll("details pre, details li, details dl").length`); n < 20 {
			t.Errorf("%d parts are folded on a screen", n)
		}
		v.want(`[...document.querySelectorAll("details pre, details li, details dl")]
			.filter((e) => !e.checkVisibility({contentVisibilityAuto: true}) || !e.offsetHeight).length + ""`, "0")
		v.want(`[...document.querySelectorAll("main *")].filter((e) => e.scrollWidth > e.clientWidth + 1 &&
			getComputedStyle(e).display !== "inline").map((e) => e.outerHTML.slice(0, 100)).join()`, "")
		v.want(`getComputedStyle(document.querySelector("article a"), "::after").content.includes("attr") ||
			getComputedStyle(document.querySelector("article a"), "::after").content.includes("https://osiris") ? "" :
			getComputedStyle(document.querySelector("article a"), "::after").content`, "")
		shoot(v, "report-print-"+scheme)
	}
}

// TestFacesReportPageAccessible: axe finds no fault in the report.
func TestFacesReportPageAccessible(t *testing.T) {
	source := axe(t)
	eachReportPage(t, func(v *tab, name string) {
		if !eval[bool](v, `"axe" in window`) {
			eval[any](v, source+"; 0")
		}
		if found := eval[string](v, violations); found != "" {
			t.Errorf("%s: %s", name, found)
		}
	})
}
