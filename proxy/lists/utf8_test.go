package lists_test

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
)

// brokenRecords are records by collection. "~" stands for bytes that are not UTF-8: in every text that formats read,
// as a scalar and in lists.
var brokenRecords = map[string]string{
	"activities": `{"_id":"idx","type":"t~x","subtype":"s~x","title":"Xyzzy ~x <i>~y</i>","year":2021,
		"authors":[{"first":"A~x","last":"L~x","user":"u~x","suffix":"~J",
			"units":["g~x"],"orcid":"~0"},"N~x M","P~x; Q~x"],
		"editors":[{"first":"A~x","last":"E~x"}],"journal":"J~x","book":"B~x","magazine":"M~x","series":"S~x",
		"volume":"1~x","issue":"2~x","pages":"3~x-4~y","publisher":"P~x","city":"C~x","location":"L~x","edition":"E~x",
		"conference":"K~x","version":"V~x","doi":"10.5555/x~y","pubmed":"~1","isbn":"~2","issn":["~3","~4"],
		"link":"https://example.org/~x","language":"~l",
		"abstract":"A~x\n\nB~x","keywords":["k~x","l~x"],"license":"cc~x",
		"pdf":"https://example.org/~x.pdf","funding_organization":"F~x","funder":"F~x","funding_number":"G~x",
		"projects":["p~x"],"units":["g~x"],"catalog":{"topics":[{"id":"T~x","name":"Topic ~x"}]},"status":"s~x",
		"thesis":"d~x","degree":"d~x","report_number":"r~x","start_date":"2021-~x","created":"~","updated":"~",
		"quartile":"Q~x","rendered":{"web":"<b>L~x,&nbsp;A~x</b> T~x <a href='/activities/view/idx'>~x</a>",
		"print":"L~x T~x","title":"T~x",
		"icon":"<i class='ph ph-~x'></i>","type":"t~x","subtype":"s~x","authors":"L~x"}}`,
	"persons": `{"_id":"~p","username":"u~x","first":"A~x","last":"L~x","displayname":"A~x L~x","formalname":"L~x, A~x",
		"academic_title":"D~x","orcid":"~0","units":[{"unit":"g~x"}],"position":"p~x","is_active":true}`,
	"projects": `{"_id":"~j","name":"p~x","acronym":"p~x","title":"Project ~x","public":true,"year":2021,
		"units":["g~x"],
		"persons":[{"user":"u~x","name":"L~x, A~x"}],"funder":"F~x","funding_number":["G~x","H~x"],
		"website":"https://e.org/~",
		"public_abstract":"~a","start_date":"2021-~x","end_date":"~"}`,
	"conferences": `{"_id":"ex","title":"Event ~x","title_full":"Event ~x","location":"L~x","url":"https://e.org/~x",
		"start":"2021-01-01","participants":["u~x"],"organizers":["u~x"],"type":"t~x","description":"~d"}`,
	"groups": `{"_id":"~g","id":"g~x","name":"Group ~x","name_de":"Gruppe ~x","parent":"h~x"}`,
}

// openBroken serves the demo with brokenRecords, whose broken bytes are the given three.
func openBroken(t *testing.T, broken string) *proxytest.Site {
	const sign = "\uf8ff" // takes as many bytes
	store := proxytest.ListStore(t, func(collection string, docs []bson.Raw) []bson.Raw {
		if text := brokenRecords[collection]; text != "" {
			doc := proxytest.Parse(t, strings.ReplaceAll(text, "~", sign))[0]
			docs = append(docs, bytes.ReplaceAll(doc, []byte(sign), []byte(broken)))
		}
		return docs
	})
	o := proxytest.ListOptions(t)
	o.Lists.Named = proxytest.Named(map[string]configs.NamedList{"people": {View: rules.ViewPersons}})
	return proxytest.OpenViews(t, store, o, proxytest.ListViews(t), 0)
}

// brokenTargets are requests whose answers have the texts of brokenRecords.
func brokenTargets() (all []string) {
	suffixes := []string{
		"", ".html", ".json", ".bib", ".ris", ".csl.json", ".csv", ".jsonld", ".atom", ".rss", ".feed.json",
	}
	for _, suffix := range suffixes {
		for _, list := range []string{
			"activities", "projects", "events", "people", "unit/g~x", "person/u~x", "project/p~x", "topic/T~x",
		} {
			all = append(all, "/lists/"+list+suffix)
		}
		for _, id := range []string{"idx", "ex", "~j"} {
			all = append(all, "/items/"+id+suffix)
		}
	}
	for _, group := range []string{"year", "type", "subtype", "unit", "person", "project", "keyword", "type,year"} {
		for _, suffix := range []string{"", ".html", ".json"} {
			all = append(all, "/lists/activities"+suffix+"?ids=idx&chart=1&counts=1&group="+group+
				"&show=abstract,badges,bibtex,doi,keywords,oa,pdf,ris,units"+
				"&facets=year,type,subtype,unit,person,project,topic,keyword,oa")
		}
	}
	for _, name := range []string{
		"type=t~x", "unit=g~x", "unit=h~x&deep=1", "person=u~x", "project=p~x", "topic=T~x", "keyword=k~x", "q=xyzzy",
	} {
		all = append(all, "/lists/activities.json?"+name)
	}
	return append(all,
		"/lists", "/lists.json", "/sitemap.xml", "/lists/activities?q=~", "/lists/activities?~=~",
		"/lists/activities.json?type=~", "/lists/unit/~", "/items/~", "/oembed?url=~",
		"/oembed?url=https://data.example/lists/unit/g~x", "/api/activities", "/api/activities?~=1", "/api/projects",
		"/api/events", "/api/persons", "/api/groups")
}

// TestAnswersAreUTF8: whatever bytes the texts of records and requests have, all answers and their headers are UTF-8,
// with U+FFFD for bytes that are none, and the addresses in answers find their records.
func TestAnswersAreUTF8(t *testing.T) {
	for _, broken := range []string{"\xff\xc3\xe2", "\xed\xa0\x80", "\xf0\x9f\x92"} {
		s := openBroken(t, broken)
		for _, target := range brokenTargets() {
			for _, spelled := range []string{url.PathEscape("\ufffd"), url.PathEscape(broken)} {
				target := strings.ReplaceAll(target, "~", spelled)
				accept := "text/html"
				if strings.HasPrefix(target, "/api/") {
					accept = "application/json"
				}
				res := s.Get(target, "Accept", accept)
				checkUTF8(t, target, res)
				if stored := strings.Contains(target, "x"); stored && spelled == url.PathEscape("\ufffd") &&
					(res.StatusCode != http.StatusOK || !strings.Contains(string(res.Body), "x")) {
					t.Errorf("%s: %s: %.300s", target, res.Status, res.Body)
				}
			}
		}
		csv := strings.Split(string(s.Get("/lists/activities.csv?ids=idx").Body), "\r\n")[1]
		for _, want := range []string{"g\ufffdx", "p\ufffdx"} {
			if !slices.Contains(strings.Split(csv, ","), want) {
				t.Errorf("the row of the table lacks %q: %q", want, csv)
			}
		}
	}
}

// checkUTF8 reports bytes of an answer that are not UTF-8.
func checkUTF8(t *testing.T, target string, res proxytest.Response) {
	t.Helper()
	if res.StatusCode >= http.StatusInternalServerError {
		t.Errorf("%s: %s: %.300s", target, res.Status, res.Body)
	}
	if valid := bytes.ToValidUTF8(res.Body, nil); len(valid) < len(res.Body) {
		i := 0
		for res.Body[i] == valid[i] {
			i++
		}
		t.Errorf("%s has bytes that are not UTF-8: %q", target, res.Body[max(i-60, 0):min(i+20, len(res.Body))])
	}
	for name, values := range res.Header {
		if text := strings.Join(values, ""); !utf8.ValidString(text) {
			t.Errorf("%s has the header %s: %q", target, name, text)
		}
	}
}
