package programtest

import (
	"fmt"
	"testing"

	"vitrine/cache/origin/mongo/mongotest"
)

// TestCockpitWhileStoreAway: the page shows that the store is away and that it is back, and that the server itself was
// started again, without a reload of the page.
func TestCockpitWhileStoreAway(t *testing.T) {
	t.Parallel()
	chrome, outer := startBrowser(t), t
	o := startOutage(t, t.TempDir(), mongotest.Start(t))
	o.untilServed(t)
	o.ready()
	v := openCockpit(t, chrome, o.server, 1280, "")
	for _, fault := range []mongotest.Fault{{Refuse: true}, {Hang: true}} {
		v.await(stateIs("Ready") + ` && ` + cell("activities", 4) + ` === "from memory"`)
		o.network.Set(fault)
		v.await(stateIs("Degraded") + ` && ` + cell("activities", 4) + ` === "unconfirmed"`)
		v.await(`document.querySelector("#store tr[data-key=State]").textContent.includes("away: ")`)
		v.await(`document.querySelector("#store tr[data-key=Lease]").textContent.includes("unknown: ")`)
		v.await(`document.getElementById("log").textContent.includes("store unavailable")`)
		o.add(t)
		o.network.Set(mongotest.Fault{})
		v.await(stateIs("Ready") + ` && ` + cell("activities", 1) + fmt.Sprintf(` === "%d"`, o.lines))
		v.await(`document.querySelector("#store tr[data-key=State]").textContent.includes("answers")`)
		v.await(`/Lease\S+\/\d+\//.test(document.querySelector("#store tr[data-key=Lease]").textContent)`)
	}
	address := o.admin[len("http://"):]
	if code := o.stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
	v.await(stateIs("No contact"))
	o.start(outer, o.cmd.Dir, "--admin-listen", address)
	o.ready()
	v.await(stateIs("Ready"))
	v.wantNoComplaint("ERR_", "503")
}
