package purge

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// kind says how to notify targets of a kind. A request has at most as many tags, and bytes of them, as all targets
// of the kind accept.
type kind struct {
	needsToken  bool
	tags, bytes int // limits of a request
	request     func(t *target, tags []string) (*http.Request, error)
}

// batch returns how many of the tags, at least one, fit in a request. A tag that is longer than the limit goes
// alone: the target decides about it.
func (k kind) batch(tags []string) (n int) {
	for size := 0; n < len(tags) && n < k.tags; n++ {
		if size += len(tags[n]) + 1; size > k.bytes && n > 0 {
			break
		}
	}
	return n
}

// headerBytes is the longest header with tags. It is half of what Varnish accepts by default (http_req_hdr_len).
const headerBytes = 4 << 10

// kinds has the kinds by the first word of a target.
var kinds = map[string]kind{
	"varnish":    {tags: 256, bytes: headerBytes, request: banVarnish},
	"purge":      {tags: 256, bytes: headerBytes, request: purgePlain},
	"fastly":     {needsToken: true, tags: 256, bytes: 16 << 10, request: purgeFastly},
	"cloudflare": {needsToken: true, tags: 30, bytes: 16 << 10, request: purgeCloudflare},
	"webhook":    {needsToken: true, tags: mostWaiting, bytes: 1 << 20, request: callWebhook},
}

// banVarnish sends a BAN with a pattern for Surrogate-Key, which Varnish can evaluate without an extension; the VCL
// is in docs/operations.md.
func banVarnish(t *target, tags []string) (*http.Request, error) {
	return t.with("BAN", "", "X-Ban-Tags", "(^|[[:space:]])("+strings.Join(tags, "|")+")($|[[:space:]])", t.bearer)
}

// purgePlain sends a PURGE with the headers of answers.
func purgePlain(t *target, tags []string) (*http.Request, error) {
	return t.with("PURGE", "", "Surrogate-Key", strings.Join(tags, " "), t.bearer,
		func(h http.Header) { h.Set("Cache-Tag", strings.Join(tags, ",")) })
}

// purgeFastly purges by surrogate keys: the address is https://api.fastly.com/service/ID/purge.
func purgeFastly(t *target, tags []string) (*http.Request, error) {
	return t.with(http.MethodPost, "", "Surrogate-Key", strings.Join(tags, " "),
		func(h http.Header) { h.Set("Fastly-Key", t.token) })
}

// purgeCloudflare purges by tags: the address is https://api.cloudflare.com/client/v4/zones/ID/purge_cache.
func purgeCloudflare(t *target, tags []string) (*http.Request, error) {
	body, err := json.Marshal(map[string][]string{"tags": tags})
	if err != nil {
		return nil, err
	}
	return t.with(http.MethodPost, string(body), "Content-Type", "application/json", t.bearer)
}

// callWebhook posts the tags, signed as Standard Webhooks says. The signature covers the id and the time, too, so
// that a receiver can refuse a message that is sent to it again later.
func callWebhook(t *target, tags []string) (*http.Request, error) {
	now := time.Now()
	body, err := json.Marshal(map[string]any{"type": "changed", "timestamp": now.UTC().Format(time.RFC3339),
		"data": map[string]any{"tags": tags}})
	if err != nil {
		return nil, err
	}
	id, at := "msg_"+rand.Text(), strconv.FormatInt(now.Unix(), 10)
	mac := hmac.New(sha256.New, t.secret)
	mac.Write([]byte(id + "." + at + "." + string(body)))
	return t.with(http.MethodPost, string(body), "Content-Type", "application/json", func(h http.Header) {
		h.Set("Webhook-Id", id)
		h.Set("Webhook-Timestamp", at)
		h.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	})
}

// secretOf returns the secret of webhooks, which is usually written as whsec_ and base64.
func secretOf(token string) ([]byte, error) {
	coded, ok := strings.CutPrefix(token, "whsec_")
	if !ok {
		return []byte(token), nil
	}
	secret, err := base64.StdEncoding.DecodeString(coded)
	if err != nil {
		return nil, errors.New("the part after whsec_ is not base64")
	}
	return secret, nil
}

// bearer sets the token of a target that has one: a cache inside the own network may need none.
func (t *target) bearer(h http.Header) {
	if t.token != "" {
		h.Set("Authorization", "Bearer "+t.token)
	}
}

// with returns a request to the target with a header, and further ones that the functions in more set.
func (t *target) with(method, body, name, value string, more ...func(http.Header)) (*http.Request, error) {
	req, err := http.NewRequest(method, t.url, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	req.Header.Set(name, value)
	for _, set := range more {
		set(req.Header)
	}
	return req, nil
}
