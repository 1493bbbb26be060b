package configs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reload writes the configuration and reads it again.
func reload(t *testing.T, c Config) Config {
	t.Helper()
	var out bytes.Buffer
	if err := c.WriteYAML(&out); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "written.yml")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return load(t, inFile(file))
}

func TestWrittenConfigurationLoads(t *testing.T) {
	files, err := filepath.Glob("testdata/*.good.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c := load(t, inFile(file))
			got := reload(t, c)
			c.Auth.APIKey, c.Admin.Token, c.Store = "", "", URI(c.Store.public())
			same(t, got, c)
		})
	}
}

func TestEntriesTakenAwayStayAway(t *testing.T) {
	file := filepath.Join(t.TempDir(), "v.yml")
	if err := os.WriteFile(file, []byte("access: {roles: {}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := load(t, Sources{Environ: []string{"VITRINE_CONFIG=" + file, "VITRINE_ACCESS_ROLES=editor=projects.view"}})
	got := reload(t, c).Access.Roles
	if len(got["admin"]) != 0 || strings.Join(got["editor"], " ") != "projects.view" {
		t.Errorf("roles = %v, want editor alone with a permission", got)
	}
}

func TestWriteYAMLTellsOrigins(t *testing.T) {
	c := load(t, Sources{
		Environ: []string{"VITRINE_CONFIG=testdata/full.good.yml", "VITRINE_LOG_LEVEL=debug"},
		Flags:   flags(t, "--listen=:9"),
	})
	var out bytes.Buffer
	if err := c.WriteYAML(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"store: mongodb://db1:27017,db2:27017/osiris?replicaSet=rs0 # credentials not shown; testdata/" +
			"full.good.yml:2\n",
		"listen: :9 # --listen\n",
		"  topics_path: openalex.topics # preset osiris\n",
		"  level: debug # VITRINE_LOG_LEVEL\n",
		"  token: \"\" # set, not shown; testdata/full.good.yml:8\n",
		"    activities: 0,30 * * * * # testdata/full.good.yml:25\n",
		"    events: '@every 15m'\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
}
