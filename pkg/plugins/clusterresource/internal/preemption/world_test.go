// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package preemption

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	kubefake "k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/ledger"
)

// now is the time of the worlds.
var now = time.Unix(1000, 0)

// world is what a dry run looks at: nodes that take so many pods, each of which draws on the pool
// of the first letter of its name, and pods that hold units of it.
type world struct {
	fwk.Handle

	nodes   []*corev1.Node
	pods    []*corev1.Pod
	free    map[string]int64
	budgets []*policyv1.PodDisruptionBudget
	// others are pods that hold units in the grant of another scheduler.
	others map[types.UID]bool
	// asked is how many units the pod asks for that others may have to make way for.
	asked int64

	snapshot  *internalcache.Snapshot
	informers informers.SharedInformerFactory
	preemptor *Preemptor
	victims   []string
}

// node adds a node that takes so many pods.
func (w *world) node(name string, slots string) {
	w.nodes = append(w.nodes, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourcePods: resource.MustParse(slots)}},
	})
}

// pod adds a pod that holds units.
func (w *world) pod(name, node string, priority int32, units string) *corev1.Pod {
	p := withPriority(named(name), priority)
	p.Spec.NodeName, p.Annotations = node, map[string]string{"units": units}
	w.pods = append(w.pods, p)
	return p
}

// heldBy returns what a pod holds; nodes that are gone have pools as well.
func (w *world) heldBy(pod *corev1.Pod) []pool.Charge {
	if pod.Annotations["units"] == "0" {
		return nil
	}
	charge := pool.Charge{Resource: "licence", Pool: pod.Spec.NodeName[:1], Quantity: resource.MustParse(pod.Annotations["units"])}
	if w.others[pod.UID] {
		charge.Grantee = "other"
	}
	return []pool.Charge{charge}
}

// Holder implements Holders.
func (w *world) Holder(uid types.UID) *ledger.Holder {
	for _, p := range w.pods {
		if p.UID == uid && w.heldBy(p) != nil {
			return &ledger.Holder{Pod: p, Charges: w.heldBy(p)}
		}
	}
	return nil
}

// Holders implements Holders.
func (w *world) Holders(visit func(*ledger.Holder)) {
	for _, p := range w.pods {
		if h := w.Holder(p.UID); h != nil {
			visit(h)
		}
	}
}

func (w *world) SnapshotSharedLister() fwk.SharedLister                 { return w.snapshot }
func (w *world) SharedInformerFactory() informers.SharedInformerFactory { return w.informers }
func (w *world) credit(cycle fwk.CycleState, pod fwk.PodInfo, sign int64) {
	read(cycle).book(w.heldBy(pod.GetPod()), sign)
}

func (w *world) exists(node string) bool {
	return slices.ContainsFunc(w.nodes, func(n *corev1.Node) bool { return n.Name == node })
}

func (w *world) RunPreFilterExtensionRemovePod(
	_ context.Context, cycle fwk.CycleState, _ *corev1.Pod, removed fwk.PodInfo, _ fwk.NodeInfo,
) *fwk.Status {
	w.credit(cycle, removed, 1)
	return nil
}

func (w *world) RunPreFilterExtensionAddPod(
	_ context.Context, cycle fwk.CycleState, _ *corev1.Pod, added fwk.PodInfo, _ fwk.NodeInfo,
) *fwk.Status {
	w.credit(cycle, added, -1)
	return nil
}

func (w *world) RunFilterPluginsWithNominatedPods(
	_ context.Context, cycle fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo,
) *fwk.Status {
	if _, enough := read(cycle).Choose(node.Node().Name); enough && len(node.GetPods()) < node.GetAllocatable().GetAllowedPodNumber() {
		return nil
	}
	return fwk.NewStatus(fwk.Unschedulable)
}

const claimsKey fwk.StateKey = "claims"

func read(cycle fwk.CycleState) *claims {
	data, err := cycle.Read(claimsKey)
	if err != nil {
		panic(err)
	}
	return data.(*claims) //nolint:forcetypeassert // it is written so
}

// claims are those of a pod that asks for units of one ClusterResource.
type claims struct {
	world *world
	free  map[string]int64
	// lost are the pods of nodes that are gone which were credited.
	lost map[types.UID]bool
}

func (c *claims) Clone() fwk.StateData {
	return &claims{world: c.world, free: maps.Clone(c.free), lost: maps.Clone(c.lost)}
}

func (c *claims) book(charges []pool.Charge, sign int64) {
	for _, charge := range charges {
		if charge.Grantee == "" {
			c.free[charge.Pool] += sign * charge.Quantity.Value()
		}
	}
}

func (c *claims) Concerns(charges []pool.Charge) bool { return len(charges) > 0 }
func (c *claims) SiteKey(node string) string          { return node[:1] }

func (c *claims) Lacks(node string) ([]pool.Lack, bool) {
	if node[:1] == "x" {
		return nil, false // its pools are not known
	}
	return []pool.Lack{{Pools: []int32{int32(node[0])}, Short: []int64{c.world.asked - c.free[node[:1]]}}}, true
}

func (c *claims) Frees(charges []pool.Charge) []pool.Freed {
	var freed []pool.Freed
	for _, charge := range charges {
		freed = append(freed, pool.Freed{Pool: int32(charge.Pool[0]), Units: charge.Quantity.Value()})
	}
	return freed
}

func (c *claims) Credit(pod *corev1.Pod, charges []pool.Charge) {
	if !c.lost[pod.UID] {
		c.lost[pod.UID] = true
		c.book(charges, 1)
	}
}

func (c *claims) Choose(node string) ([]pool.Charge, bool) {
	if c.free[node[:1]] < c.world.asked {
		return nil, false
	}
	return []pool.Charge{{Resource: "licence", Pool: node[:1], Quantity: *resource.NewQuantity(c.world.asked, resource.DecimalSI)}}, true
}

// build completes the world once everything has been added.
func (w *world) build() {
	w.snapshot = internalcache.NewSnapshot(slices.DeleteFunc(slices.Clone(w.pods), func(p *corev1.Pod) bool {
		return !w.exists(p.Spec.NodeName)
	}), w.nodes)
	w.informers = informers.NewSharedInformerFactory(kubefake.NewClientset(), 0)
	for _, budget := range w.budgets {
		if err := w.informers.Policy().V1().PodDisruptionBudgets().Informer().GetIndexer().Add(budget); err != nil {
			panic(err)
		}
	}
	clock := clocktesting.NewFakePassiveClock(now)
	w.preemptor = &Preemptor{
		Plugin: "ClusterResource", Handle: w, Clock: clock, Holders: w, Earmarks: NewEarmarks(clock),
		Mine:   func(c pool.Charge) bool { return c.Grantee == "" },
		Claims: func(cycle fwk.CycleState) Claims { return read(cycle) },
		Report: func() func([]*corev1.Pod) { return w.report },
	}
}

func (w *world) report(victims []*corev1.Pod) {
	w.victims = []string{}
	for _, v := range victims {
		w.victims = append(w.victims, v.Name)
	}
	slices.Sort(w.victims)
}

// infos returns the nodes as a scheduling cycle sees them.
func (w *world) infos() []fwk.NodeInfo {
	infos := make([]fwk.NodeInfo, len(w.nodes))
	for i, n := range w.nodes {
		infos[i], _ = w.snapshot.NodeInfos().Get(n.Name)
	}
	return infos
}

// preempt asks who makes way for a pod.
func (w *world) preempt(ctx context.Context, pod *corev1.Pod) (node string, outcome Outcome) {
	cycle := framework.NewCycleState()
	cycle.Write(claimsKey, &claims{world: w, free: maps.Clone(w.free), lost: map[types.UID]bool{}})
	return w.preemptor.Preempt(ctx, cycle, pod, w.infos())
}

// budget is one for the pods of an app that allows so many disruptions.
func budget(app string, allowed int32) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: app},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
	}
}

// leaving lets a pod be on its way out.
func leaving(pod *corev1.Pod, grace int64) {
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &metav1.Time{Time: now}, ptr.To(grace)
}

// newWorld returns an empty world, in which a pod asks for units.
func newWorld(asked int64) *world {
	return &world{asked: asked, free: map[string]int64{}, others: map[types.UID]bool{}}
}
