package configs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestSecretsAreNeverPrinted(t *testing.T) {
	c := Default()
	c.Store = "mongodb://reader:hunter2@db/osiris?authSource=admin&tlsCertificateKeyFilePassword=hunter2"
	c.Auth.APIKey, c.Auth.PortfolioKey = "hunter2", "hunter2"
	c.Auth.Session.JWTSecret, c.Admin.Token = "hunter2", "hunter2"
	c.Purge.Targets = map[string]URI{"front": "purge http://reader:hunter2@h/hunter2?token=hunter2"}

	var logged, written bytes.Buffer
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("start", "config", c, "store", c.Store, "key", c.Auth.APIKey)
	if err := c.WriteYAML(&written); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	asYAML, err := yaml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	outputs := map[string]string{
		"%v": fmt.Sprintf("%v", c), "%+v": fmt.Sprintf("%+v", c), "%#v": fmt.Sprintf("%#v", c),
		"%s": fmt.Sprintf("%s", any(c.Auth.APIKey)), "%q": fmt.Sprintf("%q", any(c.Auth.APIKey)),
		"auth": fmt.Sprint(c.Auth),
		"slog": logged.String(), "WriteYAML": written.String(), "JSON": string(asJSON), "YAML": string(asYAML),
	}
	for name, out := range outputs {
		if strings.Contains(out, "hunter2") {
			t.Errorf("%s shows a secret: %s", name, out)
		}
	}
	if got := c.Auth.APIKey.Reveal(); got != "hunter2" {
		t.Errorf("Reveal() = %q", got)
	}
}

func TestURIHidesCredentials(t *testing.T) {
	tests := []struct{ name, uri, want string }{
		{"embedded", "bolt://data/a@b.db", "bolt://data/a@b.db"},
		{"none", "mongodb://a:1,b:2/db?tls=true", "mongodb://a:1,b:2/db?tls=true"},
		{"user and password", "mongodb://u:p@h/db", "mongodb://[set]@h/db"},
		{"characters not encoded", "mongodb://u:p/@?x@h/db", "mongodb://[set]@h/db"},
		{"password among the options", "mongodb://h/db?a=1&proxyPassword=p", "mongodb://h/db?a=1"},
		{"no address at all", "x", "x"},
		{"a target", "varnish http://127.0.0.1:6081/", "varnish http://127.0.0.1:6081/"},
		{"a target's user", "purge http://u:p@h", "purge http://[set]@h"},
		{"a target's path", "webhook https://u:p@h:1/x/y?z=a@b#c", "webhook https://[set]@h:1/[set]"},
		{"a target that cannot be read", "purge http://u:p/@h:x/", "purge http://[set]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := URI(tt.uri).String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestSize(t *testing.T) {
	tests := []struct {
		text string
		want Size
		back string
	}{
		{"0", 0, "0"}, {"17", 17, "17"}, {"32768", 32 << 10, "32KiB"}, {"512MB", 512e6, "512MB"},
		{"1.5GiB", 3 << 29, "1536MiB"}, {"2 gb", 2e9, "2GB"}, {"1000", 1000, "1KB"},
	}
	for _, tt := range tests {
		got, err := parseSize(tt.text)
		if err != nil || got != tt.want || got.String() != tt.back {
			t.Errorf("parseSize(%q) = %v, %v; want %v", tt.text, got, err, tt.back)
		}
	}
	for _, bad := range []string{"", "MB", "-1", "1.5XB", "99999999999GB", "9e18GiB"} {
		if got, err := parseSize(bad); err == nil {
			t.Errorf("parseSize(%q) = %v, want an error", bad, got)
		}
	}
}
