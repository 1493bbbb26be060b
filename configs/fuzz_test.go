package configs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// FuzzFile checks that any content either loads or fails with mistakes that name a place, and that
// a loaded configuration can be written and loaded again.
func FuzzFile(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.yml")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range seeds {
		content, err := os.ReadFile(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		file := filepath.Join(t.TempDir(), "fuzz.yml")
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(inFile(file))
		if err == nil {
			reload(t, c)
			return
		}
		for _, mistake := range err.(interface{ Unwrap() []error }).Unwrap() {
			var e *Error
			if !errors.As(mistake, &e) || e.Place.source != atFile || e.Reason == "" {
				t.Errorf("%v names no place or reason", mistake)
			}
		}
	})
}

// FuzzEnvironment does the same for variables, which have their own syntax for lists and maps.
func FuzzEnvironment(f *testing.F) {
	for _, seed := range []string{"VITRINE_MATERIALIZE_SCHEDULE=a=b,c", "VITRINE_ACCESS_ROLES==,=",
		"VITRINE_STORE=mongodb://", "VITRINE_"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, variable string) {
		if c, err := Load(Sources{Environ: []string{variable}, Checks: checks}); err == nil {
			reload(t, c)
		}
	})
}
