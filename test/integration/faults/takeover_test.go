// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/schedulerproc"
	"berth.dev/berth/test/internal/proxy"
)

// roundsVariable says how many rounds are played; the usual number takes about a minute.
const roundsVariable = "BERTH_FAULT_ROUNDS"

func rounds() int {
	if n, err := strconv.Atoi(os.Getenv(roundsVariable)); err == nil && n > 0 {
		return n
	}
	return 4
}

// election lets another process take over soon, and a live one time enough on a busy machine.
var election = []string{
	"--leader-elect-lease-duration=9s", "--leader-elect-renew-deadline=8s", "--leader-elect-retry-period=500ms",
}

// replica is a scheduler behind a proxy.
type replica struct {
	*schedulerproc.Scheduler
	proxy *proxy.Proxy
}

// start starts a process of the given name, with further flags.
func start(ctx context.Context, process string, args ...string) *replica {
	GinkgoHelper()
	between, err := proxy.Start(ctx, installation.ConfigOf(plane, schedulerproc.Name))
	Expect(err).NotTo(HaveOccurred())
	return &replica{proxy: between, Scheduler: schedulerproc.Start(ctx, plane, schedulerproc.Options{
		Name: process, Args: slices.Concat([]string{"--master=" + between.Address()}, election, args),
	})}
}

func startReplica(ctx context.Context, n int) *replica {
	GinkgoHelper()
	return start(ctx, fmt.Sprint("replica-", n))
}

func leader(ctx context.Context) string { return schedulerproc.Leader(ctx, client) }

// Ways in which a leader ends.
const (
	killed = iota
	stopped
	cutOff
	ways
)

// round is a take-over with Bindings on their way.
type round struct {
	*rand.Rand
	name, namespace string
	units           int
	longest         time.Duration
	way             int
}

func newRound(n int, namespace string) *round {
	r := &round{
		Rand: rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), uint64(n))), name: fmt.Sprint("round", n), namespace: namespace, units: 1,
	}
	if n%2 == 1 {
		r.units = 5
	}
	// One of eight rounds has Bindings that arrive long after the other process has begun.
	seconds := []int{1, 3, 8, 3, 8, 3, 8, 20}
	r.longest = time.Duration(seconds[(n+2)%len(seconds)]) * time.Second
	r.way = r.IntN(ways)
	return r
}

func (r *round) String() string {
	return fmt.Sprintf("%s of seed %d: %d units, Bindings up to %s late, the leader %s", r.name, GinkgoRandomSeed(), r.units, r.longest,
		[...]string{"killed", "stopped", "cut off"}[r.way])
}

// fates returns what becomes of Bindings.
func (r *round) fates() func() proxy.Fate {
	source := rand.New(rand.NewPCG(r.Uint64(), r.Uint64()))
	decisions := make(chan proxy.Fate, 1000)
	for range cap(decisions) {
		fate := proxy.Fate{
			Lost: source.IntN(6) == 0, Answer: proxy.Answer(source.IntN(proxy.Answers)),
			Delay: time.Duration(source.Int64N(int64(r.longest))),
		}
		if source.IntN(4) == 0 {
			fate.Unreadable = time.Duration(source.Int64N(int64(3 * time.Second)))
		}
		if source.IntN(3) == 0 {
			fate.Delay = 0
		}
		decisions <- fate
	}
	return func() proxy.Fate {
		select {
		case fate := <-decisions:
			return fate
		default:
			return proxy.Fate{}
		}
	}
}

// create makes pods that ask for more units than there are, and a Deployment with as many replicas.
func (r *round) create(ctx context.Context) {
	GinkgoHelper()
	labels := map[string]string{"app": r.name}
	_, err := client.AppsV1().Deployments(r.namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: r.name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(int32(r.units)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: template()},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	r.createUnits(ctx, r.units+3)
}

func template() corev1.PodSpec {
	return corev1.PodSpec{
		SchedulerName: schedulerproc.Name, AutomountServiceAccountToken: ptr.To(false), TerminationGracePeriodSeconds: ptr.To[int64](0),
		Containers: []corev1.Container{{Name: "main", Image: "nginx:1.27"}},
	}
}

// createUnits makes pods that ask for a unit each.
func (r *round) createUnits(ctx context.Context, pods int) {
	GinkgoHelper()
	for i := range pods {
		_, err := client.CoreV1().Pods(r.namespace).Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprint(r.name, "-unit-", i), Labels: map[string]string{"app": "units"},
				Annotations: map[string]string{berthv1alpha1.ClusterResourceAnnotationPrefix + r.licence(): "1", berthv1alpha1.PolicyAnnotation: "none"},
			},
			Spec: template(),
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
}

func (r *round) licence() string { return "licence-" + strconv.Itoa(r.units) }

// strike ends the leader in its way, and waits until somebody else has its lease.
func (r *round) strike(ctx context.Context, victim *replica, holder func(context.Context) string) {
	GinkgoHelper()
	former := holder(ctx)
	switch r.way {
	case killed:
		victim.Crash()
	case stopped:
		victim.ExpectEnd()
		Expect(victim.Kill(syscall.SIGSTOP)).To(Succeed())
	case cutOff:
		victim.ExpectEnd()
		victim.proxy.CutOff(true)
	}
	Eventually(holder).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(Or(BeEmpty(), Equal(former)), r.String())
	if r.way == stopped {
		Expect(victim.Kill(syscall.SIGCONT)).To(Succeed())
	}
}

// play lets a leader send Bindings that go astray, end, and another process take over.
func (r *round) play(ctx context.Context, w *witness, victim *replica) {
	GinkgoHelper()
	before := victim.proxy.Bindings()
	victim.proxy.Decide(r.fates())
	r.create(ctx)
	Eventually(victim.proxy.Bindings).WithTimeout(timeout).WithPolling(poll/10).Should(BeNumerically(">", before+r.IntN(r.units+1)), r.String())
	r.strike(ctx, victim, leader)
	Eventually(victim.Done()).WithTimeout(timeout).WithPolling(poll).Should(BeClosed(), r.String())
	r.expectAllGiven(w)
	victim.proxy.Drain()
	Expect(victim.proxy.Stop()).To(Succeed())
}

// expectAllGiven waits until all that there is has been given out.
func (r *round) expectAllGiven(w *witness) {
	GinkgoHelper()
	Eventually(func() [2]int { return [2]int{w.bound("units"), w.bound(r.name)} }).WithTimeout(fits).WithPolling(poll).
		Should(Equal([2]int{r.units, r.units}), r.String())
}

// clear removes what a round has made.
func (r *round) clear(ctx context.Context, w *witness) {
	GinkgoHelper()
	Expect(client.AppsV1().Deployments(r.namespace).Delete(ctx, r.name,
		metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)})).To(Succeed())
	r.removePods(ctx, w)
}

// removePods removes all pods of the namespace.
func (r *round) removePods(ctx context.Context, w *witness) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(client.CoreV1().Pods(r.namespace).DeleteCollection(ctx,
			metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}, metav1.ListOptions{})).To(Succeed())
		g.Expect(w.size()).To(BeZero())
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed(), r.String())
}

var _ = Describe("a leader whose Bindings go astray and who ends", Ordered, func() {
	namespaces, witnesses := map[int]string{}, map[int]*witness{}

	BeforeAll(func(ctx SpecContext) {
		for _, units := range []int{1, 5} {
			namespaces[units] = installation.CreateNamespace(ctx, client, "faults-")
			witnesses[units] = observe(ctx, namespaces[units], int64(units))
			r := &round{units: units, namespace: namespaces[units]}
			r.define(ctx)
		}
	})

	// play plays all rounds.
	play := func(ctx context.Context, one func(n int, r *round, w *witness)) {
		began := time.Now()
		for n := range rounds() {
			r := newRound(n, namespaces[1+4*(n%2)])
			w := witnesses[r.units]
			one(n, r, w)
			r.clear(ctx, w)
			Expect(w.found()).To(BeEmpty(), r.String())
		}
		AddReportEntry("rounds", fmt.Sprintf("%d rounds in %.0fs, %d revisions", rounds(), time.Since(began).Seconds(),
			witnesses[1].seen()+witnesses[5].seen()), ReportEntryVisibilityAlways)
	}

	It("is followed by one that gives nothing twice", func(ctx SpecContext) {
		leads := startReplica(ctx, 0)
		Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
		leads.UntilKnows(ctx, berth)
		play(ctx, func(n int, r *round, w *witness) {
			next := startReplica(ctx, n+1)
			next.UntilKnows(ctx, berth)
			r.play(ctx, w, leads)
			leads = next
		})
		leads.End()
		Expect(leads.proxy.Stop()).To(Succeed())
	})

	It("has a build of another version beside it that leads by another lease, and nothing is given twice", func(ctx SpecContext) {
		playBuilds(ctx, namespaces[5], witnesses[5])
	})

	It("is one of three that share with grants, and nothing is given twice", func(ctx SpecContext) {
		f := fleet{}
		for _, name := range fleetNames {
			f[name] = startNamed(ctx, name, "first")
		}
		f.untilShared(ctx)
		play(ctx, func(_ int, r *round, w *witness) { f.play(ctx, r, w) })
		for _, scheduler := range f {
			scheduler.End()
			Expect(scheduler.proxy.Stop()).To(Succeed())
		}
	})
})

// define makes what the rounds with so many units have in common.
func (r *round) define(ctx context.Context) {
	GinkgoHelper()
	spec := berthv1alpha1.ClusterResourceSpec{Capacity: []berthv1alpha1.ClusterResourceQuantity{{
		Name: "all", Quantity: *resource.NewQuantity(int64(r.units), resource.DecimalSI),
	}}}
	_, err := berth.BerthV1alpha1().ClusterResources().Create(ctx,
		&berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: r.licence()}, Spec: spec}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	policy := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "web"}}
	policy.Spec.ResourceSelectors = []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment"}}
	for _, site := range sites {
		policy.Spec.Placement.StaticWeightList = append(policy.Spec.Placement.StaticWeightList,
			berthv1alpha1.StaticClusterWeight{ClusterNames: []string{site}, Weight: 1})
	}
	_, err = berth.BerthV1alpha1().PropagationPolicies(r.namespace).Create(ctx, policy, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}
