package names

// markedPositions are the positions of authors that a mark after the name shows, the least number of authors for
// which it does, and the legend of the mark.
var markedPositions = [...]struct {
	position, mark, legend string
	least                  int
}{
	{"first", "<sup>#</sup>", "Shared first authors", 2},
	{"last", "<sup>*</sup>", "Shared last authors", 2},
	{"corresponding", "<sup>§</sup>", "Corresponding author", 1},
}

// marksOf returns the marks to write after the names of persons, by position. A single first author
// shares the position with no other, and needs no mark.
func marksOf(persons []Person) map[string]string {
	count, marks := map[string]int{}, map[string]string{}
	for i := range persons {
		count[persons[i].Position]++
	}
	for _, m := range markedPositions {
		if count[m.position] >= m.least {
			marks[m.position] = m.mark
		}
	}
	return marks
}

// AppendLegend appends the legend of the marks after authors' names, in English as OSIRIS does.
// presented is set for posters and lectures.
func AppendLegend(dst []byte, authors []Person, presented bool) []byte {
	start, marks := len(dst), marksOf(authors)
	for _, m := range markedPositions {
		if marks[m.position] == "" {
			continue
		}
		if m.position == "first" && presented {
			m.legend = "Presenting authors"
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		dst = append(dst, m.mark+" "+m.legend...)
	}
	return dst
}
