package csl

import (
	"strconv"
	"strings"
)

// variableTerms are the terms of number variables that have another name than the variable.
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
func (c *run) label(o *op) (*box, status) {
	variable, value := o.name, c.it.texts[o.name]
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
	return c.decorate(o, c.leaf(c.locale.text(name, o.form, plural))), status{}
}

// isPlural reports whether a variable takes the plural of its term: its value is several numbers, or a count other
// than one.
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
