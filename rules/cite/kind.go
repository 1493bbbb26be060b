package cite

// work is a kind of work: what formats call it, and where records store its variables. Marks store
// its number, which is safe because each change of the file changes the stamp.
type work struct {
	number int    // position in Mapping.kinds
	name   string // in the file
	Forms
	fields
}

// fields has for each variable of an item the slots of the stored fields that may hold it; the first that is not
// empty counts. The names of the variables in files are the names of the fields here in small letters.
type fields struct {
	Title, Name, Authors, Editors, Supervisors, Year, Month, Day, Start, End, DOI, URL, Container, Series, Volume,
	Issue, Pages, Publisher, Place, Edition, Event, Degree, Number, EID, Version, PMID, ISBN, ISSN, Language,
	Abstract,
	Keywords, Licence, PDF, Funder, Grant []int
}

// badge is a badge of an item: the position of its rule and, if the rule is for any value, the value.
type badge struct {
	rule  int
	value string
}
