package byline

import (
	"cmp"
	"slices"
	"strings"

	"vitrine/rules/render/names"
)

// spellings returns the forms in which citations have a name, the longest first. A suffix stands after the family
// name or after the whole name, with or without its stop and a comma, or is missing.
func spellings(form names.Style, who Person) []string {
	all := []string{form.Text(who)}
	if who.Suffix == "" {
		return all
	}
	bare := who
	bare.Suffix = ""
	all = append(all, form.Text(bare))
	for _, suffix := range [...]string{who.Suffix, strings.TrimSuffix(who.Suffix, ".")} {
		for _, separator := range [...]string{" ", ", "} {
			after := bare
			after.Last += separator + suffix
			all = append(all, form.Text(after), form.Text(bare)+separator+suffix)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return all
}
