package page

import (
	"net/url"
	"strings"
	"unicode"

	"vitrine/rules/markup"
)

// Person is what a list shows of a person. All fields are plain texts. A field is empty if the rules or the record
// do not allow it, or if the request does not ask for it.
type Person struct {
	AcademicTitle string
	Name          string // for the alternative text of the photo
	Photo         string // the address of an image
	Position      string
	Mail          string
	Phone         string
	Room          string
	Profiles      []Link
}

// card writes a person: the photo, and beside it the name and the rest. name is HTML and may be empty.
func (f *fragment) card(p *Person, name string, units []Unit) {
	f.photo(p)
	f.write(`<div class="vl-about">`)
	if name != "" {
		f.write(`<div class="vl-citation" dir="auto">`)
		if p.AcademicTitle != "" && !strings.HasPrefix(p.Name, p.AcademicTitle) {
			f.write(text(p.AcademicTitle), " ")
		}
		f.write(name, "</div>")
	}
	if p.Position != "" {
		f.write(`<p class="vl-position" dir="auto">`, text(p.Position), "</p>")
	}
	f.units(units, "")
	f.contact(p)
	if len(p.Profiles) > 0 {
		f.write(`<p class="vl-links">`)
		for _, link := range p.Profiles {
			f.link(link, "")
		}
		f.write("</p>")
	}
	f.write("</div>")
}

// photo writes the photo, if its address is one of the web. The size is in the attributes, so that the list does
// not move when the photo has loaded.
func (f *fragment) photo(p *Person) {
	if !markup.IsLink(p.Photo) {
		return
	}
	f.write(`<img class="vl-photo" src="`, address(p.Photo), `"`, attribute("alt", f.t.T("photo-of")+" "+p.Name),
		` width="96" height="96" loading="lazy" decoding="async" referrerpolicy="no-referrer">`)
}

// contact writes mail, telephone and room.
func (f *fragment) contact(p *Person) {
	if p.Mail+p.Phone+p.Room == "" {
		return
	}
	f.write(`<ul class="vl-contact">`)
	one := func(name, href, value string) {
		if value == "" {
			return
		}
		f.write("<li><span>", text(f.t.T(name)), ":</span> ")
		if href != "" {
			f.write(`<a href="`, address(href), `">`, text(value), "</a></li>")
		} else {
			f.write("<bdi>", text(value), "</bdi></li>")
		}
	}
	mail := ""
	if p.Mail != "" {
		mail = "mailto:" + url.PathEscape(p.Mail)
	}
	one("mail", mail, p.Mail)
	one("phone", dialled(p.Phone), p.Phone)
	one("room", "", p.Room)
	f.write("</ul>")
}

// dialled returns the address of a telephone number with its country code. It returns "" for other texts, such as
// an extension, because they cannot be dialled from anywhere.
//
//	+49 531 / 26-16   tel:+495312616
//	-142              ""
func dialled(phone string) string {
	number := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Zs, unicode.Pd) || r == '/' || r == '.' {
			return -1
		}
		return r
	}, strings.Replace(phone, "(0)", "", 1))
	digits, international := strings.CutPrefix(number, "+")
	if !international || len(digits) < 5 || strings.Trim(digits, "0123456789") != "" {
		return ""
	}
	return "tel:" + number
}
