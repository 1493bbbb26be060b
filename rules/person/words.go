package person

import "strings"

// set is a set of words in small letters.
type set struct {
	words  map[string]struct{}
	begins [256]bool // by first byte: most names need no further look
}

func setOf(words string) *set {
	s := &set{words: map[string]struct{}{}}
	for word := range strings.FieldsSeq(words) {
		s.words[word], s.begins[word[0]] = struct{}{}, true
	}
	return s
}

// longest is the length in bytes of the longest word of a set.
const longest = 24

// has reports whether a set has a word, without regard to the case of ASCII letters.
func (s *set) has(word string) bool {
	if word == "" || len(word) > longest || !s.begins[lower(word[0])] {
		return false
	}
	var buf [longest]byte
	n := copy(buf[:], word)
	for i, c := range buf[:n] {
		buf[i] = lower(c)
	}
	_, ok := s.words[string(buf[:n])]
	return ok
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c |= 0x20
	}
	return c
}

// suffixes are the generational suffixes with and without a stop; see suffixClass.
var suffixes = setOf("jr jr. jnr jnr. sr sr. snr snr. 2nd 3rd 4th 5th jun. sen.")

// titles are the words that begin a title before a name, and stopped those that only do so with a stop.
var (
	titles  = setOf("prof professor professorin dr drs dres dra mr mrs ms herr frau")
	stopped = setOf("dipl priv univ apl mag mmag ing rev hon assoc asst doz lic dott msgr")
	// continued are the words that may follow within a title, such as "Dr. rer. nat." and "Dr. h. c. mult.".
	continued = setOf("prof dr doz ing med phil rer nat h c e mult habil jur iur theol vet dent oec pol sc techn agr " +
		"ssa phys chem biol math")
)

// degrees are what follows a name in letters that cannot be initials, and capitals those that can.
var (
	degrees  = setOf("phd dphil msc bsc dsc scd mphil meng beng med edd psyd pharmd drph dring habil")
	capitals = setOf("md ma ba mba mph rn frs frcp dvm dds jd mbbs llm llb cpa")
)

// companies are what ends the name of a company, and also follows a comma in it.
var companies = setOf("inc inc. incorporated ltd ltd. limited llc l.l.c. llp corp corp. corporation gmbh ggmbh mbh " +
	"plc pty e.v. s.p.a. co. & kg kgaa b.v. n.v.")

// collectives are words that names of organisations have, and names of persons do not. Function words count in small
// letters only.
var (
	collectives = setOf(`
		academy agency alliance association associates authority board bureau center centers centre centres club
		college collaboration collaborative collective commission committee company consortium cooperation council
		department dept dept. division faculty federation foundation fund group groups hospital initiative institute
		institutes institution investigators laboratories laboratory library ministry museum network networks
		observatory office organisation organization panel partnership program programme project school section
		services society societies study subcommittee taskforce team trialists union university workgroup
		akademie amt arbeitsgemeinschaft arbeitsgruppe arbeitskreis bundesamt bundesanstalt forschungsgruppe fakultät
		gesellschaft gruppe hochschule institut klinik klinikum kommission konsortium landesamt ministerium netzwerk
		rat stiftung technische universität universitätsklinikum verband verein verlag zentrum
		asociación association centro comité consorcio departamento fundación hôpital istituto instituto laboratoire
		ministère ministerio società société sociedad universidad università université`)
	functions = setOf("of for the and und für & on")
)

// particles begin a family name in a whole name with the given name first.
var particles = setOf("van von vom vander de der den del della di da dal dos du la le les ten ter te zu zum zur af " +
	"av bin ibn al el")

// conjunctions separate the persons of a text.
var conjunctions = setOf("and und et & y e")

// isConjunction reports whether a word is a conjunction, not an initial or a name.
func isConjunction(s string) bool {
	return conjunctions.has(s) && (s[0] >= 'a' || s == "&" || s == "AND" || s == "UND")
}
