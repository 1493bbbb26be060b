package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/net/html"

	"vitrine/configs"
)

// scripts are texts that a browser would run if it got them unchanged.
var scripts = []string{
	`<script>pwn()</script>`, `<SCRIPT SRC=//x.example/x.js></SCRIPT>`, `<scr<script>ipt>pwn()</scr</script>ipt>`,
	`<script/x>pwn()</script>`,
	`<img src=x onerror=pwn()>`, `<img src=x onerror="pwn()"//`, `<svg/onload=pwn()>`,
	`<svg><script>pwn()</script></svg>`,
	`<svg><animate onbegin=pwn() attributeName=x dur=1s>`,
	`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=pwn()&gt;">`,
	`<noscript><p title="</noscript><img src=x onerror=pwn()>">`, `<p title='"><img src=x onerror=pwn()>'>x`,
	`<b title="'><script>pwn()</script>">x</b>`,
	`<a href="javascript:pwn()">x</a>`, `<a href=" javascript:pwn()">x</a>`, `<a href="java&#10;script:pwn()">x</a>`,
	`<a href="&#106;avascript:pwn()">x</a>`,
	`<a href="JaVaScRiPt:pwn()">x</a>`, "<a href=\"java\tscript:pwn()\">x</a>",
	"<a href=\"\x01javascript:pwn()\">x</a>",
	`<a href="data:text/html,<script>pwn()</script>">x</a>`, `<a href="vbscript:pwn()">x</a>`,
	`<a href="//x.example" onclick="pwn()">x</a>`,
	`<b style="background:url(javascript:pwn())">x</b>`, `<b style="position:fixed;inset:0">x</b>`,
	`<style>*{background:url(//x.example)}</style>`,
	`<iframe srcdoc="<script>pwn()</script>"></iframe>`, `<object data="javascript:pwn()">`,
	`<embed src="//x.example">`, `<base href="//x.example/">`,
	`<form action="javascript:pwn()"><button>x</button></form>`, `<input autofocus onfocus=pwn()>`,
	`<details open ontoggle=pwn()>`,
	`<meta http-equiv=refresh content="0;url=javascript:pwn()">`, `<link rel=stylesheet href=//x.example>`,
	`<template><script>pwn()</script></template>`,
	`&lt;script&gt;pwn()&lt;/script&gt;`, `&amp;lt;img src=x onerror=pwn()&amp;gt;`, `'"><script>pwn()</script>`,
	`' onmouseover='pwn()`, `" onmouseover="pwn()`,
	`x' autofocus onfocus='pwn()' y='`, `--><script>pwn()</script><!--`, `]]><script>pwn()</script>`,
	`{{constructor.constructor('pwn()')()}}`,
	"<script\x00>pwn()</script>", "<\x00script>pwn()</script>", "\u003cscript\u003epwn()\u003c/script\u003e",
	"<b\u2028onmouseover=pwn()>x</b>",
	`<a href="https://x.example/&quot; onmouseover=&quot;pwn()">x</a>`, `<a class="x" onclick=pwn() href='/ok'>x</a>`,
	"10.1000/x' onmouseover='pwn()",
	`javascript:pwn()`, `https://x.example/"><script>pwn()</script>`, `<xmp><script>pwn()</script></xmp>`,
	`<plaintext>`, `<textarea><script>pwn()</script>`,
	strings.Repeat(`<b>`, 600) + `<script>pwn()</script>`, `<b` + strings.Repeat(" ", 3000) + `onclick=pwn()>x`,
}

// infected is a record with a script in every text, at any depth, and as names of fields where
// marked.
func infected(v any, script string, keep map[string]bool) any {
	switch v := v.(type) {
	case string:
		return script
	case bson.D:
		out := make(bson.D, len(v))
		for i, e := range v {
			out[i] = bson.E{Key: e.Key, Value: e.Value}
			if !keep[e.Key] {
				out[i].Value = infected(e.Value, script, keep)
			}
		}
		return out
	case bson.A:
		out := make(bson.A, len(v))
		for i, e := range v {
			out[i] = infected(e, script, keep)
		}
		return out
	}
	return v
}

// infect makes records of a collection that hold a script in every field, two for each script: one
// of a known type, and one with the script as type and references too, which also has a stored
// citation.
func infect(t *testing.T, collection string, docs []bson.Raw) []bson.Raw {
	t.Helper()
	var whole bson.D
	if err := bson.Unmarshal(specimen(docs), &whole); err != nil {
		t.Fatal(err)
	}
	var all []bson.Raw
	for i, script := range scripts {
		for _, known := range []bool{true, false} {
			keep := map[string]bool{"_id": true, "username": true, "id": true}
			if known {
				for _, key := range []string{"type", "subtype", "year", "affiliated", "aoi", "status", "role", "user",
					"units", "domain", "display_name"} {
					keep[key] = true
				}
			}
			doc := infected(whole, script, keep).(bson.D)
			id := fmt.Sprintf("~script-%s-%d-%t", collection, i, known)
			doc = slices.DeleteFunc(doc, func(e bson.E) bool {
				return e.Key == "_id" || e.Key == "username" && collection != "persons" || e.Key == "rendered"
			})
			doc = append(bson.D{{Key: "_id", Value: id}}, doc...)
			for k := range doc {
				if doc[k].Key == "username" || doc[k].Key == "id" {
					doc[k].Value = id
				}
			}
			if collection == "activities" && !known {
				doc = append(doc, bson.E{Key: "rendered", Value: bson.D{
					{Key: "web", Value: script}, {Key: "print", Value: script}, {Key: "icon", Value: script},
					{Key: "type", Value: script},
					{Key: "subtype", Value: script}, {Key: "title", Value: script}, {Key: "authors", Value: script},
					{Key: "editors", Value: script},
					{Key: "quarter", Value: script}, {Key: "users", Value: bson.A{script}},
					{Key: "html", Value: script},
				}})
			}
			raw, err := bson.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, raw)
		}
	}
	return all
}

// TestScriptsInRecords puts scripts into every field of records of every collection, and checks
// every text that endpoints return for display: as HTML it runs nothing, and has only elements and
// attributes of the allow-list.
func TestScriptsInRecords(t *testing.T) {
	wholeOnly(t)
	t.Parallel()
	good := demoCollections(t, configs.Demo(), ".")
	r := runConfigured(t, demoConfig(t), func(r *running) {
		r.fill(good)
		for collection, docs := range good {
			r.fill(map[string][]bson.Raw{collection: infect(t, collection, docs)})
		}
	})
	r.checked()
	calls := []string{
		"/api/activities", "/api/activities?lang=de",
		"/api/activities?columns=web,print,icon,type,subtype,authors,title,departments",
		"/api/activities?full=1", "/api/html", "/api/all-activities", "/api/all-activities?page=portal",
		"/api/all-activities?path=https://www.example.org/a%2526b",
		"/api/spectrum-activities?spectrum=" + url.QueryEscape("Counting What Is Not Seen"),
		"/portfolio/spectrum", "/api/projects", "/api/projects?lang=de", "/api/projects?formatted", "/api/proposals",
		"/api/proposals?formatted",
		"/api/projects?full", "/api/proposals?raw&columns=title,abstract", "/api/events",
		"/api/search/conferences?columns=title,description",
		"/api/search/activities?columns=title,journal,book,series,conference",
		"/api/search/activities?aggregate=title",
		"/api/activities?columns=journal,book,conference,event", "/api/activities?aggregate=title",
		"/api/search/proposals", "/api/search/projects",
		"/api/search/proposals?columns=title,topics,tags,persons,scholarship,funding_organization,units",
	}
	texts, shown := 0, 0
	for _, call := range calls {
		status, body := fetch(t, http.MethodGet, r.base+call, "X-API-Key", r.key)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %.300s", call, status, body)
		}
		records := 0
		decoder := json.NewDecoder(strings.NewReader(body))
		for decoder.More() {
			var answer struct{ Data []map[string]any }
			if err := decoder.Decode(&answer); err != nil {
				t.Fatalf("%s: %v", call, err)
			}
			for _, row := range answer.Data {
				if strings.Contains(fmt.Sprint(row), "~script-") {
					records++
				}
				if strings.Contains(call, "full") || strings.Contains(call, "raw") || call == "/api/events" {
					// the other fields are text
					row = map[string]any{"rendered": row["rendered"], "title": row["title"],
						"description": row["description"], "abstract": row["abstract"]}
				}
				if call == "/portfolio/spectrum" { // names are text
					row = map[string]any{"activities": row["activities"]}
				}
				eachText("", row, func(path, text string) {
					if slices.Contains(plain, strings.Trim(path[strings.LastIndexByte(path, '.')+1:], "[]")) {
						return
					}
					texts++
					if why := dangerous(path, text); why != "" {
						t.Errorf("%s: %s: %s: %.200q", call, path, why, text)
					}
				})
			}
		}
		shown += records
	}
	t.Logf("%d scripts; %d texts checked, %d rows of infected records", len(scripts), texts, shown)
	if shown < len(calls)*20 {
		t.Errorf("only %d rows of infected records", shown)
	}
}

// eachText calls fn for every text in a value.
func eachText(path string, v any, fn func(path, text string)) {
	switch v := v.(type) {
	case string:
		fn(path, v)
	case map[string]any:
		for name, e := range v {
			eachText(path+"."+name, e, fn)
		}
	case []any:
		for _, e := range v {
			eachText(path+"[]", e, fn)
		}
	}
}

// plain are the fields with stored values or text instead of HTML: clients that show them must
// escape them.
var plain = strings.Fields(
	"departments topics tags start end start_date end_date year workflow raw_type raw_subtype epub users plain")

var (
	allowedElements   = strings.Fields("a b br div em i p small span strong sub sup u")
	allowedAttributes = strings.Fields("class title data-title data-toggle href target rel")
)

// dangerous returns what is wrong with a text that a page shows as HTML, or "".
func dangerous(path, text string) string {
	if strings.HasSuffix(path, ".link") || strings.HasSuffix(path, "url") {
		return badAddress(text)
	}
	tokens := html.NewTokenizer(strings.NewReader(text))
	for {
		kind := tokens.Next()
		switch kind {
		case html.ErrorToken:
			return ""
		case html.CommentToken, html.DoctypeToken:
			return "a comment"
		case html.StartTagToken, html.SelfClosingTagToken:
			token := tokens.Token()
			if !slices.Contains(allowedElements, token.Data) {
				return "element " + token.Data
			}
			for _, a := range token.Attr {
				if !slices.Contains(allowedAttributes, a.Key) {
					return "attribute " + a.Key
				}
				if a.Key == "href" {
					if why := badAddress(a.Val); why != "" {
						return why
					}
				}
			}
		}
	}
}

// badAddress returns what is wrong with the target of a link.
func badAddress(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil:
		return "an address that cannot be read"
	case u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https":
		return "scheme " + u.Scheme
	}
	return ""
}
