package render

import "vitrine/rules/label"

// What OSIRIS calls the codes that it has built in; the institute's vocabularies, where
// there is one, have precedence.
var (
	categoryNames = map[string]label.Name{
		"bachelor student":          {EN: "Bachelor student", DE: "Bachelorstudent"},
		"bachelor thesis":           {EN: "Bachelor thesis", DE: "Bachelorarbeit"},
		"doctoral student":          {EN: "Doctoral student", DE: "Doktorand:in"},
		"doctoral thesis":           {EN: "Doctoral thesis", DE: "Doktorarbeit"},
		"guest scientist":           {EN: "Guest scientist", DE: "Gastwissenschaftler:in"},
		"intern":                    {EN: "Intern", DE: "Praktikant"},
		"lecture":                   {EN: "Lecture", DE: "Vorlesung"},
		"lecture internship":        {EN: "Lecture internship", DE: "Pflichtpraktikum im Studium"},
		"lecture-practical-seminar": {EN: "Lecture, seminar, practical course", DE: "Vorlesung, Seminar und Praktikum"},
		"lecture-seminar":           {EN: "Lecture and seminar", DE: "Vorlesung und Seminar"},
		"master student":            {EN: "Master student", DE: "Masterstudent"},
		"master thesis":             {EN: "Master thesis", DE: "Masterarbeit"},
		"other":                     {EN: "Other", DE: "Sonstiges"},
		"practical":                 {EN: "Practical course", DE: "Praktikum"},
		"practical-lecture":         {EN: "Lecture and practical course", DE: "Vorlesung und Praktikum"},
		"practical-seminar":         {EN: "Practical course and seminar", DE: "Praktikum und Seminar"},
		"seminar":                   {EN: "Seminar", DE: "Seminar"},
		"student internship":        {EN: "Student internship", DE: "Schülerpraktikum"},
	}
	thesisNames = map[string]label.Name{
		"bachelor":     {EN: "Bachelor thesis", DE: "Bachelorarbeit"},
		"diploma":      {EN: "Diploma thesis", DE: "Diplomarbeit"},
		"doctor":       {EN: "Doctoral thesis", DE: "Doktorarbeit"},
		"habilitation": {EN: "Habilitation thesis", DE: "Habilitationsschrift"},
		"master":       {EN: "Master thesis", DE: "Masterarbeit"},
		"thesis":       {EN: "Thesis", DE: "Abschlussarbeit"},
	}
	genderNames = map[string]label.Name{
		"-": {EN: "not specified", DE: "keine Angabe"},
		"d": {EN: "non-binary", DE: "divers"},
		"f": {EN: "female", DE: "weiblich"},
		"m": {EN: "male", DE: "männlich"},
	}
	scopeNames    = map[string]label.Name{"local": {EN: "local", DE: "lokal"}}
	softwareNames = map[string]label.Name{
		"database": {EN: "Database"},
		"dataset":  {EN: "Dataset"},
		"software": {EN: "Computer software"},
		"webtool":  {EN: "Webpage"},
	}
)
