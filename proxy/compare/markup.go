package compare

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/text/language"
	regions "golang.org/x/text/language/display"

	"vitrine/rules/display"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// cleaned: the new side has no markup that is not on its allow-list. Cleaning the old value makes the same change at
// the same place.
func cleaned(d Difference) bool {
	switch {
	case d.about == nil || len(d.Old) > mostMatched || len(d.New) > mostMatched:
		return false
	case d.Kind == FieldChanged && len(d.was) > 0 && d.was[0] == '"' && len(d.is) > 0 && d.is[0] == '"':
		return d.New == markup.Clean(d.Old) || d.New == storedText(d.Old)
	case d.Kind == Words || d.Kind == Tag || d.Kind == Attribute:
		return d.about.cleanings()[change{d.Kind, d.Path, d.Old, d.New}]
	}
	return false
}

// noWebAddress: an address such as javascript:… is left out.
func noWebAddress(d Difference) bool {
	return string(d.is) == "null" && len(d.was) > 2 && d.was[0] == '"' && len(d.was) <= mostURL &&
		markup.WebURL(decoded[string](d.was)) == ""
}

// storedText returns a text as the API has stored ones that may have markup.
func storedText(text string) string {
	return display.Text(display.Stored("title", raw.NewString(text)))
}

// badge: tags around a label, without words of their own, that show how it looks.
func badge(d Difference) bool {
	if d.Kind != Tag || d.New != "" || len(d.Old) > mostMatched {
		return false
	}
	z := html.NewTokenizer(strings.NewReader(d.Old))
	for z.Next() != html.ErrorToken {
		t := z.Token()
		switch {
		case t.Type == html.TextToken && strings.TrimSpace(t.Data) == "", t.Type == html.EndTagToken &&
			(t.Data == "span" || t.Data == "i"):
			continue
		case t.Type != html.StartTagToken || t.Data != "span" && t.Data != "i":
			return false
		}
		for _, one := range t.Attr {
			if one.Key != "style" && (one.Key != "class" || !strings.Contains(one.Val, "badge") &&
				!strings.Contains(one.Val, "ph")) {
				return false
			}
		}
	}
	return true
}

// onlyLinks returns the addresses of the links in a run of tags that has only the start and end tags of links, and
// whether it is one.
func onlyLinks(run string) (addresses []string, ok bool) {
	if len(run) > mostMatched {
		return nil, false
	}
	z := html.NewTokenizer(strings.NewReader(run))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return addresses, true
		case html.StartTagToken:
			t := z.Token()
			if t.Data != "a" {
				return nil, false
			}
			for _, a := range t.Attr {
				if a.Key == "href" {
					addresses = append(addresses, a.Val)
				}
			}
		case html.EndTagToken:
			if t := z.Token(); t.Data != "a" {
				return nil, false
			}
		default:
			if strings.TrimSpace(string(z.Raw())) != "" {
				return nil, false
			}
		}
	}
}

// linkOfRow: the new side alone has a link, and it leads to the activity whose row it is in. An end tag of a link
// belongs to one that has been looked at.
func linkOfRow(d Difference) bool {
	if d.Kind != Tag || d.Old != "" {
		return false
	}
	addresses, ok := onlyLinks(d.New)
	for _, address := range addresses {
		if _, kind, id := recordOf(address); kind != "activity" || id != d.record {
			return false
		}
	}
	return ok
}

// linkOfPerson: the old side alone has a link, and it leads to a person.
func linkOfPerson(d Difference) bool {
	if d.Kind != Tag || d.New != "" {
		return false
	}
	addresses, ok := onlyLinks(d.Old)
	for _, address := range addresses {
		if _, kind, _ := recordOf(address); kind != "person" {
			return false
		}
	}
	return ok
}

// icons matches a run of tags that shows the icons of files, each in a link to the file.
var icons = regexp.MustCompile(`^` + icon + `(?: ` + icon + `)*$`)

const icon = `<a [^>]*\bhref="[^">]*/uploads/[^">]*"[^>]*> <i class="[^">]*\bph-file[^">]*"> </i> </a>`

// fileIcon: the icons of an activity's files, which the new side does not show. The icon of its type may look so.
func fileIcon(d Difference) bool {
	return d.Kind == Tag && d.New == "" && len(d.Old) <= mostMatched && icons.MatchString(d.Old) &&
		!strings.Contains(d.Path, ".icon")
}

// hexID matches an ObjectID with the punctuation around it.
var hexID = regexp.MustCompile(`^([(]?)[0-9a-f]{24}([).,;:]*)$`)

// bareID: the id of a record, where the old side has no name for it. What is around it stays.
func bareID(d Difference) bool {
	found := hexID.FindStringSubmatch(d.Old)
	return d.Kind == Words && found != nil && (d.New == "" || d.New == found[1]+found[2])
}

// code matches the code of a country with the punctuation around it.
var code = regexp.MustCompile(`^(\(?)([A-Z]{2})([).,;:]*)$`)

// region: the name of a country, in English or German, and its code.
func region(d Difference) bool {
	found := code.FindStringSubmatch(d.New)
	if found == nil || len(d.Old) > mostShown || d.Kind != Words && d.Kind != FieldChanged {
		return false
	}
	name, before := strings.CutPrefix(d.Old, found[1])
	name, after := strings.CutSuffix(name, found[3])
	country, err := language.ParseRegion(found[2])
	if !before || !after || err != nil || !country.IsCountry() {
		return false
	}
	return name == regions.English.Regions().Name(country) || name == regions.German.Regions().Name(country)
}
