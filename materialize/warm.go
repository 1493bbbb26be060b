package materialize

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/raw"
	"vitrine/rules/views"
)

// Warm is a template of paths of the other server, such as /portfolio/unit/{groups.id}/staff: the placeholder stands
// for each value of a field in a view or collection.
type Warm struct {
	before, after string // the placeholder; after is empty if there is none
	collection    string // empty if there is no placeholder
	field         raw.Path
	top           string // the first part of field
}

// placeholder matches a placeholder of a template: {groups.id}, {persons.public.name}. The collection comes first;
// the field may have several parts.
var placeholder = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_-]*)\.([^{}/?#$.]+(?:\.[^{}/?#$.]+)*)\}`)

// ParseWarm parses a template of paths, which may have parameters.
func ParseWarm(text string) (w Warm, err error) {
	at := placeholder.FindAllStringSubmatchIndex(text, -1)
	w.before = text
	switch {
	case !strings.HasPrefix(text, "/"):
		return w, fmt.Errorf("want a path from the root such as /portfolio/unit/{groups.id}, have %q", text)
	case len(at) > 1:
		return w, fmt.Errorf("want one placeholder at most, have %q", text)
	case len(at) == 1:
		m := at[0]
		w.before, w.after = text[:m[0]], text[m[1]:]
		w.collection = text[m[2]:m[3]]
		field := text[m[4]:m[5]]
		if w.field, err = raw.ParsePath(field); err != nil {
			return w, fmt.Errorf("%q: %w", text, err)
		}
		w.top, _, _ = strings.Cut(field, ".")
		if v, ok := views.Named(w.collection); ok {
			w.collection = v.Source
		}
	}
	if strings.ContainsAny(w.before+w.after, "{}") {
		return w, fmt.Errorf("want placeholders such as {groups.id}, have %q", text)
	}
	if strings.ContainsAny(w.before, "?#") && w.collection != "" {
		return w, fmt.Errorf("want no placeholder among the parameters, have %q", text)
	}
	if _, err := url.ParseRequestURI(w.before + "1" + w.after); err != nil || strings.Contains(text, "#") {
		return w, fmt.Errorf("want a path from the root, have %q", text)
	}
	return w, nil
}

// mostWarm bounds how many paths one template may stand for, so that a wrong field does not fill the memory.
const mostWarm = 100_000

// errTooMany says that a template stands for more than mostWarm paths.
var errTooMany = errors.New("too many values")

// expand returns the paths that a template stands for, each once, sorted.
func (w Warm) expand(ctx context.Context, store Store) ([]string, error) {
	if w.collection == "" {
		return []string{w.before}, nil
	}
	values := map[string]bool{}
	for doc, err := range store.Find(ctx, w.collection, origin.Query{Projection: []string{w.top}}) {
		if errors.Is(err, origin.ErrDamagedRecord) {
			continue // its path is fetched when a client requests it
		}
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", w.top, w.collection, err)
		}
		raw.Walk(doc, w.field, func(v raw.Value) bool {
			if text := pathPart(v.Raw); text != "" {
				values[text] = true
			}
			return true
		})
		if len(values) > mostWarm {
			return nil, fmt.Errorf("%s of %s: %w", w.top, w.collection, errTooMany)
		}
	}
	paths := make([]string, 0, len(values))
	for _, value := range slices.Sorted(maps.Keys(values)) {
		paths = append(paths, w.before+value+w.after)
	}
	return paths, nil
}

// pathPart returns a value as a part of a path, or "" if it cannot be one: documents and dates name nothing, and
// servers read some texts differently, such as ".." and those with a slash.
func pathPart(v bson.RawValue) string {
	var text string
	switch {
	case raw.IsText(v.Type):
		text = raw.Text(v)
	case v.Type == bson.TypeObjectID:
		text = v.ObjectID().Hex()
	case raw.IsNumber(v.Type):
		n, integral, ok := raw.Truncate(v)
		if !ok || !integral {
			return ""
		}
		text = strconv.FormatInt(n, 10)
	}
	if text == "." || text == ".." || strings.ContainsAny(text, `/\;`) ||
		strings.ContainsFunc(text, unicode.IsControl) {
		return ""
	}
	return url.PathEscape(text)
}
