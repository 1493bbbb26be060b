package cite_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"vitrine/configs"
	"vitrine/rules"
	"vitrine/rules/cite"
)

// What there is: the types of CSL 1.0.2, the reference types of RIS (Reference Manager's, and EndNote's additions),
// the entry types of BibTeX's standard styles, and those classes of schema.org that may name a kind of work.
var (
	cslTypes = strings.Fields(`article article-journal article-magazine article-newspaper bill book broadcast chapter
		classic collection dataset document entry entry-dictionary entry-encyclopedia event figure graphic hearing
		interview legal_case legislation manuscript map motion_picture musical_score pamphlet paper-conference patent
		performance periodical personal_communication post post-weblog regulation report review review-book software
		song speech standard thesis treaty webpage`)
	risTypes = strings.Fields(`ABST ADVS AGGR ANCIENT ART BILL BLOG BOOK CASE CHAP CHART CLSWK COMP CONF CPAPER CTLG
		DATA DBASE DICT EBOOK ECHAP EDBOOK EJOUR ELEC ENCYC EQUA FIGURE GEN GOVDOC GRANT HEAR ICOMM INPR JFULL JOUR
		LEGAL MANSCPT MAP MGZN MPCT MULTI MUSIC NEWS PAMP PAT PCOMM RPRT SER SLIDE SOUND STAND STAT THES UNBILL UNPB
		VIDEO WEB`)
	bibtexTypes = strings.Fields(`article book booklet conference inbook incollection inproceedings manual
		mastersthesis misc phdthesis proceedings techreport unpublished`)
	schemaClasses = strings.Fields(`Article AudioObject BlogPosting Book Chapter Conversation Course CreativeWork
		Dataset DigitalDocument Event Legislation Manuscript Map MediaObject NewsArticle Person Poster
		PresentationDigitalDocument Report ResearchProject Review ScholarlyArticle SoftwareApplication
		SoftwareSourceCode TechArticle Thesis VideoObject WebPage`)
	genres = map[string][]string{ // of OpenURL's formats; those of dc are item types of Zotero
		"journal":      strings.Fields("article issue preprint proceeding conference unknown"),
		"book":         strings.Fields("book bookitem conference document proceeding report unknown"),
		"dissertation": {"dissertation"},
		"dc": strings.Fields(`artwork audioRecording bill blogPost case computerProgram dataset document film
			interview letter manuscript map newspaperArticle patent podcast preprint presentation radioBroadcast
			standard statute tvBroadcast videoRecording webpage`),
	}
)

// kindsFile is the part of the mapping rules about kinds.
type kindsFile struct {
	Kinds map[string]struct {
		CSL, BibTeX, RIS, Schema, OpenURL string
		Fields                            map[string][]string
	}
	Subtypes, Types, Views map[string]string
}

func builtInKinds(t *testing.T) (all kindsFile) {
	t.Helper()
	_, src := configs.CiteRules()
	require.NoError(t, yaml.Unmarshal(src, &all))
	return all
}

// TestKindsAreKnown: each format knows what we call the kinds of works in it.
func TestKindsAreKnown(t *testing.T) {
	all := builtInKinds(t)
	for name, k := range all.Kinds {
		format, genre, _ := strings.Cut(k.OpenURL, "/")
		assert.Contains(t, cslTypes, k.CSL, name)
		assert.Contains(t, risTypes, k.RIS, name)
		assert.Contains(t, bibtexTypes, k.BibTeX, name)
		assert.Contains(t, schemaClasses, k.Schema, name)
		assert.Contains(t, genres[format], genre, name)
	}
	used := slices.Concat(slices.Collect(maps.Values(all.Subtypes)), slices.Collect(maps.Values(all.Types)),
		slices.Collect(maps.Values(all.Views)))
	assert.ElementsMatch(t, slices.Collect(maps.Keys(all.Kinds)), slices.Compact(slices.Sorted(slices.Values(used))))
}

// TestKindsInFormats: a record of each subtype and type has in every format the type of its kind.
func TestKindsInFormats(t *testing.T) {
	all := builtInKinds(t)
	check := func(kind, view, codes string) {
		k := all.Kinds[kind]
		it := read(t, view, `{"_id": 1, "title": "Moths"`+codes+`}`)
		format, genre, _ := strings.Cut(k.OpenURL, "/")
		coins := string(cite.AppendCOinS(nil, it))
		assert.Equal(t, []string{k.CSL, k.BibTeX, k.RIS, k.Schema, format}, []string{
			field(string(cite.AppendCSL(nil, it)), `"type":"`, `"`),
			field(string(cite.AppendBibTeX(nil, it, false)), "@", "{"),
			field(string(cite.AppendRIS(nil, it)), "TY  - ", "\r"),
			field(string(appendJSONLD(nil, it, "")), `"@type":"`, `"`),
			field(coins, "kev%3Amtx%3A", "&"),
		}, codes)
		if format != "dissertation" {
			assert.Equal(t, genre, cmp.Or(field(coins, "rft.genre=", "&"), field(coins, "rft.type=", "&")), codes)
		}
	}
	for code, kind := range all.Subtypes {
		check(kind, rules.ViewActivities, `, "type": "x", "subtype": "`+code+`"`)
	}
	for code, kind := range all.Types {
		check(kind, rules.ViewActivities, `, "type": "`+code+`"`)
	}
	for view, kind := range all.Views {
		if kind != "person" {
			check(kind, view, "")
		}
	}
}

// TestKindsTable: docs/kinds.md has the table of the mapping rules. With CITE_UPDATE=1 it is written.
func TestKindsTable(t *testing.T) {
	all, codes := builtInKinds(t), map[string][]string{}
	for _, of := range []map[string]string{all.Subtypes, all.Types} {
		for code, kind := range of {
			if code = "`" + code + "`"; !slices.Contains(codes[kind], code) {
				codes[kind] = append(codes[kind], code)
			}
		}
	}
	table := kindsIntro
	for _, name := range slices.Sorted(maps.Keys(all.Kinds)) {
		k := all.Kinds[name]
		slices.Sort(codes[name])
		table += fmt.Sprintf("| %s | `%s` | `%s` | `%s` | `%s` | `%s` | %s |\n",
			name, k.CSL, k.RIS, k.BibTeX, k.Schema, k.OpenURL, strings.Join(codes[name], " "))
	}
	const file = "../../docs/kinds.md"
	if os.Getenv("CITE_UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, []byte(table), 0o644))
	}
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, table, string(written))
}

const kindsIntro = `# Kinds of works

What the formats of public lists call each kind of work, by the built-in mapping rules ([rendering.md](rendering.md)).
The kind of an activity is that of its subtype, or else that of its type: the codes in the last column. Those with
neither are ` + "`other`" + `. TestKindsTable writes this table.

| kind | CSL | RIS | BibTeX | schema.org | OpenURL | codes |
|---|---|---|---|---|---|---|
`

// TestPressAndStandards: articles of newspapers have their paper, and standards their number and organisation.
func TestPressAndStandards(t *testing.T) {
	it := read(t, rules.ViewActivities, `{"_id": 1, "subtype": "press", "title": "Owls", "newspaper": "Night Post",
		"year": 2021, "month": 3, "day": 4, "pages": "7", "issn": "0317-8471"}`)
	ris, csl := string(cite.AppendRIS(nil, it)), string(cite.AppendCSL(nil, it))
	assert.Contains(t, ris, "TY  - NEWS\r\n")
	assert.Contains(t, ris, "T2  - Night Post\r\n")
	assert.Contains(t, csl, `"type":"article-newspaper"`)
	assert.Contains(t, csl, `"container-title":"Night Post"`)
	assert.Contains(t, string(cite.AppendBibTeX(nil, it, false)), "  journal = {Night Post},\n")
	assert.Contains(t, string(appendJSONLD(nil, it, "")), `"@type":"NewsArticle"`)
	assert.Contains(t, string(cite.AppendCOinS(nil, it)),
		"rft.type=newspaperArticle&amp;rft.title=Owls&amp;rft.source=Night+Post")

	it = read(t, rules.ViewActivities, `{"_id": 2, "subtype": "standard", "title": "Lamps",
		"standard_number": "DIN 5035-7", "organization": "DIN", "year": 2004}`)
	ris, csl = string(cite.AppendRIS(nil, it)), string(cite.AppendCSL(nil, it))
	assert.Contains(t, ris, "TY  - STAND\r\n")
	assert.Contains(t, ris, "PB  - DIN\r\n")
	assert.Contains(t, ris, "SN  - DIN 5035-7\r\n")
	assert.Contains(t, csl, `"number":"DIN 5035-7","publisher":"DIN"`)
	assert.Contains(t, string(cite.AppendBibTeX(nil, it, false)), "  number = {DIN 5035-7},\n  publisher = {DIN},\n")
	assert.Contains(t, string(appendJSONLD(nil, it, "")), `"identifier":"DIN 5035-7"`)
}
