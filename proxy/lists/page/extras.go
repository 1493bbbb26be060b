package page

import (
	"net/url"

	"vitrine/rules/markup"
)

// marks writes open access with the licence, and badges. own is our language if that of the item differs.
func (f *fragment) marks(it *Item, own string) {
	if !it.OpenAccess && it.Licence.Label == "" && len(it.Badges)+len(it.Figures) == 0 {
		return
	}
	f.write(`<ul class="vl-marks"`, attribute("lang", own), ">")
	if it.OpenAccess {
		f.write(`<li class="vl-oa">`, text(f.t.T("open-access")), "</li>")
	}
	if label := it.Licence.Label; markup.IsLink(it.Licence.Href) {
		f.write(`<li><a rel="license" href="`, address(it.Licence.Href), `">`, text(label), "</a></li>")
	} else if label != "" {
		f.write("<li>", text(label), "</li>")
	}
	// Badges are texts of the site's rules, so they are escaped like others.
	for _, badge := range it.Badges {
		f.write(`<li class="vl-badge">`, text(badge), "</li>")
	}
	// Without a script, and until the visitor agrees, there are only links to the pages of these services.
	for _, figure := range it.Figures {
		s := services[figure.Service]
		href := s.page + (&url.URL{Path: figure.DOI}).EscapedPath()
		f.write(`<li class="vl-badge"><a rel="nofollow noreferrer" href="`, address(href), `"`,
			attribute("data-badge", figure.Service), attribute("data-doi", figure.DOI), ">", text(s.name),
			"</a></li>")
	}
	f.write("</ul>")
}

// extras writes units, keywords and texts to unfold. other is the language of the item if it differs from ours,
// own; both are "" if the item is in our language.
func (f *fragment) extras(it *Item, own, other string) {
	f.units(it.Units, own)
	f.fact("keywords", it.Keywords, own, other)
	if len(it.Abstract) == 0 && it.BibTeX+it.RIS == "" {
		return
	}
	f.write(`<div class="vl-folds">`)
	if len(it.Abstract) > 0 {
		f.write(`<details class="vl-fold"><summary`, attribute("lang", own), ">", text(f.t.T("abstract")),
			"</summary>")
		for _, paragraph := range it.Abstract {
			f.write(`<p dir="auto">`, paragraph, "</p>")
		}
		f.write("</details>")
	}
	f.source("bibtex", it.BibTeX, it, ".bib", own)
	f.source("ris", it.RIS, it, ".ris", own)
	f.write("</div>")
}

// units writes units like keywords, as links or plain names.
func (f *fragment) units(all []Unit, own string) {
	var units []Link
	for _, u := range all {
		units = append(units, Link{Href: u.Href, Label: u.Name})
	}
	f.fact("units", units, own, "")
}

// fact writes a name and its values, if there are any. other is the language of the values if it is not own.
func (f *fragment) fact(name string, values []Link, own, other string) {
	if len(values) == 0 {
		return
	}
	rel := ""
	// Search engines do not follow links to filtered lists, and a keyword's list is one.
	if name == "keywords" {
		rel = "nofollow"
	}
	f.write(`<p class="vl-fact"`, attribute("lang", own), "><span>", text(f.t.T(name)), ":</span> ")
	for i, v := range values {
		if i > 0 {
			f.write(", ")
		}
		if markup.IsLink(v.Href) {
			f.write(`<a href="`, address(v.Href), `"`, attribute("rel", rel), attribute("lang", other), ">",
				text(v.Label), "</a>")
		} else {
			f.write("<bdi", attribute("lang", other), ">", text(v.Label), "</bdi>")
		}
	}
	f.write("</p>")
}

// source writes the item in a format of reference managers, to unfold. On our page there is a button to copy it,
// hidden until the script shows it; the element makes its own button. The link saves the file of the item's page.
func (f *fragment) source(name, source string, it *Item, suffix, own string) {
	if source == "" {
		return
	}
	id := ""
	if f.onPage {
		id = f.unique(f.id + "__" + idOf(it.ID) + "_" + name)
	}
	f.write(`<details class="vl-fold"`, attribute("lang", own), "><summary>", text(f.t.T(name)), "</summary><pre",
		attribute("id", id), ">", text(source), "</pre>")
	if f.onPage {
		f.write(`<button type="button" hidden`, attribute("data-copy", id), attribute("data-done", f.t.T("copied")),
			">", text(f.t.T("copy")+" ("+suffix+")"), "</button> ")
	}
	if markup.IsLink(it.Href) {
		f.write(`<a href="`, address(it.Href+suffix), `"`, attribute("download", it.Key+suffix), ">",
			text(f.t.T("save")+" ("+suffix+")"), "</a>")
	}
	f.write("</details>")
}
