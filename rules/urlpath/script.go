package urlpath

import (
	"slices"
	"strings"
)

// extensions are those of programs and of formats that a server may have at the same path without one.
var extensions = []string{
	"php", "php3", "php4", "php5", "php7", "php8", "phtml", "pht", "phps", "phar", "cgi", "fcgi", "pl", "py", "rb",
	"asp", "aspx", "ashx", "jsp", "jspx", "do", "json", "xml",
}

// cutExtension returns the name of a segment that is a script's.
func cutExtension(segment string) (name string, ok bool) {
	i := strings.LastIndexByte(segment, '.')
	return segment[:max(i, 0)], i >= 0 && slices.Contains(extensions, fold(segment[i+1:]))
}

// hasScript reports whether a segment of a path is the name of a script.
func hasScript(path string) bool {
	_, _, _, ok := cutScript(path, false)
	return ok
}

// cutScript cuts a path around its first script, or its last: what is before it, its name without extension, and what
// follows.
func cutScript(path string, last bool) (before, name, after string, found bool) {
	if !strings.Contains(path, ".") {
		return "", "", "", false
	}
	for from := 0; from < len(path) && (last || !found); {
		end := len(path)
		if n := strings.IndexByte(path[from:], '/'); n >= 0 {
			end = from + n
		}
		if of, ok := cutExtension(path[from:end]); ok {
			before, name, after, found = path[:from], of, path[end:], true
		}
		from = end + 1
	}
	return before, name, after, found
}

// scripts are the ways in which a server finds a script: /api/activities.php is what /api/activities is;
// /api/index.php/activities, /index.php/api/activities and /api/activities.php/x are requests for a script with the
// rest of the path as its argument. A script at the root, such as /index.php, is no spelling of "/". Routes such as
// /openapi.json look like scripts themselves, so one at either end may stay.
var scripts = slices.Concat(scriptSteps(false), scriptSteps(true))

func scriptSteps(last bool) (all []step) {
	for _, of := range []func(before, name, after string) string{
		func(before, name, after string) string { return before + name + after },
		func(before, _, after string) string { return before + after },
		func(_, _, after string) string { return after },
		func(before, name, _ string) string { return before + name },
	} {
		all = append(all, func(path string) string {
			before, name, after, ok := cutScript(path, last)
			if next := merged(of(before, name, after)); ok && next != "/" {
				return next
			}
			return path
		})
	}
	return all
}
