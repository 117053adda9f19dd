// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package judge follows every revision of what is stored and says where Berth has broken a promise.
// It believes nobody but etcd.
package judge

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/internal/oracle"
)

// Change is one change of one object.
type Change struct {
	// Name is the key of the object, as "pods/default/web-1".
	Name string
	// Revision is that of the change.
	Revision int64
	// Object is what it is now, nil if it was deleted. Kinds that the judge does not know are
	// ignored.
	Object any
}

// Counts is how much the judge has seen.
type Counts struct{ Revisions, Bindings, Evictions int }

// Judge is safe for concurrent use.
type Judge struct {
	// now is what the clock says. It goes as fast as the machine works.
	now func() time.Time

	mu        sync.Mutex
	counts    Counts
	breach    error
	lastMove  time.Time
	pods      map[string]*corev1.Pod
	nodes     map[string]bool
	workloads map[string]*workload
	resources map[string]*berthv1alpha1.ClusterResource
	pools     map[string]*oracle.Pool
	used      map[string]int64
	seats     map[seat]map[types.UID]string
	histories map[string][]entry
}

// workload is a Deployment of the chaos, with its policy if it has one.
type workload struct {
	name     string
	replicas int
	// asks is how much each pod asks for of the ClusterResource resource.
	resource string
	asks     int64
	policy   *berthv1alpha1.PropagationPolicy
	// pods and placed are how many pods there are, in all and at each site.
	pods    int
	placed  map[string]int
	edited  time.Time
	surplus map[string]time.Time
}

// New returns a judge that has seen nothing.
func New(now func() time.Time) *Judge {
	return &Judge{
		now: now, pods: map[string]*corev1.Pod{}, nodes: map[string]bool{}, workloads: map[string]*workload{},
		resources: map[string]*berthv1alpha1.ClusterResource{}, pools: map[string]*oracle.Pool{}, used: map[string]int64{},
		seats: map[seat]map[types.UID]string{}, histories: map[string][]entry{},
	}
}

// SiteOf returns the Cluster of a node of the chaos, which its name tells even when it is gone.
func SiteOf(node string) string { return node[:max(0, strings.LastIndex(node, "-"))] }

// See judges a change. Changes have to come in the order of their revisions.
func (j *Judge) See(c Change) {
	j.mu.Lock()
	defer j.mu.Unlock()
	kind, name, _ := strings.Cut(c.Name, "/")
	_, short, _ := strings.Cut(name, "/")
	switch object := c.Object.(type) {
	case *corev1.Pod:
		j.seePod(c, object)
	case *appsv1.Deployment:
		j.seeDeployment(c, object)
	case *berthv1alpha1.PropagationPolicy:
		j.seePolicy(c, object)
	case *berthv1alpha1.ClusterResource:
		j.seeResource(c, object)
	case *corev1.Node:
		j.nodes[name] = true
	case nil:
		switch kind {
		case "pods":
			j.seePod(c, nil)
		case "nodes":
			delete(j.nodes, name)
			j.notef("nodes", c.Revision, "node %s is deleted", name)
		case "deployments":
			delete(j.workloads, short)
		}
	}
}

func (j *Judge) workload(name string) *workload {
	w := j.workloads[name]
	if w == nil {
		w = &workload{name: name, placed: map[string]int{}, surplus: map[string]time.Time{}}
		j.workloads[name] = w
	}
	return w
}

func (j *Judge) seeDeployment(c Change, d *appsv1.Deployment) {
	w, replicas := j.workload(d.Name), int(*d.Spec.Replicas)
	if w.replicas != replicas {
		w.edited = j.now()
		j.notef(w.name, c.Revision, "deployment %s wants %d replicas, before %d", d.Name, replicas, w.replicas)
	}
	w.replicas = replicas
	for key, text := range d.Spec.Template.Annotations {
		if name, found := strings.CutPrefix(key, berthv1alpha1.ClusterResourceAnnotationPrefix); found {
			w.resource = name
			_, _ = fmt.Sscan(text, &w.asks) // a number, written by the chaos
		}
	}
	j.noteSurplus(w)
}

func (j *Judge) seePolicy(c Change, p *berthv1alpha1.PropagationPolicy) {
	w := j.workload(p.Name)
	if w.policy == nil || w.policy.Generation != p.Generation {
		w.edited = j.now()
		j.notef(w.name, c.Revision, "policy %s has the weights %v", p.Name, oracle.Weights(p))
	}
	w.policy = p
	j.noteSurplus(w)
}

func (j *Judge) seeResource(c Change, r *berthv1alpha1.ClusterResource) {
	j.resources[r.Name] = r
	for _, item := range r.Spec.Capacity {
		key, quantity := r.Name+"/"+item.Name, item.Quantity.Value()
		if j.pools[key] == nil {
			j.pools[key] = oracle.NewPool(quantity)
		}
		if j.pools[key].Capacity != quantity {
			j.notef(key, c.Revision, "pool %s has %d, before %d", key, quantity, j.pools[key].Capacity)
		}
		j.pools[key].Resize(quantity, j.now())
	}
}

// shares returns how many pods of a workload each site is to have, nil if it has no policy.
func (w *workload) shares() map[string]int {
	if w.policy == nil {
		return nil
	}
	return oracle.Shares(oracle.Weights(w.policy), w.replicas)
}

// noteSurplus notes where a workload has more pods than its share.
func (j *Judge) noteSurplus(w *workload) {
	want := w.shares()
	for site, n := range w.placed {
		if want != nil && n > want[site] {
			w.surplus[site] = j.now()
		}
	}
}

// Breach returns the first promise that was broken, nil if none was.
func (j *Judge) Breach() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.breach
}

// Counts returns how much was seen.
func (j *Judge) Counts() Counts {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.counts
}

// SinceMove returns how long ago a pod was bound or evicted.
func (j *Judge) SinceMove() time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.now().Sub(j.lastMove)
}

// breakf notes that a promise is broken, with the histories of what it is about. The first counts.
func (j *Judge) breakf(about []string, format string, args ...any) {
	if j.breach != nil {
		return
	}
	slices.Sort(about)
	j.breach = fmt.Errorf(format+"\n%s", append(args, j.history(slices.Compact(about)))...)
}
