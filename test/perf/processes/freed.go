// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/perf/report"
)

const (
	// places is how many pods find one, and also how many nodes there are.
	places = 100
	// freedEvery is the pace at which places become free.
	freedEvery = 50 * time.Millisecond
)

// scarcePeers are the ways in which places are scarce. All pods are those of one Deployment, so
// that a new pod waits for each that is deleted.
func (w *world) scarcePeers() []peer {
	stock, berth := program{}, w.shipped()
	return []peer{
		{name: "stock", title: "kube-scheduler, the nodes have no cpu left", program: stock,
			create: func(ctx context.Context, w *world, namespace string, p *peer) error {
				spec := podSpec(p.program.schedulerName())
				request(&spec, corev1.ResourceCPU, "20")
				return w.createDeployment(ctx, namespace, p.pods, &spec)
			}},
		{name: "policy", title: "Berth, shipped profile, the shares of the policy are used up", program: berth,
			create: func(ctx context.Context, w *world, namespace string, p *peer) error {
				if err := w.createPolicy(ctx, namespace, "web", sharesOf(places)); err != nil {
					return err
				}
				spec := podSpec(p.program.schedulerName())
				return w.createDeployment(ctx, namespace, p.pods, &spec)
			}},
		{name: "resource", title: "Berth, shipped profile, the ClusterResource is used up", program: berth,
			create: func(ctx context.Context, w *world, namespace string, p *peer) error {
				if err := w.createResource(ctx, sharesOf(places)); err != nil {
					return err
				}
				spec := podSpec(p.program.schedulerName())
				request(&spec, berthv1alpha1.ClusterResourceDomain+"/unit", "1")
				return w.createDeployment(ctx, namespace, p.pods, &spec)
			}},
	}
}

// freedPlaces measures how soon a place that becomes free is taken.
func (w *world) freedPlaces(ctx context.Context, results *report.Processes) error {
	if err := w.createNodes(ctx, places, chosenSites, 0); err != nil {
		return err
	}
	peers := w.chosen(w.scarcePeers())
	results.Freed = make([]report.Freed, len(peers))
	for i := range peers {
		peers[i].pods = places + w.Waiting
		results.Freed[i] = report.Freed{Name: peers[i].name, Title: peers[i].title, Waiting: w.Waiting}
	}
	for round := range w.FreedRounds {
		for turn := range peers {
			i := (turn + round) % len(peers)
			f := &results.Freed[i]
			if err := w.freePlaces(ctx, &peers[i], fmt.Sprintf("freed-%s-%d", peers[i].name, round), f); err != nil {
				return fmt.Errorf("%s: %w", peers[i].name, err)
			}
			times := f.Milliseconds[len(f.Milliseconds)-1]
			w.sayf("freed, round %d of %d: %s: p50 %.1f ms, p99 %.1f ms", round+1, w.FreedRounds, peers[i].name,
				report.Quantile(times, 0.5), report.Quantile(times, 0.99))
		}
	}
	return errors.Join(w.deleteNodes(ctx),
		w.berth.BerthV1alpha1().ClusterResources().DeleteCollection(ctx, forget, everything))
}

// freePlaces lets pods have all places, and others wait; then it deletes one after the other of
// those that have a place.
func (w *world) freePlaces(ctx context.Context, p *peer, namespace string, f *report.Freed) error {
	if err := w.createNamespace(ctx, namespace); err != nil {
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
	times, err := w.takeTimes(ctx, p, namespace, b)
	if err := errors.Join(err, process.Stop(stopGrace)); err != nil {
		return err
	}
	f.Milliseconds = append(f.Milliseconds, times)
	requests, err := w.requestsOf(p.program.user(), namespace)
	if err != nil {
		return err
	}
	f.Requests = append(f.Requests, float64(requests)/float64(w.Freed))
	return w.clear(ctx, namespace)
}

// requestsOf counts the requests of a user about a namespace that have been logged since the log
// was read last.
func (w *world) requestsOf(user, namespace string) (int, error) {
	logged, err := w.log.Next()
	if err != nil {
		return 0, err
	}
	requests := 0
	for i := range logged {
		if logged[i].User == user && logged[i].Namespace == namespace {
			requests++
		}
	}
	return requests, nil
}

func (w *world) takeTimes(ctx context.Context, p *peer, namespace string, b *bindings) ([]float64, error) {
	if _, err := b.get(ctx, places-1); err != nil {
		return nil, err
	}
	if err := w.awaitRejected(ctx, p, namespace); err != nil {
		return nil, err
	}
	pace := time.NewTicker(freedEvery)
	defer pace.Stop()
	times := make([]float64, 0, w.Freed)
	for n := range w.Freed {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-pace.C:
		}
		holder, err := b.get(ctx, n)
		if err != nil {
			return nil, err
		}
		freed := time.Now()
		if err := w.client.CoreV1().Pods(namespace).Delete(ctx, holder.pod, metav1.DeleteOptions{}); err != nil {
			return nil, fmt.Errorf("deleting a pod: %w", err)
		}
		next, err := b.get(ctx, places+n)
		if err != nil {
			return nil, err
		}
		times = append(times, float64(next.at.Sub(freed))/float64(time.Millisecond))
	}
	return times, nil
}

// awaitRejected waits until the scheduler has told all pods that have no place why.
func (w *world) awaitRejected(ctx context.Context, p *peer, namespace string) error {
	told := map[string]bool{}
	return w.await(ctx, func(context.Context) error {
		logged, err := w.log.Next()
		if err != nil {
			return err
		}
		for i := range logged {
			r := &logged[i]
			if r.Namespace == namespace && r.User == p.program.user() && r.Verb == "patch" && r.Resource == "pods/status" {
				told[r.Name] = true
			}
		}
		if len(told) < w.Waiting {
			return fmt.Errorf("%d of %d waiting pods have been told why", len(told), w.Waiting)
		}
		return nil
	})
}
