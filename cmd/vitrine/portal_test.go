package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/proxy/admin"
	"vitrine/proxy/explain"
	"vitrine/rules/osiris"
)

// portalRun is the program on an OSIRIS database with activities of the subtypes article and report, whose _ids have
// the subtype and the status of the workflow.
type portalRun struct {
	*osirisRun
}

func runPortal(t *testing.T, environ ...string) *portalRun {
	t.Helper()
	cfg, err := configs.Load(configs.Sources{Environ: append(environ, "VITRINE_PRESET=osiris")})
	if err != nil {
		t.Fatal(err)
	}
	r := runConfigured(t, cfg, func(r *running) {
		for _, subtype := range []string{"article", "report"} {
			for _, status := range []string{"none", "in_progress", "verified"} {
				a := activity(subtype+"-"+status, "On "+subtype+" "+status)
				a[2].Value = subtype
				if status != "none" {
					a = append(a, bson.E{Key: "workflow", Value: bson.D{{Key: "status", Value: status}}})
				}
				r.put("activities", a)
			}
		}
		r.put("activities",
			bson.D{{Key: "_id", Value: "untyped"}, {Key: "type", Value: "publication"}, {Key: "title", Value: "X"}})
	})
	run := &portalRun{&osirisRun{r}}
	for _, other := range []string{"coins", "quarters"} { // so that the collections are never empty
		run.general(other, true)
		run.put(osiris.Features,
			bson.D{{Key: "_id", Value: other}, {Key: "feature", Value: other}, {Key: "enabled", Value: true}})
	}
	run.subtype("article", true)
	run.subtype("report", false)
	return run
}

func (r *portalRun) subtype(id string, portfolio any) {
	r.t.Helper()
	r.put(osiris.Types, bson.D{{Key: "_id", Value: id}, {Key: "id", Value: id}, {Key: "parent", Value: "publication"},
		{Key: "portfolio", Value: portfolio}})
}

func (r *portalRun) feature(enabled any) {
	r.t.Helper()
	r.put(osiris.Features, bson.D{{Key: "_id", Value: "w"}, {Key: "feature", Value: "quality-workflow"},
		{Key: "enabled", Value: enabled}})
}

// follows runs the job of activities, and waits until the program serves what it has published.
func (r *portalRun) follows() {
	r.t.Helper()
	r.check()
	r.checked()
	if _, err := r.program.runner.Refresh(r.t.Context(), materialize.Request{Views: []string{"activities"}}); err !=
		nil {
		r.t.Fatal(err)
	}
	meta, err := r.store.Meta(r.t.Context(), "activities")
	if err != nil {
		r.t.Fatal(err)
	}
	r.refreshed(int(meta.Generation))
}

// listed returns the ids of the activities that lists, items, exports, feeds and the sitemap show, which must agree.
func (r *portalRun) listed() string {
	r.t.Helper()
	var ids []string
	_, list := r.get("/lists/activities.json")
	_, feed := r.get("/lists/activities.feed.json")
	_, csv := r.get("/lists/activities.csv")
	_, sitemap := fetch(r.t, http.MethodGet, r.base+"/sitemap.xml")
	for _, id := range []string{"article-none", "article-in_progress", "article-verified", "report-none",
		"report-in_progress", "report-verified", "untyped"} {
		item, _ := r.get("/items/" + id)
		title := "On " + strings.Replace(id, "-", " ", 1)
		seen := []bool{
			strings.Contains(list, `"id":"`+id+`"`), item == http.StatusOK, strings.Contains(feed, title),
			strings.Contains(csv, id), strings.Contains(sitemap, "/items/"+id+"<"),
		}
		if id == "untyped" {
			seen[2] = seen[0] // its title is in others
		}
		if len(slices.Compact(slices.Clone(seen))) != 1 {
			r.t.Errorf("%s: in the list, item, feed, table, sitemap: %v", id, seen)
		}
		if seen[0] {
			ids = append(ids, id)
		}
	}
	return strings.Join(ids, " ")
}

// TestPortalSwitches: while the program runs, public activities follow each of the portal's settings.
func TestPortalSwitches(t *testing.T) {
	t.Parallel()
	const articles, reports = "article-none article-in_progress article-verified",
		"report-none report-in_progress report-verified"
	r := runPortal(t)
	r.follows()
	for _, tt := range []struct {
		name   string
		change func()
		want   string
	}{
		{"a subtype is in the portal", func() {}, articles},
		{"the other too", func() { r.subtype("report", "true") }, articles + " " + reports},
		{"by a number", func() { r.subtype("report", 1) }, articles + " " + reports},
		{"by what OSIRIS does not take for it", func() { r.subtype("report", "1") }, articles},
		{"neither", func() { r.subtype("article", "false") }, ""},
		{"the field is gone",
			func() { r.put(osiris.Types, bson.D{{Key: "_id", Value: "report"}, {Key: "id", Value: "report"}}) }, ""},
		{"one again", func() { r.subtype("article", true) }, articles},
		{"only approved, without workflows", func() { r.general("portfolio-workflow-visibility", "only-approved") },
			articles},
		{"with workflows", func() { r.feature(true) }, "article-verified"},
		{"approved or empty", func() { r.general("portfolio-workflow-visibility", "approved-or-empty") },
			"article-none article-verified"},
		{"all", func() { r.general("portfolio-workflow-visibility", "all") }, articles},
		{"what OSIRIS does not know", func() { r.general("portfolio-workflow-visibility", "approved") },
			"article-verified"},
		{"the settings are away for a moment", func() {
			r.general("portfolio-workflow-visibility", "approved-or-empty")
			r.follows()
			r.remove(osiris.General, "portfolio-workflow-visibility")
			r.remove(osiris.Features, "w")
		}, "article-none article-verified"},
		{"the feature is off", func() { r.feature(false) }, articles},
	} {
		tt.change()
		r.follows()
		if got := r.listed(); got != tt.want {
			t.Errorf("%s: public are %q, want %q", tt.name, got, tt.want)
		}
	}
	if _, body := r.get("/api/activities"); decode(t, body).Count != 7 {
		t.Errorf("the API does not have all: %s", body)
	}
}

// TestPortalOff: an operator can let lists.public alone decide.
func TestPortalOff(t *testing.T) {
	t.Parallel()
	r := runPortal(t, "VITRINE_LISTS_PORTAL=false", `VITRINE_LISTS_PUBLIC={"title": {"$ne": "On report none"}}`)
	r.follows()
	if got, want :=
		r.listed(),
		"article-none article-in_progress article-verified report-in_progress report-verified untyped"; got != want {
		t.Errorf("public are %q, want %q", got, want)
	}
}

// TestPortalRestrictsOwnRule: the portal also restricts what an operator's rule would show.
func TestPortalRestrictsOwnRule(t *testing.T) {
	t.Parallel()
	r := runPortal(t, "VITRINE_LISTS_PUBLIC={}")
	r.put("activities", append(activity("article-none", "On article none"), bson.E{Key: "hide", Value: 1}))
	r.follows()
	if got, want := r.listed(), "article-in_progress article-verified"; got != want {
		t.Errorf("public are %q, want %q", got, want)
	}
	r.subtype("report", true)
	r.follows()
	if got := r.listed(); !strings.Contains(got, "report-none") {
		t.Errorf("public are %q", got)
	}
}

// TestPortalExplained: explain names the setting by which a record is kept from the portal, and lists diff counts the
// records by it.
func TestPortalExplained(t *testing.T) {
	t.Parallel()
	r := runPortal(t)
	r.feature(true)
	r.general("portfolio-workflow-visibility", "approved-or-empty")
	r.follows()
	for id, want := range map[string]string{
		"report-verified": `subtype is "report", kept from the portal by adminTypes.portfolio`,
		"untyped":         `subtype is missing, kept from the portal by adminTypes.portfolio`,
		"article-in_progress": `workflow.status is "in_progress", kept from the portal by ` +
			`adminGeneral.portfolio-workflow-visibility`,
	} {
		for _, q := range []explain.Request{{URL: "/items/" + id}, {URL: "/lists/activities", ID: id}} {
			e, err := r.program.server.Explain(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if e.Record == nil || e.Record.InAnswer || e.Record.Reason != "not public" ||
				!strings.Contains(fmt.Sprint(e.Record.Because), want) {
				t.Errorf("%s: got %+v, want %s", q.URL, e.Record, want)
			}
		}
	}
	if e, err := r.program.server.Explain(t.Context(), explain.Request{URL: "/items/article-none"}); err != nil ||
		!e.Record.InAnswer {
		t.Errorf("a public record: %+v, %v", e.Record, err)
	}
	all, err := r.program.listsDiff(t.Context(),
		admin.ListsChange{File: []byte("preset: osiris\nlists: {portal: false}\n")})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{
		`subtype "report" (adminTypes.portfolio)`: 2, `subtype missing (adminTypes.portfolio)`: 1,
		`workflow.status "in_progress" (adminGeneral.portfolio-workflow-visibility)`: 1,
		`subtype "report" (adminTypes.portfolio), workflow.status "in_progress" ` +
			`(adminGeneral.portfolio-workflow-visibility)`: 1,
	}
	if d := all[0]; d.List != "activities" || d.Before != 2 || d.After != 7 || len(d.NotJudged) != 1 ||
		fmt.Sprint(d.Shown.Fields) != fmt.Sprint(want) {
		t.Errorf("without the portal: %+v", d)
	}
}
