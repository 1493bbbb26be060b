package configs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// write writes a configuration file and returns a source that reads it.
func write(t *testing.T, content string) Sources {
	t.Helper()
	file := filepath.Join(t.TempDir(), "v.yml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return inFile(file)
}

// TestFileContents: every way in which YAML writes a value gives the same value.
func TestFileContents(t *testing.T) {
	tests := []struct {
		name, content string
		want          func(*Config)
	}{
		{"flow and block", "log: {level: debug}\nviews:\n  poll: 5s\n",
			func(c *Config) { c.Log.Level, c.Views.Poll = "debug", 5e9 }},
		{"quoted numbers of text", "auth: {api_key: '0123'}\n", func(c *Config) { c.Auth.APIKey = "0123" }},
		{"numbers as text", "auth: {api_key: 0123}\n", func(c *Config) { c.Auth.APIKey = "0123" }},
		{"a time as text", "auth: {api_key: 2024-01-05T01:02:03Z}\n",
			func(c *Config) { c.Auth.APIKey = "2024-01-05T01:02:03Z" }},
		{"sizes with and without unit", "cache: {budget: 1024}\nviews: {budget: 1KiB}\n",
			func(c *Config) { c.Cache.Budget, c.Views.Budget = 1024, 1024 }},
		{"a whole number as a share", "materialize: {max_shrink: 1}\n",
			func(c *Config) { c.Materialize.MaxShrink = 1 }},
		{"null turns off", "cache: {budget: null}\nauth: {session: {cookie: ~}}\n",
			func(c *Config) { c.Cache.Budget, c.Auth.Session.Cookie = 0, "" }},
		{"null for a list", "affiliation: {fields: }\n", func(c *Config) { c.Affiliation.Fields = nil }},
		{"null for a map", "access: {roles: }\n", func(c *Config) { c.Access.Roles = map[string][]string{} }},
		{"null for a section", "views:\nlog:\n", func(*Config) {}},
		{"lists over lines", "http:\n  cors:\n    origins:\n      - https://a.example\n      - https://b.example\n",
			func(c *Config) {
				c.HTTP.CORS.Origins = []string{"https://a.example", "https://b.example"}
			}},
		{"entries in addition to the defaults", "access: {roles: {editor: [projects.view]}}\n",
			func(c *Config) { c.Access.Roles["editor"] = []string{"projects.view"} }},
		{"an entry that removes the default", "access: {roles: {admin: []}}\n",
			func(c *Config) { c.Access.Roles["admin"] = []string{} }},
		{"an alias for a scalar", "listen: &a ':1'\nadmin: {listen: ':2', token: *a}\n", func(c *Config) {
			c.Listen, c.Admin.Listen, c.Admin.Token = ":1", ":2", ":1"
		}},
		{"a byte order mark", "\ufefflanguage: de\n", func(c *Config) { c.Language = "de" }},
		{"text over lines", "auth:\n  api_key: >-\n    a\n    b\n", func(c *Config) { c.Auth.APIKey = "a b" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := Default()
			tt.want(&want)
			same(t, load(t, write(t, tt.content)), want)
		})
	}
}

// TestFileMistakes: each mistake names the line of the value, or that of the key if the key is
// wrong.
func TestFileMistakes(t *testing.T) {
	tests := []struct{ name, content, want string }{
		{"a line in a list", "affiliation:\n  fields:\n    - aoi\n    - a..b\n",
			`:4: affiliation.fields: want a dotted path such as catalog.topics, have "a..b"`},
		{"an empty element", "affiliation: {fields: [aoi, '']}\n", ":1: affiliation.fields: may not be empty"},
		{"an entry of a map", "access:\n  roles:\n    editor: [edit]\n",
			`:3: access.roles.editor: want projects.view, proposals.view, portfolio-spectrum or fields.hidden, ` +
				`have "edit"`},
		{"a map for a list in a map", "access: {roles: {editor: {a: b}}}\n",
			":1: access.roles.editor: want a list, have keys with values"},
		{"a number as a key", "1: 2\n", ":1: 1: unknown key"},
		{"a list as a key", "? [a]\n: b\n", ":1: want keys with values, have a list as a key"},
		{"an empty key", "'': b\n", ":1: want keys with values, have nothing as a key"},
		{"a setting as a section", "listen: {port: 1}\n", ":1: listen: want a single value, have keys with values"},
		{"a section as a setting", "log: debug\n", ":1: log: want keys with values, have a single value"},
		{"an entry twice", "access:\n  types:\n    a: [x]\n    a: [y]\n",
			":4: access.types.a: given twice, first on line 3"},
		{"a section twice", "log: {level: debug}\nlog: {format: json}\n", ":2: log: given twice, first on line 1"},
		{"no YAML", "a: b: c\n", ": not YAML: mapping values are not allowed in this context"},
		{"a tab", "log:\n\tlevel: debug\n", ":2: not YAML: found character that cannot start any token"},
		{"an unknown alias", "listen: *x\n", ": not YAML: unknown anchor 'x' referenced"},
		{"a second document that is not YAML", "language: de\n---\n{\n",
			":3: not YAML: did not find expected node content"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := write(t, tt.content)
			file := strings.TrimPrefix(s.Environ[0], "VITRINE_CONFIG=")
			if _, err := Load(s); err == nil || err.Error() != file+tt.want {
				t.Errorf("got %v, want %s%s", err, file, tt.want)
			}
		})
	}
}

// TestFileThatCannotBeRead: the error names the file and the reason once. A named pipe does not wait for a writer,
// and a file of 300 MB is not read.
func TestFileThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	pipe, huge := filepath.Join(dir, "pipe"), filepath.Join(dir, "huge")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(huge, []byte("# x"), 0o600),
		os.Truncate(huge, 300<<20)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		filepath.Join(dir, "absent.yml"): "no such file or directory", dir: "is a directory",
		pipe: "is a named pipe; want a regular file", huge: "is too long: at most 1.0 MiB are read",
		"/dev/zero": "is a device; want a regular file",
	} {
		if _, err := Load(inFile(name)); err == nil || err.Error() != name+": cannot be read: "+want {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Load(Sources{Environ: []string{"VITRINE_ADMIN_TOKEN_FILE=" + name}}); err == nil ||
			!strings.HasSuffix(err.Error(), "cannot be read from "+name+": "+want) {
			t.Errorf("%s as a secret: %v", name, err)
		}
	}
}
