// Package page makes the HTML of lists: the fragment that other sites include, the pages of a list, an item and an
// error, the index of lists and the start page.
//
// Each function takes a model and returns a document. The package does not depend on requests, rows or the clock:
// proxy/lists reads the records, decides every URL and fills in the model. All texts of a model are plain text, which
// this package escapes, except for Item.HTML, which rules/markup has cleaned, and Item.COinS, which is escaped
// already.
//
// Documents have no inline script and no inline style, so that they work under Policy. They load the files of
// proxy/lists/element.
//
// Functions are safe for concurrent use and do not change their model.
package page
