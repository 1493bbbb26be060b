package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"vitrine/cache/origin"
)

const (
	collectionActivities = "activities"
	sampled              = 8000 // activities that words are taken from, evenly spread
	pageSize             = 20   // rows
)

// vocabulary is what questions are made of: values that the store's records have, so that filters
// find something.
type vocabulary struct {
	words map[string][]string // by their path, sorted
	rows  int                 // activities in the store
	bytes int64               // of their BSON
}

// wordPaths are the paths of words by the collections that have them.
var wordPaths = map[string][]string{
	collectionActivities: {"type", "units", "title", "start_date", "authors.user", "authors.position", "spectrum.display_name"},
	"persons":            {"username", "_id"},
	"projects":           {"funding_number"},
}

// collect reads a store. rows, if known, is how many activities it has.
func collect(ctx context.Context, store origin.Source, rows int) (*vocabulary, error) {
	v := &vocabulary{words: map[string][]string{}}
	for collection, names := range wordPaths {
		step, scanned := 1, 0
		for record, err := range store.Scan(ctx, collection) {
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", collection, err)
			}
			if collection == collectionActivities {
				step = max(rows/sampled, 1)
				v.rows++
				v.bytes += int64(len(record))
			}
			if scanned++; scanned%step != 0 {
				continue
			}
			for _, name := range names {
				v.words[name] = append(v.words[name], textsAt(record, name)...)
			}
		}
	}
	for name, words := range v.words {
		v.words[name] = distinct(words)
	}
	return v, nil
}

// placeholder matches what stands for a word in the templates of cases.
var placeholder = regexp.MustCompile(`\{[a-z_.]+\}`)

// question makes a question of a case, path and query, of words that the dice choose. It
// returns false if the records lack a word.
func (v *vocabulary) question(c Case, dice *rand.Rand) (path string, ok bool) {
	if c.Mixes != nil {
		c = caseNamed(c.Mixes[dice.IntN(len(c.Mixes))])
	}
	words, ok := map[string]any{}, true
	fill := func(text string, spell func(any) string) string {
		return placeholder.ReplaceAllStringFunc(text, func(name string) string {
			if _, known := words[name]; !known {
				words[name] = v.word(strings.Trim(name, "{}"), dice)
			}
			ok = ok && words[name] != nil
			return spell(words[name])
		})
	}
	path = fill(c.Path, func(word any) string { return url.QueryEscape(fmt.Sprint(word)) })
	if c.Filter != "" {
		path += "&json=" + url.QueryEscape(fill(c.Filter, quote))
	}
	return path, ok
}

// quote makes JSON of a word.
func quote(word any) string {
	b, _ := json.Marshal(word) // texts, numbers and truth values always marshal
	return string(b)
}

// draw makes paths of a case, no two alike: count of them, or fewer if the words do not give
// more. Those of a Fresh case were not drawn before, of no case.
func (b *bench) draw(c Case, count int) (paths []string) {
	const mostDoubles = 1000 // made in vain before there are taken to be no more
	seen := b.seen
	if !c.Fresh {
		seen = map[uint64]bool{}
	}
	for doubles := 0; len(paths) < count && doubles < mostDoubles; {
		path, ok := b.words.question(c, b.dice)
		key := xxhash.Sum64String(path)
		if !ok || seen[key] {
			doubles++
			continue
		}
		doubles, seen[key] = 0, true
		paths = append(paths, path)
	}
	return paths
}

// word returns a word of the records at a path, or one that is made of such; nil if there is none.
func (v *vocabulary) word(name string, dice *rand.Rand) any {
	pick := func(path string) string {
		if words := v.words[path]; len(words) > 0 {
			return words[dice.IntN(len(words))]
		}
		return ""
	}
	word := ""
	switch name {
	case "flag":
		return dice.IntN(2) == 0
	case "offset": // of a page of activities
		return dice.IntN(max((v.rows+pageSize-1)/pageSize, 1)) * pageSize
	case "years": // a range
		from := 1990 + dice.IntN(20)
		return fmt.Sprintf("%d..%d", from, from+dice.IntN(20))
	case "size": // of a page of a list, about the usual one
		return pageSize/2 + dice.IntN(pageSize)
	case "range": // of days
		if from, to := pick("start_date"), pick("start_date"); from < to {
			return map[string]string{"$gte": from, "$lt": to}
		}
	case "five": // authors, sorted and without doubles: no two sets of them mean the same
		five := []string{pick("authors.user"), pick("authors.user"), pick("authors.user"), pick("authors.user"), pick("authors.user")}
		if slices.Sort(five); five[0] != "" {
			return slices.Compact(five)
		}
	case "prefix", "anchored", "infix", "pattern", "misquote":
		word = ofTitle(name, pick("title"), dice)
	default:
		word = pick(name)
	}
	if word == "" {
		return nil
	}
	return word
}

// pairs matches two words after each other that are long enough to look for and mean nothing to a
// regular expression.
var pairs = regexp.MustCompile(`\b([a-z]{5,}) ([a-z]{5,})\b`)

// ofTitle makes a word of a title; empty if it cannot be made of this one.
func ofTitle(name, title string, dice *rand.Rand) string {
	switch name {
	case "prefix", "anchored": // a beginning, and an expression for one
		runes := []rune(title)
		beginning := string(runes[:min(len(runes), 6+3*dice.IntN(5))])
		if name == "prefix" || beginning == "" {
			return beginning
		}
		return "^" + regexp.QuoteMeta(beginning)
	case "infix", "pattern": // two words, the second perhaps cut short, and an expression for such
		found := pairs.FindAllStringSubmatch(strings.ToLower(title), -1)
		if len(found) == 0 {
			return ""
		}
		pair := found[dice.IntN(len(found))]
		if name == "pattern" {
			return pair[1][:4] + "[a-z]* " + pair[2][:4-dice.IntN(2)]
		}
		return pair[1] + " " + pair[2][:len(pair[2])-dice.IntN(3)]
	}
	words := strings.Fields(title) // misquoted as people remember it: a word is missing, and a number is new
	if len(words) == 0 {
		return ""
	}
	at := dice.IntN(len(words))
	return fmt.Sprintf("%s %d", strings.Join(slices.Delete(words, at, at+1), " "), dice.IntN(1e6))
}
