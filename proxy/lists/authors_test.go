package lists_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/proxy/proxytest"
	"vitrine/rules/markup"
	"vitrine/rules/render/names"
)

// The parts of a citation in which persons are marked and folded.
var (
	marked  = regexp.MustCompile(`<mark class="vl-mark">(.*?)</mark>`)
	others  = regexp.MustCompile(`<span class="vl-others">.*?</span>`)
	unfolds = regexp.MustCompile(`<label class="vl-unfold" lang="..">.*?</label>`)
)

// hasNames reports whether a citation names persons: only a rendered one does.
func hasNames(citation string) bool { return strings.Contains(citation, "&nbsp;") }

// TestOwnName: the list of a person marks that person in each citation, in every style, language, grouping and form;
// so do others that ask for persons. Feeds and exports stay plain.
func TestOwnName(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Lists.Named = proxytest.Named(map[string]configs.NamedList{
		"papers": {View: "activities", Group: "year,type", Style: "print"},
	})
	s := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
	for _, query := range []string{
		"person/nkerzenr?type=publication", "person/nkerzenr?type=publication&style=print&lang=de",
		"person/0000-0009-3666-8279?type=publication&group=year,type",
		"person/nkerzenr?type=publication&group=person&authors=1", "papers?person=nkerzenr,hschatte&type=publication",
		"activities?person=0000-0009-3666-8279&type=publication",
	} {
		path, args, _ := strings.Cut(query, "?")
		l := getList(s, "/lists/"+path+".json?limit=200&"+args)
		if l.Count < 5 {
			t.Fatalf("%s has %d items", query, l.Count)
		}
		for _, it := range l.Items {
			var own []string
			for _, who := range it.Authors {
				if who.ID == "nkerzenr" || who.ID == "hschatte" && strings.Contains(query, "hschatte") {
					family, _, _ := strings.Cut(who.Name, ",")
					own = append(own, family)
				}
			}
			var found []string
			for _, m := range marked.FindAllStringSubmatch(it.HTML, -1) {
				family, _, _ := strings.Cut(markup.Text(m[1]), ",")
				found = append(found, family)
			}
			if hasNames(it.HTML) && !slices.Equal(own, found) {
				t.Errorf("%s: %s marks %v, want %v", query, it.HTML, found, own)
			}
		}
		for _, target := range []string{path + ".html?limit=200&" + args, path + "?limit=200&" + args} {
			body := string(s.Get("/lists/"+target, "Accept", "text/html").Body)
			if items, marks := strings.Count(body,
				"<article "), len(marked.FindAllString(body, -1)); items < l.Count || marks < items/2 {
				t.Errorf("%s has %d marks in %d items", target, marks, items)
			}
		}
	}
	for _, target := range []string{"/lists/person/nkerzenr.atom", "/lists/person/nkerzenr.feed.json",
		"/lists/person/nkerzenr.csv", "/lists/unit/MOTH.html", "/lists/unit/MOTH"} {
		if res := s.Get(target, "Accept", "text/html"); res.StatusCode != http.StatusOK ||
			strings.Contains(string(res.Body), "vl-mark") {
			t.Errorf("%s: %s, or a marked person", target, res.Status)
		}
	}
}

// TestAuthors: authors=3 leaves the first three persons of a citation in view and those of the list, and folds the
// others behind a text that counts them, in the language of the list. Without it 20 are in view. A list has 50 names
// at most, or as many as are asked for, and an item has all. Feeds leave out those that would be folded.
func TestAuthors(t *testing.T) {
	var team []names.Person
	var stored bson.A
	for i := range 250 {
		who := names.Person{First: "Ada B.", Last: fmt.Sprintf("Person%d", i)}
		team = append(team, who)
		stored = append(stored, bson.D{{Key: "first", Value: who.First}, {Key: "last", Value: who.Last}})
	}
	form := names.Default()
	s := proxytest.OpenLists(t, func(collection string, docs []bson.Raw) []bson.Raw {
		if collection != "activities" {
			return docs
		}
		many, err := bson.Marshal(bson.D{
			{Key: "_id", Value: "many"}, {Key: "type", Value: "publication"}, {Key: "subtype", Value: "article"},
			{Key: "year", Value: 2026}, {Key: "title", Value: "All of us"}, {Key: "authors", Value: stored},
			{Key: "rendered",
				Value: bson.D{{Key: "web",
					Value: "<a href='/activities/view/many'>All of us</a><br><small>" +
						string(form.Append(nil, team)) + " <i>J</i> (2026)</small>"},
					{Key: "print", Value: string(form.Append(nil, team[:12])) + " et al. (2026) All of us."}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return append(docs, many)
	})
	for _, tt := range []struct {
		target     string
		shown, all int
		more       string
	}{
		{"/lists/activities.json?ids=many&authors=3", 3, 50, "and 247 more"},
		{"/lists/activities.json?ids=many&authors=3&lang=de&style=print", 3, 50, "und 247 weitere"},
		{"/lists/activities.html?ids=many&authors=100", 100, 100, ""},
		{"/lists/activities.html?ids=many&authors=49", 50, 50, ""},
		{"/lists/activities.html?ids=many", 20, 50, "and 230 more"},
		{"/lists/activities.json?ids=many", 20, 50, "and 230 more"},
		{"/lists/activities?ids=many", 20, 50, "and 230 more"},
		{"/items/many", 20, 250, "and 230 more"},
		{"/items/many.html?authors=1", 1, 250, "and 249 more"},
	} {
		body := strings.NewReplacer(`\"`, `"`, "&nbsp;",
			" ").
			Replace(
				string(s.Get(tt.target, "Accept",
					map[bool]string{true: "application/json",
						false: "text/html"}[strings.Contains(tt.target, ".json")]).Body))
		if i := strings.Index(body, `"authors":`); i >= 0 {
			body = body[:i]
		}
		citation := regexp.MustCompile(`Person0, A\. B\..*?\(2026\)`).FindString(body)
		count := func(html string) int { return strings.Count(html, ", A. B.") }
		shown, all := count(others.ReplaceAllString(citation, "")), count(citation)
		if shown != tt.shown || all != tt.all {
			t.Errorf("%s shows %d of %d persons, want %d of %d", tt.target, shown, all, tt.shown, tt.all)
		}
		if label := unfolds.FindString(citation); !strings.HasSuffix(label, tt.more+"</label>") &&
			tt.more+label != "" {
			t.Errorf("%s unfolds with %s, want %s", tt.target, label, tt.more)
		}
	}
	if page := string(s.Get("/items/many", "Accept", "text/html").Body); strings.Count(page, "<li><bdi>") != 250 ||
		!strings.Contains(page, "<details><summary>and 230 more people</summary>") {
		t.Error("the page of an item does not fold its people")
	}
	if items := getList(s, "/lists/activities.json?ids=many").Items; len(items[0].Authors) != 250 {
		t.Errorf("the item has %d authors", len(items[0].Authors))
	}
	for _, target := range []string{".atom?ids=many", ".rss?ids=many", ".feed.json?ids=many",
		".feed.json?ids=many&style=print"} {
		feed := strings.ReplaceAll(string(s.Get("/lists/activities"+target).Body), "&nbsp;", " ")
		feed = strings.ReplaceAll(html.UnescapeString(feed), "&nbsp;", " ")
		citation := markup.Text(regexp.MustCompile(`Person0, A\. B\..*?\(2026\)`).FindString(feed))
		if !strings.Contains(citation, "Person19, A. B. and 230 more") || strings.Contains(citation, "Person20") {
			t.Errorf("%s: %s", target, citation)
		}
	}
	for _, bad := range []string{"0", "101", "all", "1,2", "-1", "03x"} {
		if res := s.Get("/lists/activities?authors=" + bad); res.StatusCode != http.StatusBadRequest ||
			!strings.HasPrefix(res.Envelope(t).Msg, "authors: ") {
			t.Errorf("authors=%s: %s %s", bad, res.Status, res.Body)
		}
	}
}

// TestListsInGroups: the lists that people want on their pages are one URL each.
func TestListsInGroups(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	// a person's papers by year with the own name marked and three authors
	papers := getList(s, "/lists/person/nkerzenr.json?type=publication&group=year&authors=3&limit=200")
	folded := 0
	for i, it := range papers.Items {
		if it.Type != "publication" || it.Groups[0].Label != fmt.Sprint(*it.Year) ||
			i > 0 && *it.Year > *papers.Items[i-1].Year {
			t.Errorf("item %d of type %s is in %v", i, it.Type, it.Groups)
		}
		if strings.Contains(it.HTML, "vl-others") {
			folded++
		} else if hasNames(it.HTML) && len(it.Authors) > 5 {
			t.Errorf("%d authors are in view: %s", len(it.Authors), it.HTML)
		}
		if visible := others.ReplaceAllString(it.HTML, ""); hasNames(it.HTML) && !marked.MatchString(visible) {
			t.Errorf("the own name is not in view: %s", it.HTML)
		}
	}
	if len(papers.Items) == 0 || folded == 0 {
		t.Errorf("%d of %d items are folded", folded, len(papers.Items))
	}
	// the same with the last author, if the rules say so
	o := proxytest.ListOptions(t)
	rules := *o.Lists.Cite
	rules.LastAuthor, o.Lists.Cite = true, &rules
	last := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
	for _, it := range getList(last, "/lists/person/nkerzenr.json?type=publication&authors=2&limit=200").Items {
		family, _, _ := strings.Cut(it.Authors[len(it.Authors)-1].Name, ",")
		if visible := others.ReplaceAllString(it.HTML, ""); hasNames(it.HTML) && !strings.Contains(visible, family) {
			t.Errorf("the last author %s is not in view: %s", family, it.HTML)
		}
	}
	// a unit's articles by type
	articles := getList(s, "/lists/unit/MOTH.json?type=publication&group=subtype,year&counts=1&limit=200")
	for _, it := range articles.Items {
		if it.Groups[0].Value != it.Subtype || it.Groups[0].Count == 0 || it.Groups[1].By != "year" {
			t.Errorf("%s is in %v", it.Subtype, it.Groups)
		}
	}
	// one list in two languages
	english, german := string(s.Get("/lists/unit/MOTH.html?group=year&authors=1&lang=en").Body), string(
		s.Get("/lists/unit/MOTH.html?group=year&authors=1&lang=de").Body)
	items := regexp.MustCompile(`data-id="[^"]*"`)
	if !slices.Equal(items.FindAllString(english, -1), items.FindAllString(german, -1)) ||
		!strings.Contains(english, " entries") || !strings.Contains(german, " Einträge") ||
		!strings.Contains(german, `lang="de"><input type="checkbox" aria-label="und `) {
		t.Error("the list in two languages has different entries, or the texts of one language")
	}
	ids, deeper := regexp.MustCompile(` id="([^"]*)"`), string(
		s.Get("/lists/unit/MOTH.html?group=year&authors=1&h=3").Body)
	if all := ids.FindAllString(english+german+deeper, -1); len(all) !=
		len(slices.Compact(slices.Sorted(slices.Values(all)))) {
		t.Error("both in a page share an id")
	}
}
