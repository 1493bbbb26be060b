package kept_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"vitrine/cache/kept"
	"vitrine/rules"
)

func TestMatch(t *testing.T) {
	k := newWorld(t, nil).Keeper
	rules := []kept.Rule{
		{Name: "slash", Paths: []string{"/portfolio/"}},
		{Name: "whole", Paths: []string{"/portfolio/unit", "/api/x"}},
		{Name: "star", Paths: []string{"/portfolio/units*"}},
		{Name: "part", Paths: []string{"/portfolio/unit/*/staff", "/a/*/b*", "/c/*/", "/portfolio/*/*/lists"}},
	}
	if err := k.Adopt(rules); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/portfolio/person/X": "slash", "/portfolio": "", "/portfolio/unit": "whole", "/portfolio/unit/BIO": "whole",
		"/portfolio/united": "slash", "/portfolio/units": "star",
		"/portfolio/units2": "star", "/api/x": "whole", "/api/xy": "",
		"/portfolio//unit": "", "/portfolio/./unit": "", "/portfolio/../admin": "",
		"/portfolio/..;/admin": "", "/portfolio/a\\b": "",
		"/portfolio/unit/BIO/staff":   "part",
		"/portfolio/unit/BIO/staff/x": "part", "/portfolio/unit/BIO/staffs": "whole",
		"/portfolio/unit/BIO/x/staff": "whole", "/portfolio/unit/staff": "whole", "/portfolio/unit/BIO/lists": "part",
		"/portfolio/x/BIO/lists": "part", "/portfolio/x/lists": "slash",
		"/a/x/b": "part", "/a/x/bc/d": "part", "/a/x/c": "",
		"/a/x": "", "/a": "", "/c/x": "", "/c/x/y": "part", "/c/x/y/z": "part",
		"/portfolio/": "", "portfolio/x": "", "": "", "/": "",
		"/portfolio/a\x00": "", "/portfolio/\xff": "", "/portfolio/ä b": "slash",
	} {
		got := ""
		if rule := k.Match(path); rule != nil {
			got = rule.Name
		}
		if got != want {
			t.Errorf("%q: rule %q, want %q", path, got, want)
		}
	}
}

func TestKey(t *testing.T) {
	some, all := &kept.Rule{Parameters: []string{"limit", "lang"}}, &kept.Rule{AllParameters: true}
	for _, test := range []struct {
		rule                      *kept.Rule
		path, query, key, dropped string
	}{
		{some, "/portfolio/unit/BIO", "", "/portfolio/unit/BIO", "[]"},
		{
			some, "/portfolio/ä b?c", "lang=de&x=1&limit=5&limit=6&a=",
			"/portfolio/%C3%A4%20b%3Fc?limit=5&limit=6&lang=de", "[a x]",
		},
		{all, "/p", "b=%26&a=x+y&c=", "/p?a=x+y&b=%26&c=", "[]"},
		{all, "/p", "columns[]=b&full&columns[]=a", "/p?columns%5B%5D=b&columns%5B%5D=a&full=", "[]"},
		{some, "/p", "lang=", "/p", "[]"},
	} {
		key, dropped := test.rule.Key(test.path, query(t, test.query))
		if key != test.key || fmt.Sprint(dropped) != test.dropped {
			t.Errorf("%s?%s: %s without %v, want %s without %s",
				test.path, test.query, key, dropped, test.key, test.dropped)
		}
	}
	w := newWorld(t, nil)
	long := "/portfolio/" + strings.Repeat("x", kept.MaxKey)
	if _, err := w.Get(t.Context(), client, w.rule, long); !errors.Is(err, rules.ErrWrongCall) {
		t.Errorf("a long key: %v", err)
	}
}

func TestWrongRules(t *testing.T) {
	w := newWorld(t, nil)
	for name, rules := range map[string][]kept.Rule{
		"no path":  {{}},
		"relative": {{Paths: []string{"portfolio/"}}},
		"dots":     {{Paths: []string{"/portfolio/../x"}}},
		"negative": {{Paths: []string{"/x"}, For: -1}},
		"twice":    {{Paths: []string{"/x"}}, {Paths: []string{"/x"}}},
		"no name":  {{Paths: []string{"/x"}, Until: []string{""}}},
	} {
		if err := w.Adopt(rules); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if w.Match("/portfolio/x") != w.rule {
		t.Error("wrong rules have replaced good ones")
	}
}

// TestAdopt: answers stay under changed rules if these give them the same key.
func TestAdopt(t *testing.T) {
	w := newWorld(t, nil)
	w.want(t, bio, kept.Fetched, 0)
	limited := bio + "?limit=5"
	w.want(t, limited, kept.Fetched, 0)
	same := portfolio()
	if err := w.Adopt([]kept.Rule{same}); err != nil || w.Match(bio) != w.rule {
		t.Errorf("an equal rule is another one (%v)", err)
	}
	changed := portfolio()
	changed.Parameters, changed.Until = []string{"lang"}, []string{"persons", "activities"}
	if err := w.Adopt([]kept.Rule{changed}); err != nil {
		t.Fatal(err)
	}
	old := w.rule
	w.rule = w.Match(bio)
	if w.rule == old {
		t.Fatal("the rule did not change")
	}
	w.want(t, bio, kept.Hit, 0)
	if e := w.Peek(bio); e.Rule != w.rule || !w.Current(e) || w.Peek(limited) != nil {
		t.Errorf("entries are not under the new rule")
	}
	if s := w.Status()[0]; s.Answers != 1 || s.Bytes != 4096 || s.Hits != 2 || s.Misses != 2 {
		t.Errorf("status %+v", s)
	}
	if keys := w.Keys("/portfolio/unit/BIO", false); len(keys) != 2 {
		t.Errorf("keys %v", keys)
	}
	keys := w.Keys("/portfolio", true)
	if slices.Sort(keys); fmt.Sprint(keys) != fmt.Sprint([]string{bio, limited}) ||
		len(w.Keys("/portfolio", false)) != 0 {
		t.Errorf("keys %v", keys)
	}
	if err := w.Drop(t.Context(), keys); err != nil || w.Peek(bio) != nil {
		t.Errorf("drop: %v", err)
	}
	w.want(t, bio, kept.Fetched, 0)
}
