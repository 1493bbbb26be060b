package pages

import (
	"fmt"
	"testing"

	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
)

// TestCockpitWhileStoreAway: the page shows that the store is away and that it is back, and that the server itself
// was started again, without a reload of the page.
func TestCockpitWhileStoreAway(t *testing.T) {
	t.Parallel()
	chrome, outer := startBrowser(t), t
	uri, address := mongotest.Start(t), freeAddress(t) // which stays free while the server is started again
	o := programtest.StartOutage(t, t.TempDir(), uri, "--admin-listen", address)
	o.UntilServed(t)
	o.Ready()
	v := openCockpit(t, chrome, o.Server, 1280, "")
	for _, fault := range []mongotest.Fault{{Refuse: true}, {Hang: true}} {
		v.await(stateIs("Ready") + ` && ` + cell("activities", 4) + ` === "from memory"`)
		o.Network.Set(fault)
		v.await(stateIs("Degraded") + ` && ` + cell("activities", 4) + ` === "unconfirmed"`)
		v.await(`document.querySelector("#store tr[data-key=State]").textContent.includes("away: ")`)
		v.await(`document.querySelector("#store tr[data-key=Lease]").textContent.includes("unknown: ")`)
		v.await(`document.getElementById("log").textContent.includes("store unavailable")`)
		o.Add(t)
		o.Network.Set(mongotest.Fault{})
		v.await(stateIs("Ready") + ` && ` + cell("activities", 1) + fmt.Sprintf(` === "%d"`, o.Lines))
		v.await(`document.querySelector("#store tr[data-key=State]").textContent.includes("answers")`)
		v.await(`/Lease\S+\/\d+\//.test(document.querySelector("#store tr[data-key=Lease]").textContent)`)
	}
	if code := o.Stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
	v.await(stateIs("No contact"))
	o.Start(outer, o.Cmd.Dir, "--admin-listen", address)
	o.Ready()
	v.await(stateIs("Ready"))
	v.wantNoComplaint("ERR_", "503")
}
