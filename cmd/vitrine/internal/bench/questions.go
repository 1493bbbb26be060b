package bench

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/raw"
	"vitrine/rules/yamlfile"
)

//go:embed cases.yaml
var casesSource []byte

// Case is one kind of request, as described in cases.yaml. Path and Filter are templates.
type Case struct {
	Name, Title, Path, Filter string
	Mixes                     []string
	Header                    map[string]string // headers of every request
	Fresh                     bool              // no answer may come from the result cache
	Revalidate                bool              // sends the answer's own tag, so that all answers are 304
	Kept                      bool              // the answer is measured once the result cache has it
	Costly                    bool              // others are also measured beside clients that ask this
	Status                    int               // expected status; if 0, 200
	// concurrent connections; if 0, one for a Fresh case and 16 for another
	Conns int
}

// cases are the cases of cases.yaml in its order. A mistake in the file panics at the first use.
var cases = sync.OnceValue(func() (all []Case) {
	yamlfile.BuiltIn("cases.yaml", casesSource, &all)
	for i, c := range all {
		if !c.Fresh {
			all[i].Conns = cmp.Or(c.Conns, 16)
		}
	}
	return all
})

// caseNamed returns the case with a name, which must exist.
func caseNamed(name string) Case {
	return cases()[slices.IndexFunc(cases(), func(c Case) bool { return c.Name == name })]
}

const (
	collectionActivities = "activities"
	sampled              = 8000 // number of activities from which words are taken, evenly spread
	pageSize             = 20   // rows
)

// vocabulary has the values for questions. The store's records have these values, so that filters find something.
// It is read once, before the serving process starts, and does not change.
type vocabulary struct {
	words   map[string][]string // by path, sorted
	rows    int                 // number of activities in the store
	records []bson.Raw          // the activities to change
}

// wordPaths are the paths of words, by collection. They are those that the templates of cases.yaml name.
var wordPaths = map[string][]string{
	collectionActivities: {"type", "units", "title", "start_date", "authors.user", "authors.position",
		"spectrum.display_name"},
	"persons":  {"username", "_id"},
	"projects": {"funding_number"},
}

// collect reads the vocabulary and some activities to change. rows is the number of activities, if known. Words are
// kept once each, so a rare unit is asked for as often as a frequent one.
func collect(ctx context.Context, store origin.Source, rows, changes int) (*vocabulary, error) {
	v := &vocabulary{words: map[string][]string{}}
	for collection, paths := range wordPaths {
		scanned := 0
		for record, err := range store.Scan(ctx, collection) {
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", collection, err)
			}
			scanned++
			if collection == collectionActivities {
				v.rows = scanned
				if len(v.records) < changes && scanned%max(rows/changes, 1) == 0 {
					v.records = append(v.records, record)
				}
				if scanned%max(rows/sampled, 1) != 0 {
					continue
				}
			}
			for _, path := range paths {
				v.words[path] = append(v.words[path], textsAt(record, path)...)
			}
		}
	}
	for path, words := range v.words {
		v.words[path] = slices.Compact(slices.Sorted(slices.Values(words)))
	}
	return v, nil
}

// placeholder matches the placeholders of words in the templates of cases.
var placeholder = regexp.MustCompile(`\{[a-z_.]+\}`)

// question returns a question for a case with random words, or false if the records lack a word.
//
// Example: the path /api/users/{authors.user} becomes /api/users/ada.
func (v *vocabulary) question(c Case, dice *rand.Rand) (path string, ok bool) {
	if c.Mixes != nil {
		c = caseNamed(c.Mixes[dice.IntN(len(c.Mixes))])
	}
	ok = true
	fill := func(text string, spell func(any) string) string {
		return placeholder.ReplaceAllStringFunc(text, func(name string) string {
			word := v.word(strings.Trim(name, "{}"), dice)
			ok = ok && word != nil && word != ""
			return spell(word)
		})
	}
	path = fill(c.Path, func(word any) string { return url.QueryEscape(fmt.Sprint(word)) })
	if c.Filter != "" {
		// of texts, it cannot fail
		spell := func(word any) string { text, _ := json.Marshal(word); return string(text) }
		path += "&json=" + url.QueryEscape(fill(c.Filter, spell))
	}
	return path, ok
}

// draw returns up to count different paths for a case; those of a Fresh case were never drawn before.
//
// Only hashes of the paths are kept: a run draws hundreds of thousands. Two paths with one hash cost a path, no
// error.
func (b *bench) draw(c Case, count int) (paths []string) {
	const maxVain = 1000 // after so many duplicates in a row draw gives up
	seen := b.seen
	if !c.Fresh {
		seen = map[uint64]bool{}
	}
	for vain := 0; len(paths) < count && vain < maxVain; vain++ {
		path, ok := b.words.question(c, b.dice)
		if key := xxhash.Sum64String(path); ok && !seen[key] {
			seen[key], vain = true, 0
			paths = append(paths, path)
		}
	}
	return paths
}

// word returns a word of the records at a path, or one made from such words; nil or empty if there is none.
func (v *vocabulary) word(name string, dice *rand.Rand) any {
	pick := func(path string) string {
		if words := v.words[path]; len(words) > 0 {
			return words[dice.IntN(len(words))]
		}
		return ""
	}
	switch name {
	case "offset": // offset of a page of activities
		return dice.IntN(max((v.rows+pageSize-1)/pageSize, 1)) * pageSize
	case "years": // a range of years
		from := 1990 + dice.IntN(20)
		return fmt.Sprintf("%d..%d", from, from+dice.IntN(20))
	case "size": // size of a page of a list, near the usual one
		return pageSize/2 + dice.IntN(pageSize)
	case "number": // a number that no record has
		return 1e6 + dice.IntN(1e9)
	case "range": // a range of days
		if from, to := pick("start_date"), pick("start_date"); from < to {
			return map[string]string{"$gte": from, "$lt": to}
		}
		return nil
	case "five": // authors, sorted and distinct, so that different sets have different meanings
		var five []string
		for range 5 {
			five = append(five, pick("authors.user"))
		}
		slices.Sort(five)
		if five[0] != "" {
			return slices.Compact(five)
		}
		return nil
	case "prefix", "anchored", "infix", "pattern", "classes", "double", "misquote":
		return ofTitle(name, pick("title"), dice)
	}
	return pick(name)
}

// pairs matches two consecutive words that are long enough to search for, and plain in an expression.
var pairs = regexp.MustCompile(`\b([a-z]{5,}) ([a-z]{5,})\b`)

// ofTitle makes a word from a title, or returns "" if the title does not allow it. Example: of "Twilight colors
// over fjords", infix makes "twilight colors" or "twilight colo".
func ofTitle(name, title string, dice *rand.Rand) string {
	runes, words, pair := []rune(title), strings.Fields(title), pairs.FindStringSubmatch(strings.ToLower(title))
	switch {
	case name == "prefix":
		return string(runes[:min(len(runes), 6+3*dice.IntN(5))])
	case name == "anchored" && title != "": // an expression for a prefix
		return "^" + regexp.QuoteMeta(ofTitle("prefix", title, dice))
	case name == "infix" && pair != nil: // two words, the second perhaps cut short
		return pair[1] + " " + pair[2][:len(pair[2])-dice.IntN(3)]
	case name == "pattern" && pair != nil: // an expression for two words
		return pair[1][:4] + "[a-z]* " + pair[2][:4-dice.IntN(2)]
	case name == "double" && pair != nil:
		// an expression that refers back, for a letter that is not doubled after a word
		return fmt.Sprintf(`%s ([a-z])(?!\1|%d)`, pair[1], dice.IntN(1e9))
	case name == "classes" && pair != nil: // an expression for a word, of a class for each letter
		var b strings.Builder
		for _, letter := range []byte(pair[1][:5]) {
			fmt.Fprintf(&b, "[%c-%c]", letter-byte(dice.IntN(3)), letter+1+byte(dice.IntN(2)))
		}
		return b.String()
	case name == "misquote" && len(words) > 0:
		// the title as people misremember it: a word is missing, and a number is new
		at := dice.IntN(len(words))
		return fmt.Sprintf("%s %d", strings.Join(slices.Delete(words, at, at+1), " "), dice.IntN(1e6))
	}
	return ""
}

// textsAt returns the texts that are not empty at a path of a record, and ids in hexadecimal.
func textsAt(record bson.Raw, path string) (all []string) {
	raw.Walk(record, raw.PathOf(path), func(value raw.Value) bool {
		text, _ := value.Raw.StringValueOK()
		if id, ok := value.Raw.ObjectIDOK(); ok {
			text = id.Hex()
		}
		if text != "" {
			all = append(all, text)
		}
		return true
	})
	return all
}
