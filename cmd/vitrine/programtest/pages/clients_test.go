package pages

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

// TestClients lints the API description and generates clients from it, in TypeScript and in Go. It
// compiles them and calls the running demo with them; testdata/clients has the programs that use
// them. The generators come from the npm registry and the Go module proxy; testdata/package.json,
// go.mod and this test pin their versions.
func TestClients(t *testing.T) {
	packages := os.Getenv(packagesEnv)
	if packages == "" {
		t.Skip("needs generators of clients, which .ci/run clients installs")
	}
	s := programtest.Start(t, t.TempDir(), "--demo").Ready()
	dir, err := os.MkdirTemp(packages, "clients")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.CopyFS(dir, os.DirFS("../testdata/clients")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"openapi.json", "openapi-3.0.json"} {
		_, document := s.Get("/" + name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(document), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, call := range []string{
		"npx --no -- redocly lint openapi.json openapi-3.0.json",
		"npx --no -- spectral lint --ruleset spectral.yaml openapi.json openapi-3.0.json",
		"npx --no -- openapi-typescript openapi.json --output openapi-typescript.ts",
		"npx --no -- openapi-ts --input openapi.json --output hey",
		"npx --no -- tsc",
		"node out/openapi-fetch.js " + s.Base,
		"node out/hey-api.js " + s.Base,
		"go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -generate types,client -package main " +
			"-o api.go openapi.json",
		"go run -mod=mod . " + s.Base,
		"go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -generate types,client -package " +
			"main -o api.go openapi-3.0.json",
		"go run -mod=mod . " + s.Base,
	} {
		words := strings.Fields(call)
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true",
			"SCARF_ANALYTICS=false", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", call, err, out[max(0, len(out)-1500):])
		}
	}
}
