package auth_test

import (
	"bytes"
	"testing"

	"vitrine/proxy/auth"
)

func TestSecret(t *testing.T) {
	key := auth.NewSecret("Right")
	for given, want := range map[string]bool{"Right": true, "right": false, "Righ": false, "Right ": false,
		"": false} {
		if got := key.Is(given); got != want {
			t.Errorf("Is(%q) = %t", given, got)
		}
	}
	none := auth.NewSecret("")
	if none.Set() || !key.Set() || none.Is("") || (auth.Redactor{none}).Holds("text") {
		t.Error("an empty text counts as a key")
	}
}

// TestRedactor: the log contains no keys, and no values whose names suggest that they are keys.
func TestRedactor(t *testing.T) {
	r := auth.Redactor{auth.NewSecret("TOPSECRET")}
	urls := []struct{ name, path, query, want string }{
		{"nothing to hide", "/api/activities", "limit=1&offset=2", "/api/activities?limit=1&offset=2"},
		{"no query", "/healthz", "", "/healthz"},
		{"empty pairs", "/api/html", "&&limit=1&", "/api/html?limit=1"},
		{"apikey", "/api/html", "apikey=x&limit=1", "/api/html?…&limit=1"},
		{"apikey, encoded", "/api/html", "%61pikey=x%", "/api/html?…"},
		{"apikey, encoded twice", "/api/html", "%2561pikey=x", "/api/html?…"},
		{"apikey, other spellings", "/api/html", "API_Key=x&x-api-key=y&ap%20ikey=z", "/api/html?…&…&…"},
		{"other secrets", "/api/html", "access_token=x&Passwords=y&clientSecret=z&jwt=a", "/api/html?…&…&…&…"},
		{"a key under another name", "/api/html", "q=TOPSECRET&r=1", "/api/html?…&r=1"},
		{"a key, encoded", "/api/html", "q=%54OPSECRET", "/api/html?…"},
		{"a key as a name", "/api/html", "TOPSECRET", "/api/html?…"},
		{"a URL with a key in a value", "/api/html", "next=/api/html?apikey=x", "/api/html?…"},
		{"nothing to hide, encoded", "/api/html", "json=%7B%22a%22%3A1%7D&q=a+b%",
			"/api/html?json=%7B%22a%22%3A1%7D&q=a+b%"},
		{"a key, encoded in parts", "/api/html", "q=%54OP+SECRET&q=TOP%53ECRE%54", "/api/html?q=%54OP+SECRET&…"},
		{"an escape in another spelling", "/api/html", "%%361pikey=x&r=%", "/api/html?…&r=%"},
		{"a word that contains key", "/api/html", "keyword=x&monkey=y", "/api/html?keyword=x&monkey=y"},
		{"a key in the path", "/api/users/TOPSECRET", "limit=1", "/api/users/…?limit=1"},
		{"a pair in the path", "/api/apikey=x/y", "", "/api/…"},
		{"a part of the path that is named as a secret", "/TOP/SECRET", "", "/TOP/…"},
		{"no text", "/a\xffb", "c=\xfe", "/a\uFFFDb?c=\uFFFD"},
	}
	for _, tt := range urls {
		if got := string(r.AppendURL([]byte("url="), tt.path, []byte(tt.query))); got != "url="+tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	if got := r.AppendURL(nil, "/a", bytes.Repeat([]byte("b=c&"), 10_000)); len(got) > 3000 ||
		!bytes.HasSuffix(got, []byte("…")) {
		t.Errorf("a long query has %d bytes in the log", len(got))
	}
	if !r.Holds("x-TOPSECRET-y") || r.Holds("TOPSECRE") {
		t.Error("Holds must find the key inside a longer text, and not a part of it")
	}
}
