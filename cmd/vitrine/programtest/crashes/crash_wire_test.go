package crashes

import (
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vitrine/cmd/vitrine/programtest"
)

// TestKilledOverTheWire runs two instances that materialize and a front end on one store. In every
// round it kills one of them at a random moment of the work, or pauses it and wakes it long after
// another has taken over. Readers of all three never see half a view nor an older one than before;
// another instance takes the lease; and the instance that wakes up publishes nothing.
func TestKilledOverTheWire(t *testing.T) {
	t.Parallel()
	g := newGroup(t, stamped{activities: 40})
	a := g.instance()
	began := time.Now()
	g.advance()
	g.refresh(g.led(a))
	g.rested(began)
	work := time.Since(began) // about the time that a round's work takes
	c := &crashes{group: g, leader: a, standby: g.instance(), front: g.instance("--no-materialize"), work: work}
	c.watch(a, c.standby, c.front)
	defer func() {
		if t.Failed() {
			t.Logf("leader:\n%s\nstandby:\n%s\nfront end:\n%s", c.leader.Log(), c.standby.Log(),
				c.front.Log())
		}
	}()
	rounds := programtest.CrashRounds(t, programtest.WireCrashesEnv, 3)
	for i := 0; i < rounds && !t.Failed(); i++ {
		kind := rand.IntN(4)
		if rounds < 8 {
			kind = i // even a few rounds have every kind
		}
		switch kind {
		case 0:
			c.killFront()
		case 1:
			c.pauseLeader()
		default:
			c.killLeader()
		}
		g.converged(c.leader, c.standby, c.front)
		g.inspect(t, g.store)
	}
	c.leader.Kill()
	c.standby.Kill()
	c.front.Kill()
	c.watchers.Wait()
	t.Logf(
		"%d rounds: %d leaders killed, %d stopped and woken, %d front ends killed; %d answers meanwhile, all whole; "+
			"the lease of 6 s passed on within %v; a round's work takes %v", rounds, c.killed, c.woken, c.fronts,
		c.answers, c.longest.Round(time.Millisecond), work.Round(time.Millisecond))
}

// crashes is the state of the rounds.
type crashes struct {
	*group
	leader, standby, front *programtest.Server
	work                   time.Duration

	killed, woken, fronts int
	longest               time.Duration // from a leader's end to its successor's start

	watchers sync.WaitGroup
	mu       sync.Mutex // guards answers
	answers  int
}

// watch sends instances every request as long as they live.
func (c *crashes) watch(instances ...*programtest.Server) {
	for _, s := range instances {
		c.watchers.Go(func() {
			n := c.known.watch(c.t.Context(), c.t, s)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.answers += n
		})
	}
}

// amid starts a refresh and waits for a part of the time that its work takes.
func (c *crashes) amid() {
	c.refresh(c.leader, c.standby)
	<-time.After(rand.N(c.work * 5 / 4))
}

// pauseBoth pauses leader and standby, and returns the time. On a busy machine the lease may have passed on by itself
// before: then they change roles, so that the standby does not have it yet.
func (c *crashes) pauseBoth() time.Time {
	c.leader.Signal(syscall.SIGSTOP)
	c.standby.Signal(syscall.SIGSTOP)
	if c.holder(c.standby) != nil {
		c.leader, c.standby = c.standby, c.leader
	}
	return time.Now()
}

// passOn waits until the standby leads and has done the work.
func (c *crashes) passOn(since time.Time) {
	c.led(c.standby)
	c.longest = max(c.longest, time.Since(since))
	c.rested(since)
}

// killLeader kills the leader; the standby takes over, and a new instance becomes the standby.
func (c *crashes) killLeader() {
	c.advance()
	c.amid()
	since := c.pauseBoth()
	c.leader.Kill()
	c.standby.Signal(syscall.SIGCONT)
	c.passOn(since)
	c.leader, c.standby = c.standby, c.instance()
	c.watch(c.standby)
	c.killed++
}

// pauseLeader pauses the leader until another instance has done its work and the next round's as
// well. Then the paused one resumes, with rows of two rounds.
func (c *crashes) pauseLeader() {
	c.advance()
	c.amid()
	since := c.pauseBoth()
	c.standby.Signal(syscall.SIGCONT)
	c.passOn(since)
	began := time.Now()
	c.advance()
	c.refresh(c.standby)
	c.rested(began)
	before := c.group.standing()
	const ended = "materializing ended"
	terms := strings.Count(c.leader.Log(), ended)
	c.leader.Signal(syscall.SIGCONT)
	c.until("who woke up has seen that he leads no more", func() bool { // he may lead again soon
		return strings.Count(c.leader.Log(), ended) > terms || !c.leader.Leads()
	})
	if after := c.group.standing(); after != before {
		c.t.Errorf("the instance that woke up published:\n%s\nafter\n%s", after, before)
	}
	c.leader, c.standby = c.standby, c.leader
	c.woken++
}

// killFront kills a front end while views change.
func (c *crashes) killFront() {
	began := time.Now()
	c.advance()
	c.amid()
	c.front.Kill()
	c.front = c.instance("--no-materialize")
	c.watch(c.front)
	c.rested(began)
	c.fronts++
}
