package query

import (
	"slices"
	"strings"

	"vitrine/rules/suggest"
)

// meanings has the names that other systems have for parameters of the API. A hint names only those that the
// endpoint reads; of several, the first.
var meanings = suggest.Meanings{
	{Word: "limit", Others: "per_page per-page perpage page_size page-size pagesize size rows max maxresults " +
		"max_results top num take"},
	{Word: "offset", Others: "start skip from startrecord start_index startindex"},
	{Word: WordsParam, Others: "query text term find search keywords fulltext"},
	{Word: "search", Others: "q query text term find"},
	{Word: "filter", Others: "where criteria"},
	{Word: "columns", Others: "fields field select properties attributes"},
	{Word: "aggregate", Others: "group groupby group_by facet facets"},
	{Word: SortParam, Others: "order order_by order-by orderby sort_by sort-by sortby sorting ordering"},
	{Word: "user", Others: "person author autor name staff username"},
	{Word: "type", Others: "category kind"},
	{Word: "lang", Others: "language locale"},
	{Word: KeyParam, Others: "x-api-key"},
}

// advice says what takes the place of parameters that no single one of the API has the meaning of.
type advice struct {
	others string   // the names of other systems, in small letters
	needs  []string // parameters that the endpoint has to read, for the text to be right
	text   string   // for headers: ASCII
}

var advices = []advice{
	{"page page_number page-number pagenumber pageno", []string{"offset", "limit"}, "use offset and limit"},
	{"cursor after page_token", []string{"offset", "limit"}, "use offset and limit"},
	{"direction dir sort_dir sort_order sortorder desc descending", []string{SortParam},
		"use sort=-FIELD for descending order"},
	{"format output", nil, "answers are JSON; public lists have CSV and other formats"},
}

// hint returns what takes the place of an ignored parameter, in parentheses after a space, or "". read are the
// parameters of the endpoint.
//
//	per_page   " (use limit)"
//	limt       " (did you mean limit?)"
func hint(name string, read []string) string {
	if word := meanings.Same(name, read); word != "" {
		if word == "columns" {
			word = "columns[]"
		}
		return " (use " + word + ")"
	}
	for _, a := range advices {
		unread := func(needed string) bool { return !slices.Contains(read, needed) }
		if slices.Contains(strings.Fields(a.others), strings.ToLower(name)) && !slices.ContainsFunc(a.needs, unread) {
			return " (" + a.text + ")"
		}
	}
	return didYouMean("", meanings.Near(name, read))
}
