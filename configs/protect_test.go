package configs

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// protecting is a file with every protection, in the order of a usual one.
const protecting = `listen: 127.0.0.1:0
auth:
  api_key: first-key-of-all
  portfolio_key: second-key
  keys:
    bio:
      sha256: [1111111111111111111111111111111111111111111111111111111111111111]
      endpoints:
        - /api/activities
        - /lists
      networks: [10.0.0.0/8]
    portal:
      sha256: [0000000000000000000000000000000000000000000000000000000000000000]
      endpoints: [/portfolio]
      origins: ['https://a.example']
      rate: 5
      expires: 2099-12-31
  session:
    jwt_secret: 0123456789abcdef0123456789abcdef
    issuer: me
    audience: you
    type: at+jwt
access:
  anonymous: []
  hidden_fields: [mail, secret_field]
  types:
    misc: [admin]
    poster:
      - admin
      - editor
  roles:
    admin: [projects.view]
limits: {rate: 7}
http:
  proxy_header: X-Forwarded-For
  trusted_proxies: [10.0.0.1]
portfolio: {enabled: false}
lists:
  enabled: false
  public: '{"type": "publication"}'
`

func parse(t *testing.T, text string) Config {
	t.Helper()
	c, err := Load(Sources{Text: []byte(text), TextName: "v.yml"})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return c
}

// TestCutFileOpensNothing cuts a file after each line: what is read of it either is refused, or protects what the
// whole file does. So it is however the sections are ordered. A file cut within a line says so.
func TestCutFileOpensNothing(t *testing.T) {
	var sections []string
	for part := range strings.SplitAfterSeq(protecting, "\n") {
		if part == "" || part[0] != ' ' {
			sections = append(sections, "")
		}
		sections[len(sections)-1] += part
	}
	for range len(sections) {
		sections = append(sections[1:], sections[0])
		whole := strings.Join(sections, "")
		before, valid := parse(t, whole), 0
		if c := parse(t, whole[:len(whole)-1]); !c.Cut() || before.Cut() {
			t.Errorf("cut: %t before, %t after", before.Cut(), c.Cut())
		}
		for n := range len(whole) {
			if n > 0 && whole[n-1] != '\n' {
				continue
			}
			c, err := Load(Sources{Text: []byte(whole[:n]), TextName: "v.yml"})
			if err != nil {
				continue
			}
			valid++
			after, stay := before.Protecting(c)
			for _, path := range opened(before, after) {
				t.Fatalf("the first %d bytes open %s; what stays is %q:\n%s", n, path, stay, whole[:n])
			}
		}
		if valid < 20 {
			t.Errorf("only %d beginnings are valid", valid)
		}
	}
}

// opened returns the protections that one configuration has and another lacks.
func opened(before, after Config) (paths []string) {
	for i := range settings {
		s := &settings[i]
		was, will := s.field(&before).Interface(), s.field(&after).Interface()
		same := true
		switch s.Protects {
		case byValue:
			same = reflect.DeepEqual(was, will)
		case byGrants:
			if s.typ.Kind() == reflect.Slice {
				same = contains(was.([]string), will.([]string))
				break
			}
			for role, rights := range will.(map[string][]string) {
				same = same && contains(was.(map[string][]string)[role], rights)
			}
		case byEntries:
			for name, roles := range was.(map[string][]string) {
				now, ok := will.(map[string][]string)[name]
				same = same && ok && contains(roles, now)
			}
		}
		if !same {
			paths = append(paths, s.Path)
		}
	}
	for name, key := range before.Auth.Keys {
		next := after.Auth.Keys[name]
		if next == nil || len(next.SHA256) == 0 {
			continue // it opens nothing
		}
		if !contains(key.Endpoints, next.Endpoints) || len(next.Endpoints) == 0 ||
			!reflect.DeepEqual(key.Networks, next.Networks) && len(key.Networks) > 0 ||
			!reflect.DeepEqual(key.Origins, next.Origins) && len(key.Origins) > 0 || key.Rate != next.Rate ||
			key.Expires != next.Expires {
			paths = append(paths, "auth.keys."+name)
		}
	}
	for _, part := range []string{"/api", "/portfolio"} {
		if before.closed(part) && !after.closed(part) {
			paths = append(paths, part)
		}
	}
	return paths
}

// TestProtectionsEndBySayingSo: what a file says counts, be it more or less; what it leaves out stays if it protects.
func TestProtectionsEndBySayingSo(t *testing.T) {
	const key = "sha256: [0000000000000000000000000000000000000000000000000000000000000000]"
	for _, tt := range []struct{ before, after, stay string }{
		{"auth: {api_key: a}\n", "auth: {api_key: ''}\n", ""},
		{"auth: {api_key: a}\n", "auth: {api_key: b}\n", ""},
		{"auth: {api_key: a}\n", "auth: {api_key: }\n", "auth.api_key"},
		{"auth: {api_key: a}\n", "auth: {portfolio_key: b}\n", "auth.api_key"},
		{"auth: {keys: {a: {" + key + "}}}\n", "auth: {keys: {}}\n", ""},
		{"auth: {keys: {a: {" + key + "}}}\n", "auth: {keys: }\n", "auth.keys.a"},
		{"auth: {keys: {a: {" + key + "}}}\n", "language: de\n", "auth.keys.a"},
		{"auth: {keys: {a: {" + key + "}, b: {}}}\n", "auth: {keys: {b: {}}}\n", ""},
		{"auth: {keys: {a: {" + key + "}, b: {endpoints: [/lists]}}}\n",
			"auth:\n  keys:\n    b: {endpoints: [/lists]}\n", "auth.keys.a"},
		{"auth: {keys: {a: {" + key + "}, b: {endpoints: [/lists]}}}\n",
			"auth:\n  keys:\n    b: {endpoints: [/lists]}\nlanguage: de\n", ""},
		{"auth: {keys: {a: {networks: [10.0.0.1]}}}\n", "auth: {keys: {a: {rate: 1}}}\n", "auth.keys.a.networks"},
		{"auth: {keys: {a: {networks: [10.0.0.1]}}}\n", "auth: {keys: {a: {networks: []}}}\n", ""},
		{"access: {anonymous: []}\n", "language: de\n", "access.anonymous"},
		// the default grants less
		{"access: {anonymous: [projects.view, portfolio-spectrum]}\n", "language: de\n", ""},
		{"access: {roles: {admin: [], editor: [projects.view]}}\n", "language: de\n", "access.roles.admin"},
		{"access: {types: {misc: [admin]}}\n", "access: {types: {}}\n", ""},
		{"access: {types: {misc: [admin], poster: [admin]}}\n", "access: {types: {misc: [admin]}}\n", ""},
		{"access: {types: {misc: [admin], poster: [admin]}}\n", "access:\n  types:\n    misc: [admin]\n",
			"access.types.poster"},
		{"limits: {rate: 5}\n", "limits: {rate: 0}\n", ""},
		{"limits: {rate: 5}\n", "language: de\n", "limits.rate"},
		{"lists: {enabled: false}\n", "lists: {enabled: true}\n", ""},
		{"auth: {session: {jwt_secret: a}}\n", "language: de\n", ""}, // nothing is open without it
	} {
		c := parse(t, tt.before)
		for range 2 { // what stays, stays at the next reload, too
			var stay []string
			if c, stay = c.Protecting(parse(t, tt.after)); strings.Join(stay, " ") != tt.stay {
				t.Errorf("%safter\n%skeeps %q, want %q", tt.after, tt.before, stay, tt.stay)
			}
		}
		var out bytes.Buffer
		if err := c.WriteYAML(&out); err != nil ||
			strings.Contains(out.String(), " # kept from v.yml:1, which is gone\n") != (tt.stay != "") &&
				!strings.Contains(out.String(), "; kept from v.yml:1, which is gone\n") {
			t.Errorf("%safter\n%s%v, written\n%s", tt.after, tt.before, err, out.String())
		}
	}
}
