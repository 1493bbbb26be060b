package programtest

import (
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestKilledOverTheWire has two instances that materialize and a front end on one
// store. Round after round one of them is killed at a random moment of the work, or
// stopped in the middle of it and woken when another has long taken over. Readers of
// all three are never shown half a view nor an older one than before; the lease passes
// on; and who wakes up publishes nothing.
func TestKilledOverTheWire(t *testing.T) {
	t.Parallel()
	g := newGroup(t, stamped{activities: 40})
	a := g.instance()
	began := time.Now()
	g.advance()
	g.refresh(g.led(a))
	g.rested(began)
	work := time.Since(began) // what a round's work takes, about
	c := &crashes{group: g, leader: a, standby: g.instance(), front: g.instance("--no-materialize"), work: work}
	c.watch(a, c.standby, c.front)
	defer func() {
		if t.Failed() {
			t.Logf("who leads:\n%s\nwho stands by:\n%s\nfront end:\n%s", c.leader.logged(), c.standby.logged(), c.front.logged())
		}
	}()
	rounds := crashRounds(t, wireCrashEnv, 3)
	for i := 0; i < rounds && !t.Failed(); i++ {
		kind := rand.IntN(4)
		if rounds < 8 {
			kind = i // a few rounds have one of each
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
	c.leader.kill()
	c.standby.kill()
	c.front.kill()
	c.watchers.Wait()
	t.Logf("%d rounds: %d leaders killed, %d stopped and woken, %d front ends killed; %d answers meanwhile, all whole; "+
		"the lease of 6 s passed on within %v; a round's work takes %v", rounds, c.killed, c.woken, c.fronts, c.answers, c.longest.Round(time.Millisecond), work.Round(time.Millisecond))
}

// crashes is what the rounds are about.
type crashes struct {
	*group
	leader, standby, front *server
	work                   time.Duration

	killed, woken, fronts int
	longest               time.Duration // from a leader's end to the next one's begin

	watchers sync.WaitGroup
	mu       sync.Mutex // guards answers
	answers  int
}

// watch has instances asked for everything as long as they live.
func (c *crashes) watch(instances ...*server) {
	for _, s := range instances {
		c.watchers.Go(func() {
			n := c.known.watch(c.t.Context(), c.t, s)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.answers += n
		})
	}
}

// amid lets a part of the work go by.
func (c *crashes) amid() {
	c.refresh(c.leader)
	<-time.After(rand.N(c.work * 5 / 4))
}

// passOn waits until the standby leads and has done the work.
func (c *crashes) passOn(since time.Time) {
	c.led(c.standby)
	c.longest = max(c.longest, time.Since(since))
	c.rested(since)
}

// killLeader kills who materializes; the standby takes over, and a new one stands by.
func (c *crashes) killLeader() {
	c.advance()
	c.amid()
	c.leader.kill()
	c.passOn(time.Now())
	c.leader, c.standby = c.standby, c.instance()
	c.watch(c.standby)
	c.killed++
}

// pauseLeader stops who materializes until another has done his work and the next
// round's as well. Then he goes on where he was, with rows that are of two rounds.
func (c *crashes) pauseLeader() {
	c.advance()
	c.amid()
	c.leader.signal(syscall.SIGSTOP)
	c.passOn(time.Now())
	began := time.Now()
	c.advance()
	c.refresh(c.standby)
	c.rested(began)
	before := c.group.standing()
	c.leader.signal(syscall.SIGCONT)
	c.until("who woke up has seen that he leads no more", func() bool { return !c.leader.leads() })
	if after := c.group.standing(); after != before {
		c.t.Errorf("who woke up published:\n%s\nafter\n%s", after, before)
	}
	c.leader, c.standby = c.standby, c.leader
	c.woken++
}

// killFront kills a front end while views change.
func (c *crashes) killFront() {
	began := time.Now()
	c.advance()
	c.amid()
	c.front.kill()
	c.front = c.instance("--no-materialize")
	c.watch(c.front)
	c.rested(began)
	c.fronts++
}
