package configs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// canary is a word that must not come out.
const canary = "canary7f3a"

// disguises are texts in which any setting may have a secret.
var disguises = []string{
	"https://user:" + canary + "@host.example",
	"https://" + canary + "@host.example/path?q=a@b",
	"https://user:" + canary + "@host.example/{id}?page={page}",
	"mongodb://user:" + canary + "@host.example/database",
	"mongodb://user:" + canary + "/?x@host.example/database",
	"squid http://user:" + canary + "@host.example/",
	`{"a": "https://user:` + canary + `@host.example"}`,
}

// further are those of addresses with secrets after the host, too.
var further = map[string][]string{
	"store": {"mongodb://user@host.example/database?tlsCertificateKeyFilePassword=" + canary,
		"mongodb://host.example/" + canary + "@?a=b"},
	"purge.targets": {
		"varnish http://user:" + canary + "@host.example/" + canary + "?token=" + canary + "#" + canary,
		"webhook https://host.example/services/" + canary, "squid https://host.example/?token=" + canary,
	},
}

// TestNoSettingShowsSecrets gives every setting, also those in sections, texts with a secret in them: neither a
// mistake nor the written configuration contains the secret.
func TestNoSettingShowsSecrets(t *testing.T) {
	checks := Checks{"target": func(text string) error {
		if strings.HasPrefix(text, "squid") {
			return fmt.Errorf("want varnish, have %q", text)
		}
		return nil
	}}
	shown := func(where string, c Config, err error) {
		t.Helper()
		var out bytes.Buffer
		text := ""
		if err != nil {
			text = err.Error()
		} else if err := c.WriteYAML(&out); err != nil {
			t.Fatal(err)
		}
		if text += out.String(); strings.Contains(text, canary) {
			i := strings.Index(text, canary)
			t.Errorf("%s: …%.200s", where, text[max(i-100, 0):])
		}
	}
	tried := 0
	for _, s := range settings {
		for _, text := range append(further[s.Path], disguises...) {
			values := []string{text}
			if s.typ.Kind() == reflect.Map {
				values = append(values, "name="+text, "en="+text, "person="+text, "activities="+text)
			}
			for _, value := range values {
				if s.Env == "" {
					continue
				}
				c, err := Load(Sources{Environ: []string{s.Env + "=" + value}, Checks: checks})
				shown(s.Path+"="+value, c, err)
				tried++
			}
			file := filepath.Join(t.TempDir(), "v.yml")
			for _, f := range s.fields {
				content := map[string]any{f.Path: text}
				switch f.typ.Kind() {
				case reflect.Slice:
					content[f.Path] = []string{text}
				case reflect.Map:
					content[f.Path] = map[string]string{"en": text, "person": text}
				}
				for path := "name." + s.Path; path != ""; {
					content = map[string]any{path[strings.LastIndexByte(path, '.')+1:]: content}
					path = parentOf(path)
				}
				encoded, err := json.Marshal(content) // JSON is YAML
				if err == nil {
					err = os.WriteFile(file, encoded, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
				c, err := Load(inFile(file))
				shown(s.Path+".name."+f.Path+"="+text, c, err)
				tried++
			}
		}
		if s.Secret {
			c, err := Load(Sources{Environ: []string{s.Env + "=" + canary}})
			shown(s.Path, c, err)
		}
	}
	if tried < 10*len(settings) {
		t.Errorf("only %d texts were tried", tried)
	}
}

// TestMistakesAreBounded: a large file of another kind is refused by a short text.
func TestMistakesAreBounded(t *testing.T) {
	var keys, values strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
		values.WriteString("- x y\n")
	}
	for name, content := range map[string]string{
		"keys": keys.String(), "values": "http:\n  trusted_proxies:\n  " +
			strings.ReplaceAll(values.String(), "\n", "\n  ") + "\n",
		"a long value": "listen: " + strings.Repeat("x", 500_000) + "\n",
	} {
		_, err := Load(Sources{Text: []byte(content), TextName: "large.yml"})
		if text := fmt.Sprint(err); len(text) > 30_000 ||
			name != "a long value" && !strings.Contains(text, "more mistakes follow") {
			t.Errorf("%s: %d bytes: %.300s", name, len(text), text)
		}
	}
}
