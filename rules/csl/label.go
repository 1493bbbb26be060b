package csl

import (
	"strconv"
	"strings"
)

// terms are the terms of number variables that are not called as the variable is.
var variableTerms = map[string]string{"part-number": "part", "supplement-number": "supplement",
	"printing-number": "printing"}

// termOf returns the name of a variable's term.
func termOf(variable string) string {
	if name, ok := variableTerms[variable]; ok {
		return name
	}
	return variable
}

// label renders a cs:label of a number variable, unless the variable is empty.
func (c *run) label(o *op, variable string, _ bool) (*box, status) {
	value := c.it.texts[variable]
	if variable == "locator" { // a bibliography has none: citeproc-js takes it for a page
		variable = "page"
	} else if value == "" && !(variable == "page" && c.it.texts["number-of-pages"] != "") {
		return nil, status{} // styles also use the label of pages for their number
	}
	plural := false
	switch o.plural {
	case "always":
		plural = true
	case "never":
	default:
		plural = isPlural(variable, value)
	}
	name := termOf(variable)
	return c.decorate(o, c.leaf(c.locale.text(name, o.form, plural))), status{term: true}
}

// isPlural reports whether the value of a variable is several: several numbers, or a count of more than one.
func isPlural(variable, value string) bool {
	if strings.HasPrefix(variable, "number-of-") {
		n, err := strconv.Atoi(strings.TrimSpace(value))
		return err == nil && n != 1 || err != nil && isSeveral(value)
	}
	return isSeveral(value)
}

// isSeveral reports whether a text is a list or a range of numbers.
func isSeveral(s string) bool {
	count := 0
	for token := range numberTokens(strings.ReplaceAll(s, `\-`, "")) {
		if isPage(token) {
			count++
		}
	}
	return count > 1
}
