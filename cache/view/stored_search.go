package view

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/origin"
	"vitrine/cache/view/index"
	"vitrine/rules/filter"
	"vitrine/rules/pcre"
)

// having returns a query with the conditions that rows have the terms of each search among their words. The last
// term of a search stands for all words that begin with it. For [["open", "acc"]] it is
//
//	{$and: [{words: "open"}, {words: {$regex: "^acc"}}, query]}
//
// with the words' path in the store. An expression with ^ and without options can use the index of the words, as
// MongoDB's documentation of $regex says.
func having(query bson.Raw, searches [][]string) bson.Raw {
	var all bson.A
	for _, terms := range searches {
		for i, term := range terms {
			switch {
			case term == "":
			case i < len(terms)-1:
				all = append(all, bson.D{{Key: origin.WordsPath, Value: term}})
			default:
				all = append(all,
					bson.D{{Key: origin.WordsPath,
						Value: bson.D{{Key: "$regex", Value: "^" + regexp.QuoteMeta(term)}}}})
			}
		}
	}
	if len(all) == 0 {
		return query
	}
	if query != nil {
		all = append(all, query)
	}
	joined, err := bson.Marshal(bson.D{{Key: "$and", Value: all}})
	if err != nil { // cannot fail: terms are valid UTF-8 without zero bytes
		panic(err)
	}
	return joined
}

// Search implements Selection. Without the words in the store, it reads all rows to count those that have all terms.
func (s *storedSelection) Search(ctx context.Context, terms []string) (Selection, error) {
	found, err := s.having(terms)
	if err != nil {
		return nil, err
	}
	return found.counted(ctx)
}

// having is Search, without the count.
func (s *storedSelection) having(terms []string) (*storedSelection, error) {
	if err := s.rows.def.Searchable(); err != nil {
		return nil, err
	}
	found := *s
	found.searches = append(slices.Clip(s.searches), terms)
	found.by(found.filter)
	return &found, nil
}

// search selects rows by a filter and by the terms of each search, by one count unless that is known.
func (s *storedRows) search(ctx context.Context, f *filter.Filter, searches [][]string,
	count int) (Selection, error) {
	return s.readThrough(f, func(f *filter.Filter) (Selection, error) {
		sel, err := s.selection(ctx, f)
		for i := 0; i < len(searches) && err == nil; i++ {
			if len(searches[i]) > 0 {
				sel, err = sel.having(searches[i])
			}
		}
		if err != nil {
			return nil, err
		}
		if sel.size = count; count != Uncounted {
			return sel, nil
		}
		return sel.counted(ctx)
	})
}

// Narrow implements Selection. An empty selection has no rows to count.
func (s *storedSelection) Narrow(ctx context.Context, f *filter.Filter, count int) (Selection, error) {
	other, err := s.rows.selection(ctx, f)
	if err != nil {
		return nil, err
	}
	narrow := *s
	narrow.backtracks = other.backtracks || s.backtracks
	narrow.by(&filter.AndNode{Nodes: []filter.Node{s.filter, other.filter}})
	if s.size == 0 {
		count = 0
	}
	if count != Uncounted {
		narrow.size, narrow.levels = count, nil
		return &narrow, nil
	}
	return narrow.counted(ctx)
}

// counted counts the rows of a new selection, by level if there are terms, and reads rows if the query cannot
// decide. It changes the selection, which no caller has yet.
func (s *storedSelection) counted(ctx context.Context) (_ Selection, err error) {
	s.levels = nil
	switch {
	case s.decided() && s.query == nil:
		s.size = s.rows.size
	case s.decided():
		var counted []index.Group
		counted, err = s.rows.remember(s.query, "", func() ([]index.Group, error) {
			n, err := s.rows.queries.Count(ctx, s.rows.meta, s.query)
			return []index.Group{{Count: n}}, s.rows.moved(err)
		})
		for _, all := range counted {
			s.size = all.Count
		}
	default:
		if s.size = 0; !s.rows.words {
			s.levels = s.newLevels()
		}
		q := s.reading([]string{})
		q.AtOnce = true
		for _, err = range s.documents(ctx, q, tally(s.levels)) {
			s.size++
		}
	}
	return s, err
}

// tally returns a function that counts rows by level, or nil if levels is.
func tally(levels []int) func(level int) {
	if levels == nil {
		return nil
	}
	return func(level int) { levels[level]++ }
}

// newLevels returns counters for rows with none, one and so on up to all of the terms in their title.
func (s *storedSelection) newLevels() []int { return make([]int, len(slices.Concat(s.searches...))+1) }

// ByRelevance implements Selection. Without terms, rows keep the view's order.
func (s *storedSelection) ByRelevance() Selection {
	by := *s
	by.relevant, by.order = len(s.searches) > 0, s.rows.def.Order
	return &by
}

// decided reports whether the query alone decides which rows are selected.
func (s *storedSelection) decided() bool { return s.exact && (s.rows.words || len(s.searches) == 0) }

// matches reports whether documents looks for terms in rows.
func (s *storedSelection) matches() bool {
	return len(s.searches) > 0 && (!s.rows.words || s.level != nil)
}

// documents yields the documents that match the query and the filter and have the terms, with a level only those with
// that many terms of the last search in their title. It calls note, unless that is nil, with the level of each.
func (s *storedSelection) documents(
	ctx context.Context, q origin.Query, note func(level int),
) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		turn := fair.TurnOf(ctx)
		terms := note != nil || s.matches()
		var backtracking *pcre.Budget
		if s.backtracks {
			backtracking = fair.Backtracking(ctx)
		}
		for doc, err := range s.rows.queries.Select(ctx, s.rows.meta, q) {
			if err == nil { // each document, because what the caller makes of one may take long
				err = turn.Check(ctx)
			}
			hit, titles := err == nil, 0
			if hit && s.rows.strip != nil {
				doc = s.rows.strip(doc)
			}
			if hit && !s.exact {
				hit, err = filter.Match(s.filter, doc, backtracking)
			}
			for i := 0; terms && hit && err == nil && i < len(s.searches); i++ {
				titles, hit = s.rows.def.Match(doc, s.searches[i])
				err = turn.Check(ctx)
			}
			if err != nil {
				yield(nil, s.rows.moved(err))
				return
			}
			if hit && note != nil {
				note(titles)
			}
			if hit && (s.level == nil || *s.level == titles) && !yield(doc, nil) {
				return
			}
		}
	}
}

// mostRanked is the most rows that best keeps. These are rows in memory for one request; a page behind them takes
// one more reading for each level.
const mostRanked = 500

// best yields a page by relevance, of the first end rows, by one query. It keeps the best ones while it reads all
// rows.
//
// For a first page of 20 rows it keeps 20 rows, whatever it reads: with one more, it drops the last one of the
// lowest level, which is last in the order of relevance.
func (s *storedSelection) best(ctx context.Context, offset, end int) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		levels, kept, level := make([][]bson.Raw, len(s.newLevels())), 0, 0
		q := s.reading(nil)
		q.Sort, q.AtOnce = s.order, true
		for doc, err := range s.documents(ctx, q, func(l int) { level = l }) {
			if err != nil {
				yield(nil, err)
				return
			}
			if levels[level], kept = append(levels[level], doc), kept+1; kept > end {
				worst := slices.IndexFunc(levels, func(docs []bson.Raw) bool { return len(docs) > 0 })
				levels[worst], kept = levels[worst][:len(levels[worst])-1], kept-1
			}
		}
		slices.Reverse(levels)
		for _, doc := range slices.Concat(levels...)[min(offset, kept):] {
			if !yield(doc, nil) {
				return
			}
		}
	}
}

// ranked is page by relevance. It reads the rows once, or once for each level on a page that best cannot keep.
func (s *storedSelection) ranked(ctx context.Context, offset, limit int) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		skip, left := max(offset, 0), cmp.Or(max(limit, 0), s.size)
		if s.level == nil && left <= mostRanked-min(skip, mostRanked) {
			s.best(ctx, skip, skip+left)(yield)
			return
		}
		levels := s.levels
		if levels == nil { // counted did not look for terms
			levels = s.newLevels()
			q := s.reading(nil)
			q.AtOnce = true
			for _, err := range s.documents(ctx, q, tally(levels)) {
				if err != nil {
					yield(nil, err)
					return
				}
			}
		}
		for level, n := range slices.Backward(levels) {
			if n <= skip {
				skip -= n
				continue
			}
			if left <= 0 {
				return
			}
			one := *s
			one.relevant, one.level = false, &level
			for doc, err := range one.page(ctx, skip, left) {
				if left--; !yield(doc, err) || err != nil {
					return
				}
			}
			skip = 0
		}
	}
}

// Facets implements Selection. It asks the store once, and only if one of the facets is not known.
func (s *storedSelection) Facets(ctx context.Context, asked []index.Facet, fields ...string) ([][]index.Group,
	error) {
	if s.size == 0 { // only the paths are checked
		return index.FacetsDocs(ctx, func(func(bson.Raw, int)) error { return nil }, asked)
	}
	ask := func() ([][]index.Group, error) { return index.FacetsDocs(ctx, s.distinct(ctx, fields), asked) }
	if !s.decided() {
		return ask()
	}
	var found [][]index.Group
	all := make([][]index.Group, len(asked))
	for i, f := range asked {
		var err error
		all[i], err = s.rows.remember(s.query, facetKey(f, fields), func() (_ []index.Group, err error) {
			if found == nil {
				if found, err = ask(); err != nil {
					return nil, err
				}
			}
			return found[i], nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// facetKey tells a facet from others of the same query.
func facetKey(f index.Facet, fields []string) string {
	key := fmt.Sprintf("%q %t %q", f.Paths, f.Rest, fields)
	if f.Under != nil {
		key += f.Under.Key()
	}
	return key
}

// distinct returns the distinct values of fields. If the query does not decide alone, it reads all rows.
func (s *storedSelection) distinct(ctx context.Context, fields []string) index.Docs {
	if !s.decided() {
		return s.docs(ctx, fields)
	}
	return func(add func(bson.Raw, int)) error {
		turn := fair.TurnOf(ctx)
		return s.rows.moved(s.rows.queries.Distinct(ctx, s.rows.meta, s.query, fields,
			func(doc bson.Raw, rows int) error {
				if s.rows.strip != nil {
					doc = s.rows.strip(doc)
				}
				add(doc, rows)
				return turn.Check(ctx)
			}))
	}
}

// docs returns the documents of the rows with the top-level fields on some paths.
func (s *storedSelection) docs(ctx context.Context, paths []string) index.Docs {
	fields := slices.Clone(paths)
	for i, path := range paths {
		fields[i], _, _ = strings.Cut(path, ".")
	}
	return func(add func(bson.Raw, int)) error {
		q := s.reading(fields)
		q.AtOnce = true
		for doc, err := range s.documents(ctx, q, nil) {
			if err != nil {
				return err
			}
			add(doc, 1)
		}
		return nil
	}
}
