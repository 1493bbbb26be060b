package keptadmin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"vitrine/cache/kept"
	"vitrine/proxy/query"
	"vitrine/rules"
	"vitrine/rules/urlpath"
)

// RefreshResult says what Refresh has done. It is the body of the answer, and Status that of HTTP, too.
type RefreshResult struct {
	Status int         `json:"status"`
	Count  int         `json:"count"`
	Data   []KeyResult `json:"data"`
	Left   int         `json:"left,omitempty"` // answers for which there was no time
	Msg    string      `json:"msg,omitempty"`
}

// KeyResult is what became of a kept answer. passed means that the other server gave an answer which no rule
// keeps; failed that it gave none.
type KeyResult struct {
	Key    string `json:"key"`
	Result string `json:"result"` // new, changed, unchanged, dropped, passed or failed
	Error  string `json:"error,omitempty"`
	Kept   bool   `json:"kept"` // an answer is kept now
}

// Refresh fetches the kept answers of a path again, with all parameters, or if nothing is kept the one without
// parameters. A path that ends with /* stands for all paths below it, of which only kept answers are fetched. With
// drop it removes them instead. The status is 502 if an answer cannot be fetched: then the old one stays. keys are
// the answers that the path stands for. The keys come back also with an error of Drop, because some may be gone by
// then: caches in front must drop theirs.
func Refresh(
	ctx context.Context, k *kept.Keeper, target string, drop bool,
) (done RefreshResult, keys []string, err error) {
	done = RefreshResult{Status: http.StatusOK, Data: []KeyResult{}}
	if keys, err = keysOf(k, target); err != nil {
		return done, nil, err
	}
	// Nothing that is kept is lost by a refresh that fails: renew only replaces.
	switch {
	case len(keys) == 0:
		done.Msg = "Nothing is kept there."
	case drop:
		if err := k.Drop(ctx, keys); err != nil {
			return done, keys, err
		}
		for _, key := range keys {
			done.Data = append(done.Data, KeyResult{Key: key, Result: "dropped"})
		}
	default:
		done.renew(ctx, k, keys)
	}
	done.Count = len(done.Data)
	return done, keys, nil
}

// keysOf returns the keys that an operator's path stands for. For example, /portfolio/* stands for all that is
// kept below, /portfolio/units for its answers with any parameters, and /portfolio/units?lang=de for one.
func keysOf(keeper *kept.Keeper, target string) ([]string, error) {
	target, below := strings.CutSuffix(target, "/*")
	encoded, params, exact := strings.Cut(target, "?")
	if below && encoded == "" {
		return keeper.Keys("/", true), nil
	}
	path, ok := urlpath.Normalised(encoded)
	if !ok {
		return nil, rules.Wrongf("path", "", "want a path such as /portfolio/units, or /portfolio/* for all below")
	}
	rule := keeper.Match(path)
	switch {
	case below:
		return keeper.Keys(path, true), nil
	case rule == nil:
		return nil, rules.Wrongf("path", "", "no rule in upstream.keep is for %s", query.Quote(path))
	}
	// Without a query a path stands for each of its kept answers.
	if !exact {
		if keys := keeper.Keys(path, false); len(keys) > 0 {
			return keys, nil
		}
	}
	values, _ := url.ParseQuery(params) // those that can be read
	key, _ := rule.Key(path, values)
	return []string{key}, nil
}

// renew fetches keys again, one after the other: the other server may be slow for everyone else meanwhile.
func (done *RefreshResult) renew(ctx context.Context, keeper *kept.Keeper, keys []string) {
	failed := "" // the last failure
	for i, key := range keys {
		// What is left stays as it is; the same request can be sent again.
		if ctx.Err() != nil {
			done.Left, done.Status = len(keys)-i, http.StatusAccepted
			done.Msg = "The time for one request has passed: ask again for the rest."
			break
		}
		run := KeyResult{Key: key, Result: "failed"}
		// The rule may be gone since keysOf, after a reload.
		before, found, err := keeper.Peek(key), kept.Found{}, errors.New("there is no rule any more")
		rule := keeper.Match(PathOf(key))
		if rule != nil {
			found, err = keeper.Renew(ctx, rule, key)
		}
		switch {
		case err != nil:
			run.Error = err.Error()
		// The fetch has failed, and the old answer stays.
		case found.Outcome == kept.Stale:
			run.Error = causeOf(keeper, rule, key, found.Reason)
		case found.Entry == nil:
			run.Result, run.Error = "passed", found.Reason
		case before == nil:
			run.Result = "new"
		case before.Digest == found.Entry.Digest:
			run.Result = "unchanged"
		default:
			run.Result = "changed"
		}
		if run.Error != "" {
			failed = key + ": " + run.Error
		}
		run.Kept = keeper.Peek(key) != nil
		done.Data = append(done.Data, run)
	}
	if failed != "" {
		done.Status = http.StatusBadGateway
		said := "The other server sent no answer that can be kept. Answers that were kept stay. " +
			"The last failure was " + failed
		done.Msg = strings.TrimSpace(said + ". " + done.Msg)
	}
}

// causeOf returns why a key could not be fetched, as its rule knows it, or else the reason for sending the old
// answer. Failures of other rules have nothing to do with the key.
func causeOf(keeper *kept.Keeper, rule *kept.Rule, key, reason string) string {
	for _, status := range keeper.Status() {
		if cause, ok := strings.CutPrefix(status.Failed, key+": "); ok && status.Rule == rule {
			return cause
		}
	}
	return reason
}

// PathOf returns the path of a key, decoded. Operators and caches in front know paths, not keys.
func PathOf(key string) string {
	encoded, _, _ := strings.Cut(key, "?")
	if path, err := url.PathUnescape(encoded); err == nil { // always: Rule.Key has encoded it
		return path
	}
	return encoded
}
