package configs

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestPresetRules: the preset brings rules only where there is another server, a rule of the operator's replaces all
// of them, and an empty list turns them off.
func TestPresetRules(t *testing.T) {
	const server = "upstream:\n  url: http://osiris.internal\n"
	for _, tt := range []struct {
		text string
		want int
	}{
		{"preset: osiris\n", 0},
		{server, 0},
		{"preset: osiris\n" + server, 14},
		{"preset: osiris\n" + server + "  keep: []\n", 0},
		{"preset: osiris\n" + server + "  keep:\n", 0},
		{"preset: osiris\n" + server + "  keep:\n    - paths: [/portal/]\n", 1},
	} {
		if got := len(parse(t, tt.text).Upstream.Keep); got != tt.want {
			t.Errorf("%d rules, want %d:\n%s", got, tt.want, tt.text)
		}
	}
}

// TestPresetIsRight: the rules of the preset are complete, and give no warning.
func TestPresetIsRight(t *testing.T) {
	c := parse(t, "preset: osiris\nupstream:\n  url: http://osiris.internal\n")
	for i, rule := range c.Upstream.Keep {
		if len(rule.Paths) == 0 || len(rule.Until) < 7 || rule.Auth == "" || rule.Refresh == "" ||
			rule.Type != "application/json" {
			t.Errorf("rule %d is incomplete: %+v", i, rule)
		}
		if slices.Contains(rule.Parameters, "apikey") {
			t.Errorf("rule %d keeps keys", i)
		}
	}
	all := c.Warnings()
	if slices.ContainsFunc(all, func(text string) bool { return strings.Contains(text, "upstream.keep") }) {
		t.Errorf("warnings: %q", all)
	}
}

// TestOwnPathsAreNotKept: this server's own paths have no rule, unless routes gives them to the other server.
func TestOwnPathsAreNotKept(t *testing.T) {
	own := Checks{"unkept": func(path string) error {
		if path == "/api/activities" {
			return errors.New("this server answers /api/activities itself")
		}
		return nil
	}}
	const mistake = "x.yml:4: upstream.keep[0].paths: this server answers /api/activities itself"
	for _, tt := range []struct{ path, routes, mistake string }{
		{"/portfolio/", "", ""},
		{"/api/activities", "", mistake},
		{"/api/activities", "/api/activities: upstream", ""},
		{"/api/activities", "/api: upstream", ""},
		{"/api/activities", "/api/activities: ''", mistake},
	} {
		text := "upstream:\n  url: http://osiris.internal\n  keep:\n    - paths: ['" + tt.path + "']\n" +
			"routes: {" + tt.routes + "}\n"
		_, err := Load(Sources{Text: []byte(text), TextName: "x.yml", Checks: own})
		if tt.mistake == "" && err != nil || tt.mistake != "" && (err == nil || err.Error() != tt.mistake) {
			t.Errorf("%s, %s: %v, want %q", tt.path, tt.routes, err, tt.mistake)
		}
	}
	_, err := Load(Sources{Text: []byte("upstream:\n  keep:\n    - paths: [/x]\n"), TextName: "x.yml"})
	want := "x.yml:2: upstream.keep: needs upstream.url, the address of the other server"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestRulesWithoutEffectAreMissed(t *testing.T) {
	const head = "upstream:\n  url: http://osiris.internal\n  paths: [/portfolio]\n  keep:\n"
	for text, want := range map[string]string{
		"    - {paths: [/portfolio/], until: [activities, groups]}\n": "",
		"    - {paths: [/portfolio/], until: [activites]}\n"://
		"upstream.keep[0].until (x.yml:5): there is no view activites, did you mean activities?",
		"    - {paths: [/api/x]}\n"://
		"upstream.keep[0].paths (x.yml:5): /api/x is not below upstream.paths, so nothing is kept of it",
		"    - {paths: [/portfolio/], warm: [/portfolio/units]}\n"://
		"upstream.keep[0].warm (x.yml:5): has no effect: it needs refresh",
		"    - {paths: [/portfolio/], refresh: '@daily', warm: ['/portfolio/unit/{groups.id}', /portfolio/units]}\n" +
			"    - {paths: ['/portfolio/unit/*'], refresh: '@daily', warm: ['/portfolio/unit/{groups.id}']}\n": //
		"upstream.keep[0].warm (x.yml:5): /portfolio/unit/{groups.id} is not fetched: " +
			"it is for upstream.keep[1], which has the longer path /portfolio/unit/*",
		"    - {paths: [/*/unit], auth: none}\n": "",
	} {
		c, err := Load(Sources{Text: []byte(head + text), TextName: "x.yml"})
		all := slices.DeleteFunc(c.Warnings(), func(text string) bool {
			return !strings.Contains(text, "upstream.keep")
		})
		if err != nil || strings.Join(all, "\n") != want {
			t.Errorf("%s%v, %q, want %q", text, err, all, want)
		}
	}
}

// TestCovers: warm paths are compared with paths of rules part by part.
func TestCovers(t *testing.T) {
	for _, tt := range []struct {
		pattern, template string
		want              bool
	}{
		{"/portfolio", "/portfolio", true}, {"/portfolio", "/portfolio/x", true},
		{"/portfolio", "/portfolios", false},
		{"/portfolio/", "/portfolio", false}, {"/portfolio/", "/portfolio/x/y", true},
		{"/p/unit*", "/p/units", true}, {"/p/unit*", "/p/uni", false},
		{"/p/unit/*", "/p/unit/{groups.id}", true}, {"/p/unit/*", "/p/unit", false},
		{"/p/*/staff", "/p/{groups.id}/staff", true}, {"/p/*/staff", "/p/x/y/staff", false},
		{"/p/*/staff", "/p/x/staff/y", true}, {"/", "/x", true},
	} {
		if got := covers(tt.pattern, tt.template); got != tt.want {
			t.Errorf("covers(%s, %s) = %t", tt.pattern, tt.template, got)
		}
	}
}

// TestDoor: without auth, the paths of a rule say who may request its answers, if they agree.
func TestDoor(t *testing.T) {
	for paths, want := range map[string]string{
		"/api": "api", "/api/": "api", "/api/x /api/*/y": "api", "/portfolio/": "portfolio", "/portfolio*": "",
		"/portal/": "none", "/portal /media": "none", "/portal /api": "", "/": "", "/*/x": "", "/a*": "",
		"/p":    "none",
		"/apis": "none", "/api*": "", "/portfolios/": "none",
	} {
		if got := (&Keep{Paths: strings.Fields(paths)}).Door(); got != want {
			t.Errorf("%s: %q, want %q", paths, got, want)
		}
	}
	if got := (&Keep{Paths: []string{"/"}, Auth: "api"}).Door(); got != "api" {
		t.Errorf("with auth: %q", got)
	}
	text := "upstream:\n  url: http://osiris.internal\n  keep:\n    - paths: [/]\n"
	_, err := Load(Sources{Text: []byte(text), TextName: "x.yml"})
	if err == nil || !strings.HasPrefix(err.Error(), "x.yml:4: upstream.keep[0].paths: these need auth: ") {
		t.Error(err)
	}
}

// TestRuleStaysClosed: who may request the answers of a rule does not change because a file lost that line.
func TestRuleStaysClosed(t *testing.T) {
	const head = "upstream:\n  url: http://osiris.internal\n  keep:\n    - paths: [/portal/]\n"
	before := parse(t, head+"      auth: api\n")
	for _, tt := range []struct{ after, want, stay string }{
		{head, "api", "upstream.keep[0].auth"},
		{head + "      auth:\n", "api", "upstream.keep[0].auth"},
		{head + "      auth: none\n", "none", ""},
		{head + "      auth: ''\n", "", ""},
		{head + "    - paths: [/x]\n", "api", "upstream.keep[0].auth"},
	} {
		next, stay := before.Protecting(parse(t, tt.after))
		if got := next.Upstream.Keep[0].Auth; got != tt.want || strings.Join(stay, " ") != tt.stay {
			t.Errorf("%q, keeps %q, want %q and %q after\n%s", got, stay, tt.want, tt.stay, tt.after)
		}
	}
}
