package cite

import (
	"net/url"
	"regexp"
	"strings"

	"vitrine/rules/markup"
)

// Profile is what lists show of a person beside the name, as far as the rules allow. Texts are plain, addresses
// those of the web. Only items of the view of persons have one.
type Profile struct {
	AcademicTitle string
	Position      string // in English, or as the record has it
	PositionDE    string
	Photo         string // an address; may be empty although the person is Pictured
	Pictured      bool   // the record allows to show a photo
	Mail          string
	Phone         string
	Room          string
	Links         []ProfileLink
}

// ProfileLink is an address of a person elsewhere. Mapping.LinkName has its name.
type ProfileLink struct {
	rule int // the position of its rule
	Href string
}

// Unit is a unit of a person. Names are empty if they are not known.
type Unit struct{ ID, Name, NameDE string }

// PositionIn returns the position in a language, or else in the other one.
func (p *Profile) PositionIn(lang string) string {
	if lang == "de" && p.PositionDE != "" || p.Position == "" {
		return p.PositionDE
	}
	return p.Position
}

// Bounds of what a profile has: a card is a few lines, whatever the record holds.
const mostProfileText, mostAddress, mostUnits = 300, 2000, 50

// mailAddress matches an address that needs no quotes, and nothing that a program could take for more than one.
var mailAddress = regexp.MustCompile(`^[\pL\pN._+/=~!#$*^-]{1,64}@[\pL\pN-]+(\.[\pL\pN-]+)+$`)

// mailOf returns a text if it is an address of electronic mail, or "".
func mailOf(s string) string {
	if s = clean(s); len(s) <= mostProfileText && mailAddress.MatchString(s) {
		return s
	}
	return ""
}

// phoneNumber matches a telephone number as people write it: digits with spaces, brackets, hyphens, dashes, slashes
// and dots between them, an international "+" before them, and an extension behind.
var phoneNumber = regexp.MustCompile(`^\+?[0-9()/.\p{Zs}\p{Pd}]*[0-9]\)?` +
	`(?:,?\p{Zs}?(?i:ext\.?|extension|x|app\.?|apparat|dw|durchwahl|;ext=)\p{Zs}?[0-9]+)?$`)

// mostPhone is the most characters of a telephone number: the longest one has 15 digits, and extensions are short.
const mostPhone = 50

// phoneOf returns a text if it is a telephone number, or "": other text in its place may be a note that is not
// meant for the public.
func phoneOf(s string) string {
	if s = clean(s); len(s) <= mostPhone && phoneNumber.MatchString(s) {
		return s
	}
	return ""
}

// webAddress returns a text as an address of the web, or "": scripts and data in place of an address are none, nor
// is one with a password.
func webAddress(s string) string {
	address := markup.WebURL(clean(s))
	if u, err := url.Parse(address); err != nil || u.User != nil || len(address) > mostAddress {
		return ""
	}
	return address
}

var (
	// bareAddress matches an address that lacks its beginning: www.institute.example/~moe
	bareAddress = regexp.MustCompile(`^[\pL\pN-]+(\.[\pL\pN-]+)+(/[^\s]*)?$`)
	// accountName matches a name at another site. It has no character that means something in an address.
	accountName = regexp.MustCompile(`^@?[\pL\pN._~-]{1,100}$`)
)

// addressOf returns the address of a link by a stored value: an address, or a name that takes the place of {value} in
// form, which may be empty; or "".
func addressOf(form, value string) string {
	value = clean(value)
	switch address := webAddress(value); {
	case address != "":
		return address
	case form != "" && accountName.MatchString(value):
		return webAddress(strings.ReplaceAll(form, "{value}", url.PathEscape(value)))
	case form == "" && bareAddress.MatchString(value):
		return webAddress("https://" + value)
	}
	return ""
}
