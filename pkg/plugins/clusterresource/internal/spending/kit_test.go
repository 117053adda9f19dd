// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package spending

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/fence"
	berthfake "berth.dev/berth/pkg/generated/clientset/versioned/fake"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/ledger"
	"berth.dev/berth/pkg/plugins/internal/waitlist"
)

var mustParse = resource.MustParse

// all is the only pool of the ClusterResource that tests are about, and other one of which nobody
// knows.
var (
	all   = pool.Key{Resource: "licence", Pool: "all"}
	other = pool.Key{Resource: "licence", Pool: "other"}
)

// licence is a ClusterResource with a pool of 10, in units of 500m, and grants of it.
func licence(revision int64, grants ...berthv1alpha1.PoolGrant) *berthv1alpha1.ClusterResource {
	return &berthv1alpha1.ClusterResource{
		ObjectMeta: metav1.ObjectMeta{Name: "licence", UID: "licence", Generation: 1},
		Spec:       berthv1alpha1.ClusterResourceSpec{Unit: ptr.To(mustParse("500m"))},
		Status: berthv1alpha1.ClusterResourceStatus{
			Allocatable: []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: mustParse("10")}},
			Grants:      grants, GrantsRevision: revision,
		},
	}
}

// grant is one to a scheduler; shrinkTo may be empty.
func grant(scheduler, quantity, shrinkTo string, revision int64) berthv1alpha1.PoolGrant {
	g := berthv1alpha1.PoolGrant{Scheduler: scheduler, Pool: "all", Quantity: mustParse(quantity), Revision: revision}
	if shrinkTo != "" {
		g.ShrinkTo = ptr.To(mustParse(shrinkTo))
	}
	return g
}

// resources compiles ClusterResources.
func resources(objects ...*berthv1alpha1.ClusterResource) *catalog.Resources {
	fixed := catalog.NewFixed(clocktesting.NewFakeClock(time.Unix(0, 0)))
	fixed.Set(&catalog.Objects{Resources: objects})
	return fixed.Resources.Snapshot()
}

// charge is one to the pool all out of the grant of a scheduler.
func charge(grantee, quantity string) []pool.Charge {
	return []pool.Charge{{Resource: "licence", Pool: "all", Quantity: mustParse(quantity), Grantee: grantee}}
}

// holder is a pod that was bound and charged.
func holder(name string, charges []pool.Charge) *corev1.Pod {
	pod := waiting(name)
	pod.Annotations, pod.Spec.NodeName = stamp.ChargeAnnotations(pod, "node", charges), "node"
	return pod
}

func waiting(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)}}
}

func scheduler(name string) *berthv1alpha1.Scheduler {
	return &berthv1alpha1.Scheduler{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
}

// wanted is what pods want in a test.
type wanted struct {
	wishes map[pool.Key][]waitlist.Wish
	raised map[pool.Key]int64
	serves []*corev1.Pod
}

func (d *wanted) Wishes() map[pool.Key][]waitlist.Wish { return d.wishes }

func (d *wanted) Raised(by map[pool.Key]int64) []*corev1.Pod {
	d.raised = by
	return d.serves
}

// Lifted leaves out the pods that nothing serves.
func (d *wanted) Lifted(waiting []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(waiting), func(pod *corev1.Pod) bool { return pod.Name == "hopeless" })
}

// bench is the Spender of scheduler a in the lead, of several, and all that it sees and does.
type bench struct {
	*Spender

	api       *berthfake.Clientset
	clock     *clocktesting.FakeClock
	demand    *wanted
	homes     *catalog.Homes
	resources *catalog.Resources
	charged   []*corev1.Pod
	waiting   []*corev1.Pod
	woken     []string
}

func newBench(t *testing.T, objects ...runtime.Object) *bench {
	t.Helper()
	b := &bench{
		api: berthfake.NewSimpleClientset(objects...), clock: clocktesting.NewFakeClock(time.Unix(1000, 0)), demand: &wanted{},
		homes: &catalog.Homes{Registered: true, Shared: true}, resources: resources(),
	}
	open := fence.New()
	open.KeepOpen()
	b.Spender = &Spender{
		Sharing: &Sharing{
			Berth: b.api, Fence: open, Homes: func() *catalog.Homes { return b.homes },
			Charged: func(string) []*corev1.Pod { return b.charged },
		},
		Clock: b.clock, Grants: NewGrants("a"), Resources: func() *catalog.Resources { return b.resources },
		Pending: ledger.NewPending(), Late: NewLate(), Ahead: NewAhead(b.clock), Demand: b.demand, Waiting: func() []*corev1.Pod { return b.waiting },
		Wake: func(pods []*corev1.Pod) {
			for _, pod := range pods {
				b.woken = append(b.woken, pod.Name)
			}
		},
	}
	return b
}

// mustPass makes a pass, and lets the Homes follow what it has written.
func (b *bench) mustPass(t *testing.T) {
	t.Helper()
	if err := b.pass(t.Context()); err != nil {
		t.Fatalf("pass: %v", err)
	}
	if own, err := b.api.BerthV1alpha1().Schedulers().Get(t.Context(), "a", metav1.GetOptions{}); err == nil {
		homes := *b.homes
		homes.Spending = own.Status.Spending
		b.homes = &homes
	}
}

// writes counts the writes to the API server.
func (b *bench) writes() int {
	n := 0
	for _, action := range b.api.Actions() {
		if action.Matches("patch", "schedulers") {
			n++
		}
	}
	return n
}

// textsOf returns what is reported of pools, as "POOL revision REVISION limit LIMIT wanted WANTED
// least LEAST priority PRIORITY".
func textsOf(spending *berthv1alpha1.Spending) []string {
	if spending == nil {
		return nil
	}
	texts := []string{}
	if spending.Closed {
		texts = append(texts, "closed")
	}
	for _, p := range spending.Pools {
		text := p.Pool
		if p.Revision != 0 {
			text += " revision " + strconv.FormatInt(p.Revision, 10)
		}
		if p.Limit != nil {
			text += " limit " + p.Limit.String()
		}
		if p.Wanted != nil {
			text += " wanted " + p.Wanted.String() + " least " + p.Least.String() + " priority " + strconv.Itoa(int(p.Priority))
		}
		lower, next := make([]string, len(p.Lower)), make([]string, len(p.Next))
		for i := range p.Lower {
			d := &p.Lower[i]
			lower[i] = " then " + d.Wanted.String() + " least " + d.Least.String() + " priority " + strconv.Itoa(int(d.Priority))
		}
		for i := range p.Next {
			next[i] = " next " + p.Next[i].Wanted.String() + " priority " + strconv.Itoa(int(p.Next[i].Priority))
		}
		texts = append(texts, text+strings.Join(lower, "")+strings.Join(next, ""))
	}
	return texts
}
