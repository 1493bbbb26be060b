package pages

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/cmd/vitrine/programtest"
)

// TestFacesBuilderAccessible: axe finds no fault in the builder in its states, light and dark, narrow and wide.
func TestFacesBuilderAccessible(t *testing.T) {
	source := axe(t)
	data, v := programtest.ListHost(t).Base, newTab(t, startBrowser(t), 1280)
	for name, state := range map[string]string{
		"begin": "/", "asks": "/?lang=de#list=activities&group=year&recipe=person",
		"records": "/#list=activities&ids=9b021609d13bb216ba5cfb54,961b1bf393e04ecab3dbd9d6,nix&" +
			"recipe=selected&with=none",
		"person": "/#list=activities&person=nkerzenr&group=year&numbered=1&jump=1&" +
			"with=search,more,copy,isolate&heading=Mine&as=php",
	} {
		for _, width := range []int64{390, 1280} {
			v.do(chromedp.EmulateViewport(width, 900))
			for _, scheme := range []string{"light", "dark"} {
				v.scheme(scheme)
				v.open("about:blank")
				v.open(data + state)
				v.await(`/\d|Noch offen/.test(` + builderStatus + `) || ` + builderStatus + `.includes("nix")`)
				eval[any](v, source+"; 0")
				if found := eval[string](v, violations); found != "" {
					t.Errorf("%s, %d, %s: %s", name, width, scheme, found)
				}
				shoot(v, fmt.Sprint("builder-", name, "-", scheme, "-", width))
			}
		}
	}
}
