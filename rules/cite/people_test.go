package cite_test

import (
	"fmt"
	"strings"
	"testing"

	"vitrine/configs"
	"vitrine/rules"
	"vitrine/rules/cite"
)

// profileOf returns what lists show of a person, in English and German.
func profileOf(t *testing.T, fields string) string {
	t.Helper()
	m, err := cite.Load(configs.CiteRules())
	if err != nil {
		t.Fatal(err)
	}
	it := read(t, rules.ViewPersons, `{"_id": 1, "username": "u", "last": "Moe", `+fields+`}`)
	p := it.Profile
	all := []string{p.AcademicTitle, p.PositionIn("en"), p.PositionIn("de"), fmt.Sprint(p.Pictured), p.Photo, p.Mail,
		p.Phone, p.Room}
	for _, l := range p.Links {
		all = append(all, m.LinkName(l, "en")+" "+m.LinkName(l, "de")+" "+l.Href)
	}
	return strings.TrimRight(strings.Join(all, "|"), "|")
}

// TestProfile: a profile has what the built-in rules allow, and of contact only what the record's own flag releases.
// Values that are no text, no address of the web or of mail, or that could run, are left out.
func TestProfile(t *testing.T) {
	contact := `"mail": "moe@hins.example", "telephone": "+49 5555 1", "room": "B 1", "photo": ` +
		`"https://www.hins.example/moe.jpg", `
	for _, tt := range []struct{ name, fields, want string }{
		{"nothing", `"x": 1`, "|||false"},
		{"position", `"academic_title": "Dr.", "position": "Keeper", "position_de": "Leitung"`,
			"Dr.|Keeper|Leitung|false"},
		{"one language", `"position_de": "Leitung"`, "|Leitung|Leitung|false"},
		{"without flags", contact + `"x": 1`, "|||false"},
		{"flags", contact + `"public_image": true, "public_email": 1, "public_phone": "1", "public_room": "true"`,
			"|||true|https://www.hins.example/moe.jpg|moe@hins.example|+49 5555 1|B 1"},
		{"denied", contact + `"public_image": false, "public_email": 0, "public_phone": "0", "public_room": null`,
			"|||false"},
		{"unclear flags", contact + `"public_image": "yes", "public_email": 2, "public_phone": [true], ` +
			`"public_room": {"a": true}`, "|||false"},
		{"no photo but the permission", `"public_image": true`, "|||true"},
		{"a script for a photo", `"public_image": true, "photo": "javascript:alert(1)"`, "|||true"},
		{"data for a photo", `"public_image": true, "photo": "data:image/png;base64,AAAA"`, "|||true"},
		{"a path for a photo", `"public_image": true, "photo": "/img/moe.jpg"`, "|||true"},
		{"a password in an address", `"public_image": true, "photo": "https://a:b@hins.example/x.jpg"`, "|||true"},
		{"the first that is one", `"public_image": true, "photo": ["x", "https://hins.example/a.jpg"]`,
			"|||true|https://hins.example/a.jpg"},
		{"markup", `"position": "<b onclick='x'>Keeper</b> &amp; <script>alert(1)</script>guide"`,
			"|Keeper & guide|Keeper & guide|false"},
		{"objects", `"position": {"en": "x"}, "academic_title": [{"a": 1}], "public_phone": true, ` +
			`"telephone": {"a": "1"}, "public_room": true, "room": 12`, "|||false||||12"},
		{"no mail", `"public_email": true, "mail": "moe@hins.example?cc=x@y.example"`, "|||false"},
		{"a name and mail", `"public_email": true, "mail": "Moe <moe@hins.example>"`, "|||false"},
		{"lines in mail", `"public_email": true, "mail": "moe@hins.example\r\nBcc: x@y.example"`, "|||false"},
		{"the first mail", `"public_email": true, "mail": [null, "x", "moe@hins.example"]`,
			"|||false||moe@hins.example"},
		{"links", `"webpage": "www.hins.example/~moe", "google_scholar": "abC_-1", "socials": {"github": "moe", ` +
			`"mastodon": "https://social.example/@moe", "unknown": "https://x.example", "youtube": "moe"}`,
			"|||false|||||Homepage Webseite https://www.hins.example/~moe|Google Scholar Google Scholar " +
				"https://scholar.google.com/citations?user=abC_-1|GitHub GitHub https://github.com/moe|Mastodon " +
				"Mastodon " +
				"https://social.example/@moe"},
		{"hostile links", `"webpage": "javascript:alert(1)", "google_scholar": "x&y=<z>", "researchgate": "../x", ` +
			`"linkedin": {"a": 1}, "socials": {"github": "a b", "mastodon": "data:text/html,x", "bluesky": ["//x"]}`,
			"|||false"},
		{"socials of another type", `"socials": ["https://x.example"]`, "|||false"},
	} {
		if got := profileOf(t, tt.fields); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	long := profileOf(t, `"position": "`+strings.Repeat("ö", 1000)+`", "webpage": "https://x.example/`+
		strings.Repeat("a", 5000)+`"`)
	if len(long) > 700 || strings.Contains(long, "x.example") {
		t.Errorf("a long position and address: %d bytes", len(long))
	}
}

// TestPhone: what has the shape of a telephone number is one, as it is stored; anything else in its place is left
// out.
func TestPhone(t *testing.T) {
	for stored, want := range map[string]string{
		`"+49 531 2616-101"`: "+49 531 2616-101", `"+49 (0)531 / 26 16"`: "+49 (0)531 / 26 16",
		`"0531.2616"`: "0531.2616", `"-142"`: "-142", `"(0531) 26-16 (0)"`: "(0531) 26-16 (0)",
		`" +49\u00a05555 1 "`: "+49\u00a05555 1", `"+49 531 26–16"`: "+49 531 26–16",
		`"555-1234 ext. 12"`: "555-1234 ext. 12", `"555 1234 x12"`: "555 1234 x12",
		`"0531 26 App. 7"`: "0531 26 App. 7", `"+1-555-1234;ext=7"`: "+1-555-1234;ext=7", `4953126`: "4953126",
		`["ask Ann", "+49 5555 2"]`: "+49 5555 2", `["+49 5555 1", "+49 5555 2"]`: "+49 5555 1",
		`"<b>+49 5555 1</b>"`: "+49 5555 1",
		`"ask the porter"`:    "", `"+49 5555 1 (private, do not publish)"`: "", `"javascript:alert(1)"`: "",
		`"12345;url=https://x.example"`: "", `"+49 1\r\n+49 2"`: "", `"+49 1, +49 2"`: "", `"1++2"`: "",
		`"+"`: "", `"()"`: "", `"-"`: "", `""`: "", `true`: "", `{"a": "+49 5555 1"}`: "",
		`"` + strings.Repeat("1", 60) + `"`: "",
	} {
		it := read(t, rules.ViewPersons, `{"_id": 1, "username": "u", "public_phone": true, "telephone": `+
			stored+`}`)
		if got := it.Profile.Phone; got != want {
			t.Errorf("%s: %q, want %q", stored, got, want)
		}
	}
	it := read(t, rules.ViewPersons, `{"_id": 1, "username": "u", "public_phone": true,
		"contact_phone": "in the yearbook", "telephone": "+49 5555 3"}`)
	if got := it.Profile.Phone; got != "+49 5555 3" {
		t.Errorf("the first field with a number: %q", got)
	}
}

// TestProfileOfOthers: only persons have a profile.
func TestProfileOfOthers(t *testing.T) {
	it := read(t, rules.ViewActivities, `{"_id": 1, "position": "x", "webpage": "https://x.example"}`)
	if p := it.Profile; p.Position != "" || len(p.Links) > 0 {
		t.Errorf("an activity has %v", p)
	}
}

// TestPeopleRules: an institute decides what is shown, and mistakes in its rules have a place.
func TestPeopleRules(t *testing.T) {
	name, built := configs.CiteRules()
	before, _, _ := strings.Cut(string(built), "\npeople:")
	load := func(people string) (*cite.Mapping, error) {
		return cite.Load(name, []byte(before+"\npeople:\n"+people))
	}
	m, err := load("  mail: {fields: [mail], when: public_email, lacking: true}\n  phone: {fields: [phone]}\n" +
		"  links: [{name: {en: Lab, de: Labor}, field: lab, when: show_lab}]\n")
	if err != nil {
		t.Fatal(err)
	}
	var it cite.Item
	for record, want := range map[string]string{
		`{"mail": "a@b.example", "phone": "1", "lab": "https://lab.example", "position": "x"}`:      "a@b.example 1 []",
		`{"mail": "a@b.example", "public_email": false, "show_lab": 1, "lab": "lab.example/x"}`:     "  [Labor]",
		`{"mail": "a@b.example", "public_email": "no", "show_lab": "x", "lab": "https://lab.test"}`: "  []",
	} {
		m.View(rules.ViewPersons).Make(doc(t, record), nil, &it)
		names := []string{}
		for _, l := range it.Profile.Links {
			names = append(names, m.LinkName(l, "de"))
		}
		if got := fmt.Sprint(it.Profile.Mail, " ", it.Profile.Phone, " ", names); got != want {
			t.Errorf("%s: %s, want %s", record, got, want)
		}
	}
	for people, want := range map[string]string{
		"  fax: {fields: [fax]}\n":                                    "people.fax: unknown property of persons",
		"  mail: {when: x}\n":                                         "people.mail: needs fields",
		"  mail: {fields: [a.b]}\n":                                   `"a.b" is not the name`,
		"  mail: {fields: [a], lacking: true}\n":                      "people.mail.lacking: expected true or false",
		"  mail: {fields: [a], if: b}\n":                              "people.mail.if: unknown key",
		"  links: {a: b}\n":                                           "people.links: expected a list of rules",
		"  links: [{name: X}]\n":                                      "people.links.1: needs a name and a field",
		"  links: [{name: {en: X}, field: a}]\n":                      "people.links.1.name: expected a name",
		"  links: [{name: X, field: a, url: 'javascript:{value}'}]\n": "people.links.1.url: expected a web address",
	} {
		if _, err := load(people); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", people, err, want)
		}
	}
}
