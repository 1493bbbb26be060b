package main

import (
	"context"
	"io"
	"log/slog"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/internal/asynclog"
	"vitrine/configs"
)

// flushTime bounds the writing of the lines that wait when the program ends.
const flushTime = 2 * time.Second

// detachLog makes a command's standard error asynchronous, and keeps SIGPIPE from ending
// the program: it must not stop because no process reads its log. It returns the log, which
// reports the lines that are dropped, and the writer behind it.
func detachLog(cmd *cobra.Command, cfg configs.Log) (*slog.Logger, *asynclog.Writer) {
	signal.Ignore(syscall.SIGPIPE)
	out := asynclog.Unblock(cmd.ErrOrStderr())
	direct := newHandler(out, cfg)
	w := asynclog.New(out, func(lines int) error {
		r := slog.NewRecord(time.Now(), slog.LevelWarn, "log lines dropped", 0)
		r.Add("lines", lines)
		return direct.Handle(context.Background(), r)
	})
	cmd.SetErr(w)
	return slog.New(newHandler(w, cfg)), w
}

// flush waits until the asynchronous ones among outputs are written, or for flushTime.
func flush(outputs ...io.Writer) {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	for _, w := range outputs {
		if a, ok := w.(*asynclog.Writer); ok {
			a.Close(ctx)
		}
	}
}

// newHandler returns the handler for the configured format and level.
func newHandler(w io.Writer, cfg configs.Log) slog.Handler {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.Level)) // configs has checked it
	o := &slog.HandlerOptions{Level: level}
	if cfg.Format == "json" {
		o.ReplaceAttr = inSeconds
		return slog.NewJSONHandler(w, o)
	}
	return slog.NewTextHandler(w, o)
}

// inSeconds gives durations a unit where they are read by programs: took=1.5s of the
// text form is "took_seconds":1.5.
func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key+"_seconds", a.Value.Duration().Seconds())
	}
	return a
}

// leastSecret is the least length of a secret for HS256, in bytes (RFC 7518: 3.2).
const leastSecret = 32

// leastKey is the least length of a key, in bytes: any caller may try to guess it.
const leastKey = 16

// warnOfKeys logs settings that protect less than they seem to.
func warnOfKeys(cfg configs.Config, log *slog.Logger) {
	if n := len(cfg.Auth.Session.JWTSecret.Reveal()); n > 0 && n < leastSecret {
		log.Warn("auth.session.jwt_secret is short: who has a token can try secrets until one fits", "bytes", n, "want", leastSecret)
	}
	for name, key := range map[string]configs.Secret{"auth.api_key": cfg.Auth.APIKey, "auth.portfolio_key": cfg.Auth.PortfolioKey, "admin.token": cfg.Admin.Token} {
		if n := len(key.Reveal()); n > 0 && n < leastKey {
			log.Warn(name+" is short: it can be guessed, slowly", "bytes", n, "want", leastKey)
		}
	}
	s := cfg.Auth.Session
	if (s.JWTSecret.Reveal() != "" || s.PublicKey != "") && (s.Issuer == "" || s.Audience == "" || s.Type == "") {
		log.Warn("auth.session: issuer, audience or type of tokens is not required: one that was signed with the same key for something else counts as a session",
			"issuer", s.Issuer, "audience", s.Audience, "type", s.Type)
	}
	if s.Endless {
		log.Warn("auth.session.endless: a token that was lost is good for ever")
	}
}

// warnOfHosts logs that the server does not know by which names its clients reach it.
func warnOfHosts(cfg configs.Config, log *slog.Logger) {
	if l := cfg.Lists; l.Enabled && l.BaseURL == "" && len(l.Hosts) == 0 && !configs.IsLoopback(cfg.Listen) {
		log.Warn("set lists.base_url or lists.hosts: without them feeds, the sitemap and other answers with absolute URLs are refused (421) to clients that "+
			"name another host than listen does, and links in lists that other sites include do not lead here", "listen", cfg.Listen)
	}
}

// warnOfDamage logs damage to an embedded store that concerns more than single records.
func warnOfDamage(store origin.Store, log *slog.Logger) {
	if s, ok := store.(interface{ Damage() []string }); ok {
		for _, note := range s.Damage() {
			log.Warn("the store is damaged: vitrine check says what to do", "store", store.Name(), "damage", note)
		}
	}
}
