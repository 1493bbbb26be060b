package person_test

import (
	"strconv"
	"testing"
)

// TestWholeNames: whole names with a conjunction or a semicolon between them are persons.
func TestWholeNames(t *testing.T) {
	const both = "Quill|Ada; Fern|Bo"
	check(t, [][2]string{
		{`"Ada Quill and Bo Fern"`, both},
		{`"Ada Quill und Bo Fern"`, both},
		{`"Ada Quill & Bo Fern"`, both},
		{`"Ada Quill &amp; Bo Fern"`, both},
		{`"Ada Quill et Bo Fern"`, both},
		{`"Ada Quill AND Bo Fern"`, both},
		{`"Ada Quill; Bo Fern"`, both},
		{`"Ada Quill; and Bo Fern"`, both},
		{`["Ada Quill and Bo Fern"]`, both},
		{`[{"last": "Ada Quill and Bo Fern"}]`, both},
		{`[{"name": "Ada Quill and Bo Fern", "user": ""}]`, both},
		{`"Ada Quill and Bo Fern and Cy Plus"`, both + "; Plus|Cy"},
		{`"Ada Quill and Bo Fern et al."`, both + "; +"}, {`"Ada Quill; Bo Fern; et al."`, both + "; +"},
		{`"Ada Quill; Bo Fern; …"`, both + "; +"}, {`"Ada Quill; et al."`, "=Ada Quill; +"},
		{`"Ada Quill* and Bo Fern†"`, both},
		{`"Dr. Ada Quill and Bo Fern"`, both},
		{`"Ada Quill and Bo Fern Jr."`, both + "|Jr."},
		{`"Ada Quill, PhD, and Bo Fern"`, both},
		{`"Prof. Quill und Dr. Fern"`, "Quill; Fern"},
		{`"Ada B. Quill and Bo van den Fern-O'Brien"`, "Quill|Ada B.; van den Fern-O'Brien|Bo"},
		{`"Zoë Müller und Seán McDonald"`, "Müller|Zoë; McDonald|Seán"},
		{`"Анна Каренина and Bo Fern"`, "Каренина|Анна; Fern|Bo"},
		{`"A. Quill and Bo Fern"`, "Quill|A.; Fern|Bo"},
	})
}

// TestOneName: a text stays as it is if a part may be something else than a whole name.
func TestOneName(t *testing.T) {
	for _, name := range []string{
		// A half of one word.
		"Simon and Schuster", "Procter & Gamble", "Marks and Spencer", "Ernst & Young", "Barnes & Noble Booksellers",
		"Smith and Wesson Holdings", "Ada and Bo Fern", "Quill and Fern", "Bosnia and Herzegovina",
		"Johnson & Johnson",
		"Farrar Straus and Giroux", "Food and Drug Administration", "Ada Quill and Friends", "Owl & Sons",
		// Words of organisations.
		"Department of Agriculture and Forestry", "National Oceanic and Atmospheric Administration",
		"Food and Agriculture Organization", "Royal Botanic Gardens and National Herbarium",
		"World Bank and Asian Development Bank", "Health Canada and Environment Canada",
		"Natural History Museum and Botanic Garden Berlin", "Ministry of Health and Social Care",
		"Pacific Gas and Electric Company", "William Collins and Sons Limited", "William Collins & Sons Ltd.",
		"Owl Research and Moth Studies", "Climate Change and Human Health", "Animal Behaviour and Cognitive Ecology",
		"Computer Science and Artificial Intelligence", "Deutsche Bahn und Deutsche Post",
		"Institut für Bildung und Forschung", "Naturkunde Berlin und Naturforschung Potsdam",
		"Senckenberg Gesellschaft und Naturmuseum Frankfurt", "Bayerische Akademie und Technische Hochschule",
		"Stadt Jena und Landkreis Greiz", "Amt Nord und Amt Süd", "New York and Los Angeles",
		"North America and South Africa", "Sankt Gallen und Appenzell Innerrhoden",
		"United Nations and European Union",
		"Springer Nature and Oxford Press", "Ada Quill GmbH und Bo Fern AG", "Quill Partners and Fern Associates",
		"Ada Quill Foundation and Bo Fern Trust", "Civil Engineering and Building Technology",
		"The Owls and The Moths", "Die Eulen und Die Motten", "La Luna et Le Soleil", "Moth Group and Owl Team",
		"Sociology Group and Media Lab", "International Moth and Owl Club", "Water Resources & Land Management",
		"Digital Humanities and Data Services", "Children's Hospital and Women's Clinic",
		// Not certain for another reason.
		"ADA QUILL AND BO FERN", "NASA Ames and ESA Estec", "ada quill and bo fern", "Ada Quill and bo fern",
		"José Ortega y García Lorca", "Ana Costa e Silva Pinto", "Ada Quill 2 and Bo Fern", "Ada Quill and {Bo Fern}",
		"Ada Quill and Bo", "王 小明 and 李 华", "Ada Quill / Bo Fern", "Ada Bo Cy De Ed Quill and Bo Fern",
		"Quill, Fern and Cy Plus", "van Quill Ada and Bo Fern",
	} {
		if got := read(t, strconv.Quote(name)); got != "="+name {
			t.Errorf("%s is %s", name, got)
		}
	}
	check(t, [][2]string{
		{`"Ada Quill; Moth Society"`, "=Ada Quill; =Moth Society"},
		{`"Ada Quill; Fern, Bo"`, "=Ada Quill; Fern|Bo"},
		{`[{"last": "Ada Quill and Bo Fern", "user": "x"}]`, "Ada Quill and Bo Fern"},
	})
}
