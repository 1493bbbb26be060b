package configs

import (
	"reflect"
	"strings"
	"testing"
)

func TestKeys(t *testing.T) {
	env, path, flag := map[string]string{}, map[string]bool{}, map[string]bool{}
	for _, s := range settings {
		if other := env[s.Env]; other != "" && s.Env != "" {
			t.Errorf("%s and %s share the variable %s", s.Path, other, s.Env)
		}
		env[s.Env] = s.Path
		if path[s.Path] || strings.HasSuffix(s.Path, ".") {
			t.Errorf("path %q is empty or not unique", s.Path)
		}
		path[s.Path] = true
		if s.Flag != "" && (flag[s.Flag] || s.Usage == "") {
			t.Errorf("--%s has no usage text, or belongs to two settings", s.Flag)
		}
		flag[s.Flag] = true
	}
	// Names that other tools rely on.
	for name, want := range map[string]string{
		"VITRINE_STORE": "store", "VITRINE_LISTEN": "listen", "VITRINE_AUTH_API_KEY": "auth.api_key",
		"VITRINE_AUTH_PORTFOLIO_KEY": "auth.portfolio_key", "VITRINE_START_YEAR": "start_year",
		"VITRINE_AUTH_SESSION_JWT_SECRET": "auth.session.jwt_secret",
		"VITRINE_LIMITS_FILTER_BYTES":     "limits.filter_bytes",
	} {
		if env[name] != want {
			t.Errorf("%s sets %q, want %s", name, env[name], want)
		}
	}
	for key := range env {
		if env[strings.TrimSuffix(key, "_FILE")] != "" && strings.HasSuffix(key, "_FILE") {
			t.Errorf("%s could be a setting or the file of a secret", key)
		}
	}
}

// TestEveryFieldIsASetting: settings.yaml describes every field of a configuration.
func TestEveryFieldIsASetting(t *testing.T) {
	var count func(settings []Setting, of reflect.Type)
	count = func(settings []Setting, of reflect.Type) {
		fields := 0
		for _, f := range reflect.VisibleFields(of) {
			if f.IsExported() && !f.Anonymous {
				fields++
			}
		}
		if len(settings) != fields {
			t.Errorf("%s has %d fields and %d settings", of, fields, len(settings))
		}
		for _, s := range settings {
			switch {
			case s.fields != nil:
				count(s.Settings, s.typ.Elem().Elem())
			case s.typ.Kind() == reflect.Struct:
				count(s.Settings, s.typ)
			}
		}
	}
	count(sections, reflect.TypeFor[Config]())
}

// TestDefaultsPassTheirChecks sets every setting to its default, as text.
func TestDefaultsPassTheirChecks(t *testing.T) {
	var environ []string
	for _, s := range settings {
		if !s.Secret {
			environ = append(environ, s.Env+"="+s.Default)
		}
	}
	same(t, load(t, Sources{Environ: environ}), Default())
}

// TestLiveSettings: what a reload adopts is said once, for a section or for a setting.
func TestLiveSettings(t *testing.T) {
	for path, want := range map[string]bool{
		"language": true, "http.cors.origins": true, "auth.session.issuer": true, "upstream.keep": true,
		"rules.file": true,
		"store":      false, "upstream.url": false, "access.hidden_fields": false, "rules.cite_file": false,
		"purge.targets": false,
	} {
		if got := IsLive(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
