package auth

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2/utils"
	"github.com/valyala/fasthttp"

	"vitrine/proxy/query"
)

// Secret is a configured key or token. The zero Secret is not set.
type Secret struct {
	sum  [sha256.Size]byte
	text string
}

// NewSecret returns the Secret with a text. It is not set if the text is empty.
func NewSecret(text string) Secret { return Secret{sha256.Sum256([]byte(text)), text} }

// Set reports whether the secret is set.
func (s Secret) Set() bool { return s.text != "" }

// Is reports whether given is the secret. It compares hashes, so that its time does not depend on given.
func (s Secret) Is(given string) bool {
	sum := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(s.sum[:], sum[:]) == 1 && s.Set()
}

// Redactor removes secrets from log messages. Its elements are the secrets of the server.
type Redactor []Secret

// AppendURL appends path and query without secrets, bounded in length.
func (s Redactor) AppendURL(dst []byte, path string, query []byte) []byte {
	const most = 2048
	from := len(dst)
	dst = append(dst, path...)
	if len(query) > 0 {
		dst = append(append(dst, '?'), query...)
	}
	emptyPairs := bytes.HasPrefix(query, []byte("&")) || bytes.HasSuffix(query, []byte("&")) ||
		bytes.Contains(query, []byte("&&"))
	if !emptyPairs && len(dst)-from <= most && utf8.Valid(dst[from:]) && s.clean(utils.UnsafeString(dst[from:])) {
		return dst
	}
	var b strings.Builder
	b.WriteString(s.Path(path))
	sep := byte('?')
	for pair := range strings.SplitSeq(string(query), "&") {
		if pair == "" {
			continue
		}
		if s.Reveals(pair) {
			pair = "…"
		}
		b.WriteByte(sep)
		b.WriteString(pair[:min(len(pair), most)])
		if sep = '&'; b.Len() > most {
			b.WriteString("…")
			break
		}
	}
	return append(dst[:from], strings.ToValidUTF8(b.String(), "\uFFFD")...)
}

// Path returns a path up to the first part that may contain a secret.
func (s Redactor) Path(path string) string {
	if s.clean(path) {
		return path
	}
	for from := 0; from < len(path); {
		part := path[from:]
		if n := strings.IndexAny(part, "/;&=?"); n >= 0 {
			part = part[:n]
		}
		if s.Reveals(part) {
			return path[:from] + "…"
		}
		from += len(part) + 1
	}
	if s.Holds(path) {
		return "…"
	}
	return path
}

// Reveals reports whether a pair of a query may contain a secret: its name, or a name in another URL that it
// contains, is that of a secret, or it contains one of the server's secrets. It decodes the pair as the API does,
// including broken escapes.
func (s Redactor) Reveals(pair string) bool {
	switch {
	case s.clean(pair):
		return false
	case s.Holds(pair):
		return true
	}
	args := fasthttp.AcquireArgs()
	defer fasthttp.ReleaseArgs(args)
	args.Parse(pair)
	for name, value := range args.All() {
		if secretName(name) || s.Holds(utils.UnsafeString(name)) || s.Holds(utils.UnsafeString(value)) {
			return true
		}
		for part := range bytes.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune("/;&?#", r) }) {
			if name, _, assigns := bytes.Cut(part, []byte{'='}); assigns && secretName(name) {
				return true
			}
		}
	}
	return false
}

// clean reports whether a text, as sent and decoded, has no letters that are a part of a secret's name, and none of
// the server's secrets. It is false, too, for a text that could be decoded twice.
func (s Redactor) clean(text string) bool {
	if s.Holds(text) {
		return false
	}
	var decoded, plain [256]byte // large enough for most texts
	all, letters := decoded[:0], plain[:0]
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '%' {
			if i+2 >= len(text) {
				return false
			}
			n, err := strconv.ParseUint(text[i+1:i+3], 16, 8)
			if err != nil || n == '%' {
				return false
			}
			c, i = byte(n), i+2
		} else if c == '+' {
			c = ' '
		}
		all = append(all, c)
		if c |= 0x20; 'a' <= c && c <= 'z' {
			letters = append(letters, c)
		}
	}
	name := utils.UnsafeString(letters)
	return !strings.Contains(name, "key") && !meansSecret(name) && !s.Holds(utils.UnsafeString(all))
}

// secretName reports whether a name is the name of a secret. Only its letters count.
func secretName(name []byte) bool {
	if plain, err := url.QueryUnescape(string(name)); err == nil {
		name = []byte(plain) // the name was encoded twice
	}
	plain := letters(string(name))
	return plain == "key" || meansSecret(plain)
}

func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if r |= 0x20; r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, text)
}

func meansSecret(plain string) bool {
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(plain, word) })
}

var secretWords = []string{query.KeyParam, "portfoliokey", "token", "secret", "password", "authorization",
	"credential", "jwt"}

// Holds reports whether a text contains one of the server's own secrets, or a text like those of NewKey.
func (s Redactor) Holds(text string) bool {
	return strings.Contains(text, keyMark) ||
		slices.ContainsFunc(s, func(secret Secret) bool {
			return secret.Set() && strings.Contains(text, secret.text)
		})
}
