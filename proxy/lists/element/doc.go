// Package element has the files that pages load. Those of other sites load the custom element
// <vitrine-list> (list.js) and the style of its markup (list.css), which whole pages of ours use
// as well. For these alone are page.css, the style of what is around a list, page.js, which
// tells the page around an iframe how high ours is, and copies, and start.js, the builder of
// the start page.
//
//	assets/*.js, *.css      ──embed──▶ Files ─┬▶ /lists/{name}.{hash}.js   never changes
//	releases/list.{hash}.js ──embed──▶        └▶ /lists/list.js, list.css  change with the program
//
// A page that names a file by its hash, with an integrity attribute, works until that
// path is gone, so each release keeps its files: before one,
//
//	go test ./proxy/lists/element -run TestReleases -update
//
// copies the current ones to releases/, from where later versions go on serving them.
//
// The element's fragment is HTML that the server cleaned. The script parses it in a
// document of its own and moves over nodes without scripts, so that it needs neither
// inline script nor style and works under a strict Content-Security-Policy.
//
// Of the fragment's markup (proxy/lists/page) the script knows
//
//	section.vl-list[data-count][data-page][data-pages]   the list; an answer without one is an error
//	.vl-pager a[data-page]                                turns to that page of the list
//	.vl-item, and in it .vl-citation                      a record, and what "copy citation" copies
//
// Files returns the same files each time. It is safe for concurrent use.
package element
