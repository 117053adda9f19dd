// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/internal/auditlog"
	"berth.dev/berth/test/perf/internal/proc"
	"berth.dev/berth/test/perf/report"
)

// sites is how many sites the nodes of the drain lie in: the chosen ones hold a part of the nodes.
func (w *world) sites() int {
	if w.clusters > 0 {
		return w.clusters
	}
	return max(chosenSites, w.Nodes/10)
}

// drains lets each peer place a backlog of pods, again and again; the order changes with each
// round.
func (w *world) drains(ctx context.Context, results *report.Processes) error {
	w.sayf("creating %d nodes", w.Nodes)
	if err := w.createNodes(ctx, w.Nodes, w.sites(), w.Pods); err != nil {
		return err
	}
	peers := w.chosen(w.backlogPeers())
	results.Nodes = w.Nodes
	results.Drains = make([]report.Drain, len(peers))
	for i := range peers {
		p := &peers[i]
		if p.pods == 0 || p.pods > w.Pods {
			p.pods = w.Pods
		}
		results.Drains[i] = report.Drain{Name: p.name, Title: p.title, Pods: p.pods, Limited: p.limited}
	}
	for round := range w.Rounds {
		for turn := range peers {
			i := (turn + round) % len(peers)
			if round >= w.roundsOf(&peers[i]) {
				continue
			}
			d := &results.Drains[i]
			if err := w.drain(ctx, &peers[i], round, d); err != nil {
				return fmt.Errorf("%s: %w", peers[i].name, err)
			}
			last := len(d.PodsPerSecond) - 1
			w.sayf("drain, round %d of %d: %s: %.0f pods/s, %.2f ms CPU a pod and %.2f of the servers, %.0f %% busy, %.2f writes a pod",
				round+1, w.roundsOf(&peers[i]), d.Name, d.PodsPerSecond[last], d.CPUMilliseconds[last], d.ServerMilliseconds[last],
				100*d.Busy[last], d.Writes[last])
		}
	}
	return errors.Join(w.deleteNodes(ctx),
		w.berth.BerthV1alpha1().ClusterResources().DeleteCollection(ctx, forget, everything))
}

// roundsOf returns in how many rounds a peer has its turn.
func (w *world) roundsOf(p *peer) int {
	switch {
	case p.once:
		return 1
	case p.judged:
		return w.Rounds
	default:
		return min(w.Rounds, w.FewRounds)
	}
}

// drain creates the pods of a peer, then starts its scheduler, and measures from the time when it
// is at work until all are bound. Meanwhile the controllers of Kubernetes stand still: what they do
// about a Deployment whose pods are bound would slow down only those who have one.
func (w *world) drain(ctx context.Context, p *peer, round int, d *report.Drain) error {
	namespace := fmt.Sprintf("drain-%s-%d", p.name, round)
	if err := w.createNamespace(ctx, namespace); err != nil {
		return err
	}
	controllers, err := w.controllerManager()
	if err != nil {
		return err
	}
	return w.drainIn(ctx, p, namespace, controllers, d)
}

// drainIn is drain in a namespace that exists. Controllers is the process that is to stand still,
// nil if there is none.
func (w *world) drainIn(ctx context.Context, p *peer, namespace string, controllers *localplane.Process, d *report.Drain) error {
	if _, err := w.log.Next(); err != nil {
		return err
	}
	if err := p.create(ctx, w, namespace, p); err != nil {
		return err
	}
	b, err := w.watchBindings(ctx, namespace)
	if err != nil {
		return err
	}
	defer b.stop()
	process, err := w.runAlone(ctx, p, b, controllers, d)
	if err != nil {
		return err
	}
	if !w.counting { // of events some are lost with the connections that end
		if err := w.countWrites(ctx, p, namespace, d); err != nil {
			return errors.Join(err, process.Stop(stopGrace))
		}
	}
	err = w.askBack(ctx, p, process, d)
	if err := errors.Join(err, process.Stop(stopGrace)); err != nil {
		return err
	}
	d.Violations += violations(b.perSite(w.siteOf), sharesOf(p.pods), p.limited)
	return w.clear(ctx, namespace)
}

// askBack notes what a scheduler has held at most, and how long it says it has waited for locks of
// Berth.
func (w *world) askBack(ctx context.Context, p *peer, process *localplane.Process, d *report.Drain) error {
	memory, err := proc.PeakMemory(process.PID())
	if err != nil {
		return err
	}
	d.MemoryBytes = append(d.MemoryBytes, memory)
	if p.program.stock() {
		return nil
	}
	waits, err := w.lockWaits(ctx)
	if err != nil {
		return err
	}
	took := float64(p.pods) / d.PodsPerSecond[len(d.PodsPerSecond)-1]
	longest := 0.0
	for lock, waited := range waits {
		if part := waited.Seconds() / took; part > longest {
			longest, d.Lock = part, lock
		}
	}
	d.LockParts = append(d.LockParts, longest)
	return nil
}

// runAlone starts the scheduler of a peer, lets it place the backlog while the controllers stand
// still, and returns it at work.
func (w *world) runAlone(
	ctx context.Context, p *peer, b *bindings, controllers *localplane.Process, d *report.Drain,
) (process *localplane.Process, err error) {
	if controllers != nil {
		if err := controllers.Kill(syscall.SIGSTOP); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, controllers.Kill(syscall.SIGCONT)) }()
	}
	began := time.Now()
	process, err = w.run(ctx, &p.program)
	if err != nil {
		return nil, err
	}
	if err := w.observe(ctx, p, b, process, began, d); err != nil {
		return nil, errors.Join(err, process.Stop(stopGrace))
	}
	return process, nil
}

// observe notes how fast pods are bound, and what that costs the scheduler.
func (w *world) observe(
	ctx context.Context, p *peer, b *bindings, process *localplane.Process, began time.Time, d *report.Drain,
) error {
	one, err := b.get(ctx, 0)
	if err != nil {
		return err
	}
	worked, err := proc.CPUTime(process.PID())
	if err != nil {
		return err
	}
	d.FirstMilliseconds = append(d.FirstMilliseconds, milliseconds(one.at.Sub(began)))
	d.FirstCPUMilliseconds = append(d.FirstCPUMilliseconds, milliseconds(worked))
	// The first pods come from a queue that was filled while the caches were, and find them cold.
	first := max(p.skip, p.pods/20)
	from, err := b.get(ctx, first)
	if err != nil {
		return err
	}
	before, err := w.takeStock(ctx, process)
	if err != nil {
		return err
	}
	last := p.pods - 1 - p.rest
	to, err := b.get(ctx, last)
	if err != nil {
		return err
	}
	after, err := w.takeStock(ctx, process)
	if err != nil {
		return err
	}
	bound := float64(last - first)
	if w.counting {
		d.Attempts = append(d.Attempts, (after.attempts-before.attempts)/bound)
	}
	d.PodsPerSecond = append(d.PodsPerSecond, bound/to.at.Sub(from.at).Seconds())
	d.CPUMilliseconds = append(d.CPUMilliseconds, milliseconds(after.scheduler-before.scheduler)/bound)
	d.ServerMilliseconds = append(d.ServerMilliseconds, milliseconds(after.servers-before.servers)/bound)
	d.Busy = append(d.Busy, (after.machine-before.machine).Seconds()/after.at.Sub(before.at).Seconds()/float64(runtime.NumCPU()))
	return nil
}

// stock is how long processors have worked until some moment: for the scheduler, for etcd and the
// API server, and for all that runs on the machine; and how often the scheduler has decided, if
// that is counted.
type stock struct {
	scheduler, servers, machine time.Duration
	at                          time.Time
	attempts                    float64
}

func (w *world) takeStock(ctx context.Context, scheduler *localplane.Process) (s stock, err error) {
	if w.counting {
		if s.attempts, err = w.attempts(ctx); err != nil {
			return stock{}, err
		}
	}
	s.at = time.Now()
	if s.scheduler, err = proc.CPUTime(scheduler.PID()); err != nil {
		return stock{}, err
	}
	for _, p := range w.plane.Processes() {
		if p.Name() == localplane.Etcd || p.Name() == localplane.APIServer {
			worked, err := proc.CPUTime(p.PID())
			if err != nil {
				return stock{}, err
			}
			s.servers += worked
		}
	}
	s.machine, err = proc.MachineTime()
	return s, err
}

// countWrites counts what it took to get the pods bound. It waits for the events, which are written
// a moment later.
func (w *world) countWrites(ctx context.Context, p *peer, namespace string, d *report.Drain) error {
	t := tally{namespace: namespace, user: p.program.user(), kinds: map[string]int{}}
	err := w.await(ctx, func(context.Context) error {
		logged, err := w.log.Next()
		if err != nil {
			return err
		}
		for i := range logged {
			t.add(&logged[i])
		}
		if t.events < p.pods {
			return fmt.Errorf("there are events about %d of %d pods", t.events, p.pods)
		}
		return nil
	})
	if err != nil {
		return err
	}
	pods, writes := float64(p.pods), 0
	d.Kinds = map[string]float64{}
	for kind, count := range t.kinds {
		d.Kinds[kind] = float64(count) / pods
		writes += count
	}
	d.Writes = append(d.Writes, float64(writes)/pods)
	d.Requests = append(d.Requests, float64(t.requests)/pods)
	return nil
}

// tally counts what it takes to get the pods of a namespace bound: the creation of the pods
// themselves, whoever has created them, and all writes and requests of the scheduler and of the
// controller of claims.
type tally struct {
	namespace, user string
	// kinds are the writes by verb and resource, requests all requests of the scheduler, events its
	// events.
	kinds            map[string]int
	requests, events int
}

func (t *tally) add(r *auditlog.Request) {
	if r.Namespace != t.namespace {
		return
	}
	byScheduler := r.User == t.user
	if byScheduler {
		t.requests++
	}
	creation := r.Verb == "create" && r.Resource == "pods"
	if !r.Write() || !byScheduler && r.User != claimsUser && !creation {
		return
	}
	t.kinds[r.Verb+" "+r.Resource]++
	if byScheduler && r.Resource == "events" {
		t.events++
	}
}

// siteOf returns the site of a node of the drain.
func (w *world) siteOf(node string) string {
	number, err := strconv.Atoi(node[len("node-"):])
	if err != nil {
		return ""
	}
	return siteName(number % w.sites())
}

// violations counts the pods above the share of their site.
func violations(perSite, shares map[string]int, limited bool) int {
	count := 0
	for site, pods := range perSite {
		if limited {
			count += max(0, pods-shares[site])
		}
	}
	return count
}
