package person

import "strings"

// set is a set of words in small letters. The array of beginnings spares hashing for most words of most names.
type set struct {
	words  map[string]struct{}
	begins [256]bool // by first byte: most names need no further look
}

// setOf returns the set of words that blanks separate.
func setOf(words string) *set {
	s := &set{words: map[string]struct{}{}}
	for word := range strings.FieldsSeq(words) {
		s.words[word], s.begins[word[0]] = struct{}{}, true
	}
	return s
}

// longest is the length in bytes of the longest word of a set.
const longest = 24

// has reports whether a set has a word, without regard to the case of ASCII letters. The copy in small letters is
// on the stack. Letters beyond ASCII have to be written as in the set.
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

// lower returns an ASCII letter in its small form.
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
	continued = setOf(
		"prof dr doz ing med phil rer nat h c e mult habil jur iur theol vet dent oec pol sc techn agr " +
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

// Words that names of persons do not have in general, while names of organisations, places and fields do.
var (
	articles   = setOf("by the a an der die das den ein eine le la les un une el los las il lo gli")
	impersonal = setOf(`
		abteilung advisors africa african agriculture air airlines america american analytics animal applied
		art arts asia asian assessment asset assets associated ausschuss australia australian austria austrian
		authorities auto bahn bank banking bayerische bayerisches behavior behaviour behavioural bereich
		berliner bibliothek biodiversity bioinformatics biomedical board botanic botanical botanischer britain
		british business campus canada canadian cancer capital care change chemistry child children's china
		chinese citizens city civil climate clinic clinical clinics cognitive commerce communications community
		computer computing conference consultants consulting consumer corporate country county court crafts
		creative cultural culture data deutsche deutscher deutsches development digital disease district domain
		dutch earth east eastern economic economics economy electric energie energy engineering engineers
		environment environmental ernährung europe european europäische europäischer europäisches experimental
		fach fachbereich farming federal film finance financial fisheries food forest forestry forests france
		french friends garden gardens garten gas gemeinde genetic genetics genomics german germany global
		governance government green growth guild health heritage high higher hills historical historisches
		history holding holdings home house housing human humanities imaging india indian industrial industries
		industry informatics insurance intelligence international internationale internationales investment
		investments island islands italian italy japan japanese journal justice kingdom klima kultur lab labor
		labour labs land landes landesanstalt language languages law learning library life linguistics
		literature logistics management manufacturing marine maritime market marketing markets materials
		mathematics mechanics media medical medicine medien medizin memorial molecular music national nationale
		nationaler nationales nations natur natural nature naturschutz new news nord north northern ocean open
		paper parks partner partners pharma pharmaceutical pharmaceuticals pharmacy philosophy physics planning
		plant plants policy political politics port practice press professional property psychiatry public
		publications publisher publishers publishing regional relations research researchers resource resources
		royal rural russia russian safety saint san sankt saudi schools science sciences scientific scientists
		service social software soil solar solutions sons south southern space spain spanish special species
		staatliche staatliches stadt standards state states statistics strategic strategies strategy student
		students studies studios städtische städtisches supply support survey surveys sustainability
		sustainable swiss switzerland system systems süd teachers technical technisches technologies television
		theory therapeutics therapy tourism town trade training transport travel treasury treatment trust
		trustees umwelt unit united universities urban utilities verkehr verwaltung veterinary water waters
		welfare werke west western wild women's workshop world youth zoo zoological`)
)

// particles begin a family name in a whole name with the given name first. Only those that stand in small letters
// count, where the case is known (divide).
var particles = setOf("van von vom vander de der den del della di da dal dos du la le les ten ter te zu zum zur af " +
	"av bin ibn al el")

// conjunctions separate the persons of a text. "y" and "e" are in family names as well, which several allows for.
var conjunctions = setOf("and und et & y e")

// isConjunction reports whether a word is a conjunction, not an initial or a name.
func isConjunction(s string) bool {
	return conjunctions.has(s) && (s[0] >= 'a' || s == "&" || s == "AND" || s == "UND")
}
