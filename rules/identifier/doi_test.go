package identifier_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/identifier"
)

const sici = "10.1002/1097-4636(20011205)57:3<432::AID-JBM1186>3.0.CO;2-G"

func TestDOI(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		// Forms of one DOI.
		{sici, sici},
		{"https://doi.org/10.1002/1097-4636(20011205)57:3%3C432::AID-JBM1186%3E3.0.CO;2-G", sici},
		{"https://doi.org/10.1002/1097-4636%2820011205%2957%3A3%3C432%3A%3AAID-JBM1186%3E3.0.CO%3B2-G", sici},
		{"https://doi.org/" + sici, sici},
		{"doi:" + sici, sici},
		{strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(sici), sici},
		{"10.5555/a&amp;b&amp;lt;c&amp;amp;", "10.5555/a&b<c&"},
		{"https://doi.org/10.5555/a%26lt%3Bb", "10.5555/a<b"},
		{"https://doi.org/10.2307%2F1990888", "10.2307/1990888"},
		{"https://www.doi.org/10.5555/owl.1", "10.5555/owl.1"},
		{"http://www.dx.doi.org/10.5555/owl.1", "10.5555/owl.1"},
		{"dx.doi.org/10.5555/owl.1", "10.5555/owl.1"},
		{"//doi.org/10.5555/owl.1", "10.5555/owl.1"},
		{"info:doi/10.5555/owl.2", "10.5555/owl.2"},
		{"info:doi/10.5555/a%3Cb%3E", "10.5555/a<b>"},
		{"urn:doi:10.5555/owl.2", "10.5555/owl.2"},
		{"DOI 10.5555/owl.3", "10.5555/owl.3"},
		{"DOI: 10.5555/owl.3", "10.5555/owl.3"},
		{"doi=10.5555/owl.3", "10.5555/owl.3"},
		{"doi10.5555/owl.3", "10.5555/owl.3"},
		{"doi:doi:10.5555/owl.3", "10.5555/owl.3"},
		{"doi:https://doi.org/10.5555/owl.4", "10.5555/owl.4"},
		{"http://doi.org/doi:10.1234.56.7/x", "10.1234.56.7/x"},
		{"https://doi.org/https://doi.org/10.5555/owl.4", "10.5555/owl.4"},
		{"https://doi.org/https%3A%2F%2Fdoi.org%2F10.5555%2Fowl.4", "10.5555/owl.4"},
		{"https://dx.doi.org/DOI%2010.5555/owl.4", "10.5555/owl.4"},
		{"http://https://doi.org/10.5555/owl.4", "10.5555/owl.4"},
		{"https//doi.org/10.5555/owl.4", "10.5555/owl.4"},
		{"https:/doi.org/10.5555/owl.4", "10.5555/owl.4"},
		{"https://doi.org//10.5555/owl.4", "10.5555/owl.4"},
		{"https://10.5555/owl.4", "10.5555/owl.4"},
		{"HTTPS://DOI.ORG/10.5555/OWL.8", "10.5555/OWL.8"},
		{"Http://Dx.Doi.Org/10.5555/Owl.8", "10.5555/Owl.8"},
		{"https://doi.org/10.5555/owl.5/", "10.5555/owl.5"},
		{"https://doi.org/10.5555/owl.5?utm_source=rss&utm_medium=feed", "10.5555/owl.5"},
		{"https://doi.org/10.5555/owl.5/?fbclid=x", "10.5555/owl.5"},
		{"https://doi.org/10.5555/owl?x=1&utm_source=rss&y=2", "10.5555/owl?x=1&y=2"},
		{"https://doi.org/10.5555/owl.5#abstract", "10.5555/owl.5"},
		{"https://doi.org/10.5555/ owl.\n5", "10.5555/owl.5"},
		{"https://doi.org/%2010.5555/owl.5%20", "10.5555/owl.5"},
		{"https://doi.org/10.5555/owl\u200b.5\ufeff", "10.5555/owl.5"},
		{"https://doi.org/10.5555/owl.5%E2%80%8B", "10.5555/owl.5"},
		{"\u200b10.5555/owl\u00ad.5\u00a0", "10.5555/owl.5"},
		{"<https://doi.org/10.5555/owl.5>", "10.5555/owl.5"},
		{"(doi:10.5555/owl(5))", "10.5555/owl(5)"},
		{"{10.5555/owl{5}}", "10.5555/owl{5}"},

		// What belongs to a DOI.
		{" doi: 10.1234/X(1)<2> ", "10.1234/X(1)<2>"},
		{"10.1002/(sici)1099-050x(199823/24)37:3/4<197::aid-hrm2>3.0.co;2-#",
			"10.1002/(sici)1099-050x(199823/24)37:3/4<197::aid-hrm2>3.0.co;2-#"},
		{"https://doi.org/10.1002/(sici)1099-050x(199823/24)37:3/4<197::aid-hrm2>3.0.co;2-#",
			"10.1002/(sici)1099-050x(199823/24)37:3/4<197::aid-hrm2>3.0.co;2-#"},
		{"https://doi.org/10.1002/(sici)1099-050x(199823/24)37:3/4%3C197::aid-hrm2%3E3.0.co;2-%23",
			"10.1002/(sici)1099-050x(199823/24)37:3/4<197::aid-hrm2>3.0.co;2-#"},
		{"10.5555/a%b", "10.5555/a%b"},
		{"10.5555/a%3Cb", "10.5555/a%3Cb"},
		{"doi:10.5555/a%3Cb", "10.5555/a%3Cb"},
		{"https://doi.org/10.5555/a%b", "10.5555/a%b"},
		{"https://doi.org/10.5555/a%253Cb", "10.5555/a%3Cb"},
		{"https://doi.org/10.5555/a%FFb", "10.5555/a%FFb"},
		{"10.5555/owl?x=1&y=2", "10.5555/owl?x=1&y=2"},
		{"10.5555/owl?utm_source=1", "10.5555/owl?utm_source=1"},
		{"10.5555/owl.6.", "10.5555/owl.6."},
		{"https://doi.org/10.5555/owl.6.", "10.5555/owl.6."},
		{"10.5555/owl/", "10.5555/owl/"},
		{"10.1002/(SICI)1097-0274(199909)36:1+<1::AID-AJIM2>3.0.CO;2-0",
			"10.1002/(SICI)1097-0274(199909)36:1+<1::AID-AJIM2>3.0.CO;2-0"},
		{"https://doi.org/10.5555/a+b", "10.5555/a+b"},
		{"10.5555/owl{11}", "10.5555/owl{11}"},
		{"10.5555/äö", "10.5555/äö"},
		{"https://doi.org/10.5555/%C3%A4", "10.5555/ä"},

		// More than a DOI.
		{"10.5555/owl.1 [doi]", "10.5555/owl.1"},
		{"10.5555/owl.1; 10.5555/owl.2", "10.5555/owl.1"},
		{"https://doi.org/10.5555/owl.1, https://doi.org/10.5555/owl.2", "10.5555/owl.1"},
		{"doi: 10.5555/owl.1 PMID: 31452104", "10.5555/owl.1"},

		// Other texts.
		{"", ""},
		{"doi", ""},
		{"doi:", ""},
		{"10.1234/", ""},
		{"10.1234", ""},
		{"10.123/x", ""},
		{"10.1234567890/x", ""},
		{"10.1234./x", ""},
		{"10.12a4/x", ""},
		{"11.1234/x", ""},
		{"10.1234/a b", ""},
		{"10.1234/a\u2028b", ""},
		{"10.1234/a\x00b", ""},
		{"10.1234/a\xffb", ""},
		{"https://doi.org/gf4s", ""},
		{"https://doi.org/", ""},
		{"https://doi.organisation.example/10.1234/x", ""},
		{"https://doi.org.example/10.1234/x", ""},
		{"https://example.org/10.1234/x", ""},
		{"https://publisher.example/articles/77", ""},
		{"javascript:10.1234/x", ""},
		{"owls 10.1234/x", ""},
	} {
		got := identifier.DOI(tt.in)
		assert.Equal(t, tt.want, got, "%q", tt.in)
		assert.Equal(t, got, identifier.DOI(got), "%q twice", tt.in)
		if got != "" {
			assert.Equal(t, strings.TrimSuffix(got, "/"), identifier.DOI(identifier.DOIAddress(got)), "%q in a link",
				tt.in)
		}
	}
}

func TestBare(t *testing.T) {
	for in, want := range map[string]string{
		"doi: anything ": "anything", "https://example.org/x": "https://example.org/x", "https://doi.org/": "",
		"none":                       "none",
		"10.1000/(sici) 1<2>3?x#y%z": "10.1000/(sici) 1<2>3?x#y%z", "DOI:10.1/x": "10.1/x",
	} {
		assert.Equal(t, want, identifier.Bare(in), in)
	}
}

func TestDOIAddress(t *testing.T) {
	assert.Empty(t, identifier.DOIAddress(""))
	assert.Equal(t, "https://doi.org/10.1234/x(1)%3C2%3E;%22%27", identifier.DOIAddress("10.1234/x(1)<2>;\"'"))
	assert.Equal(t, "https://doi.org/a%20%C3%A4%3F%23!*", identifier.DOIAddress("a ä?#!*"))
	assert.Equal(t, "https://doi.org/10.5555/a%25b", identifier.DOIAddress("10.5555/a%b"))
}

func TestDOIKey(t *testing.T) {
	for in, want := range map[string]string{"": "", "10.5555/owl": "10.5555/owl",
		"10.5555/OWL.Äö": "10.5555/owl.Äö"} {
		assert.Equal(t, want, identifier.DOIKey(in))
	}
}

func TestFirst(t *testing.T) {
	text := func(s any) bson.RawValue {
		kind, value, err := bson.MarshalValue(s)
		assert.NoError(t, err)
		return bson.RawValue{Type: kind, Value: value}
	}
	for _, tt := range []struct {
		in   any
		want string
	}{
		{"doi:10.5555/owl.12", "10.5555/owl.12"},
		{bson.A{"10.5555/owl.12"}, "10.5555/owl.12"},
		{bson.A{nil, 7, "none", "10.5555/owl.12", "10.5555/owl.13"}, "10.5555/owl.12"},
		{bson.A{}, ""}, {10.5555, ""}, {bson.D{{Key: "doi", Value: "10.5555/owl.12"}}, ""},
	} {
		assert.Equal(t, tt.want, identifier.First(text(tt.in), identifier.DOI), "%v", tt.in)
	}
	assert.Empty(t, identifier.First(bson.RawValue{}, identifier.DOI))
}
