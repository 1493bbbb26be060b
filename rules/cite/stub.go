package cite

// AppendCOinS appends an item as the value of the title attribute of a COinS span, escaped
// for HTML.
func AppendCOinS(dst []byte, it *Item) []byte { return dst }

// Meta returns an item's citation_* tags in the order in which a page has them.
func Meta(it *Item) []MetaTag { return nil }

// MetaTag is a <meta> element of an item's page; both parts are plain text.
type MetaTag struct{ Name, Content string }
