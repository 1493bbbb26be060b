package main

import "strings"

// Names are put together by chance from coined ones, so that no person is meant.
var firstNames = []string{
	"Aila", "Anselm", "Beatriz", "Bram", "Çelik", "Corvin", "Dagny", "Edda", "Emeka", "Fenja",
	"Galina", "Hedvig", "Ilja", "Imani", "Jorun", "Kaspar", "Kveta", "Leocadia", "Linnéa", "Malik",
	"Marisol", "Nilufar", "Noé", "Oluchi", "Ottmar", "Paloma", "Quirin", "Rasmus", "Runa", "Sahana",
	"Selim", "Signe", "Tadeo", "Thyra", "Ulrika", "Valentin", "Wanja", "Xenia", "Yuto", "Zdenka",
}

// The institute's people and their co-authors elsewhere.
var lastNames = []string{
	"Abendgrund", "Almqvist-Noor", "Brânzescu", "Candeloro", "Dämmerling", "Duskfield", "Évesoir", "Fackelmann",
	"Glimmerås", "Halvmåne", "Hoshizawa", "Irrlicht", "Jägersund", "Kerzenreuter", "Köyyıldız", "Lampedal",
	"Lanternøy", "Lumisaari", "Mondrath", "Moonwright", "Mörkeberg", "Nachtweyh", "Nightingdale", "Nocturni",
	"Nokturský", "Okonedo-Falk", "Owlsby", "Penumbrale", "Półcień", "Quietwater", "Rauhnacht", "Sandmanno",
	"Schattenbrück", "Skymning", "Sömmerli", "Starrwood", "Ténèbre", "Twilfer", "Uhuberg", "van der Schemer",
	"Vespertini", "Vigilski", "Wachholt", "Wickström", "Zodiakou", "Zwielichter",
}

// ascii spells letters of the names above without marks.
var ascii = strings.NewReplacer("å", "a", "ä", "a", "â", "a", "ç", "c", "č", "c", "é", "e", "è", "e", "ı", "i",
	"ł", "l", "ń", "n", "ó", "o", "ö", "o", "ø", "o", "ü", "u", "ý", "y", "ź", "z", "ž", "z")

// username returns first letter and last name, in small letters without marks,
// cut to eight.
func username(first, last string) string {
	name := ascii.Replace(strings.ToLower(string([]rune(first)[0]) + last))
	name = strings.NewReplacer(" ", "", "-", "").Replace(name)
	return name[:min(8, len(name))]
}

// initials returns "A. B." for "Aila B.".
func initials(first string) string {
	var out []string
	for _, part := range strings.Fields(first) {
		out = append(out, string([]rune(part)[0])+".")
	}
	return strings.Join(out, " ")
}
