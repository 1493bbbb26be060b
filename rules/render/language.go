package render

// The languages of labels and dates.
const (
	english = iota
	german
	languages
)

// languageCodes are the names of the languages in the rules file and in Options. A third language
// needs its months, date style and words beside a code here.
var languageCodes = [languages]string{english: "en", german: "de"}
