package compare

import (
	"vitrine/rules/markup"
)

// cleanings returns the differences between the old text and its cleaned form. It computes them once for each pair of
// texts.
func (a *answers) cleanings() map[change]bool {
	if a.cleaned != nil || a.markup == nil || len(a.markup.old) > mostMatched {
		return a.cleaned
	}
	all, emit, of := map[change]bool{}, a.emit, *a.markup
	a.emit = func(d Difference) { all[change{d.Kind, d.Path, d.Old, d.New}] = true }
	for _, clean := range []string{markup.Clean(of.old), storedText(of.old)} {
		a.html(of.path, of.old, clean)
	}
	a.emit, a.cleaned = emit, all
	return all
}
