// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/internal/auditlog"
	"berth.dev/berth/test/perf/report"
)

// sites is how many sites the nodes of the drain lie in: the chosen ones hold a part of the nodes.
func (w *world) sites() int { return max(chosenSites, w.Nodes/10) }

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
			if round > 0 && peers[i].once {
				continue
			}
			d := &results.Drains[i]
			if err := w.drain(ctx, &peers[i], round, d); err != nil {
				return fmt.Errorf("%s: %w", peers[i].name, err)
			}
			last := len(d.PodsPerSecond) - 1
			w.sayf("drain, round %d of %d: %s: %.0f pods/s, %.2f ms CPU a pod, %.2f writes a pod",
				round+1, w.Rounds, d.Name, d.PodsPerSecond[last], d.CPUMilliseconds[last], d.Writes[last])
		}
	}
	return errors.Join(w.deleteNodes(ctx),
		w.berth.BerthV1alpha1().ClusterResources().DeleteCollection(ctx, forget, everything))
}

// drain creates the pods of a peer, then starts its scheduler, and measures from the time when it
// is at work until all are bound.
func (w *world) drain(ctx context.Context, p *peer, round int, d *report.Drain) error {
	namespace := fmt.Sprintf("drain-%s-%d", p.name, round)
	if err := w.createNamespace(ctx, namespace); err != nil {
		return err
	}
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
	process, err := w.run(ctx, &p.program)
	if err != nil {
		return err
	}
	if err := w.observe(ctx, p, b, process, d); err != nil {
		return errors.Join(err, process.Stop(stopGrace))
	}
	if err := w.countWrites(ctx, p, namespace, d); err != nil {
		return errors.Join(err, process.Stop(stopGrace))
	}
	memory, err := peakMemory(process.PID())
	if err := errors.Join(err, process.Stop(stopGrace)); err != nil {
		return err
	}
	d.MemoryBytes = append(d.MemoryBytes, memory)
	d.Violations += violations(b.perSite(w.siteOf), sharesOf(p.pods), p.limited)
	return w.clear(ctx, namespace)
}

// observe notes how fast pods are bound, and what that costs the scheduler.
func (w *world) observe(ctx context.Context, p *peer, b *bindings, process *localplane.Process, d *report.Drain) error {
	// The first pods come from a queue that was filled while the caches were, and find them cold.
	first := max(p.skip, p.pods/20)
	from, err := b.get(ctx, first)
	if err != nil {
		return err
	}
	before, err := cpuTime(process.PID())
	if err != nil {
		return err
	}
	to, err := b.get(ctx, p.pods-1)
	if err != nil {
		return err
	}
	after, err := cpuTime(process.PID())
	if err != nil {
		return err
	}
	bound := float64(p.pods - 1 - first)
	d.PodsPerSecond = append(d.PodsPerSecond, bound/to.at.Sub(from.at).Seconds())
	d.CPUMilliseconds = append(d.CPUMilliseconds, float64(after-before)/float64(time.Millisecond)/bound)
	return nil
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
