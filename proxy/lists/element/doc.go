// Package element has the files that pages load. Pages of other sites load the custom element <vitrine-list>
// (list.js) and the style of its markup (list.css), which our own pages use as well. Only our pages use page.css,
// which styles everything around a list, page.js, which tells the page around an iframe the height of our page and
// copies texts, and the modules start*.js, the builder of the start page. Where a list offers figures of other
// services, list.js and page.js import badges.js.
//
//	assets/*.js, *.css ──embed──▶ Files ─┬▶ /lists/{name}.{hash}.js   never changes
//	                                     └▶ /lists/list.js, list.css  change with the program
//
// Only versions of the program that have the file serve a hashed path.
//
// The element's fragment is HTML that the server cleaned. The script parses it in a separate document and moves over
// nodes without scripts, so that it needs neither inline script nor style and works under a strict
// Content-Security-Policy.
//
// The script depends on these parts of the fragment's markup (proxy/lists/page):
//
//	section.vl-list[data-count][data-page][data-pages]   the list; an answer without one is an error
//	.vl-pager a[data-page]                                turns to that page of the list
//	.vl-jump a, .vl-group[id]                             a link to a group ends like the id of its heading
//	.vl-group, .vl-continued, .vl-items, .vl-further      what "load more" adds to the list
//	.vl-item, and in it .vl-citation                      a record, and what "copy citation" copies
//
// Files returns the same files each time. It is safe for concurrent use.
package element
