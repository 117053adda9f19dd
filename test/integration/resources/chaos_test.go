// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/flowcontrol"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/integration/internal/schedulerproc"
	"berth.dev/berth/test/integration/internal/testsize"
)

// There are 1,500 units for 2,000 pods, or 320 for 600. What is released leaves more pods than
// that, also where schedulers take so long to begin that all of it is released before they bind.
var (
	chaosPods  = testsize.Of(2000, 600)
	chaosUnits = testsize.Of(75, 32) // of each zone
	chaosZones = testsize.Of(20, 10)
	chaosKills = testsize.Of(10, 4)
)

const (
	chaosWriters = 8

	// What happens in a second: half of the kills find pools that fill up, half find them full and
	// pods that wait.
	chaosCreations = 80
	chaosReleases  = 12

	// releasesEach is how many pods are released for each scheduler, so that there are pods left
	// for all of them, however long they take: places free up for twice as many as a scheduler
	// binds.
	releasesEach = 60

	// betweenKills is how many pods a scheduler binds before it is killed.
	betweenKills = 25
)

var _ = Describe("I1 and I2: a pool is never over-allocated", Serial, func() {
	It("at any revision, with pods that come and go while one scheduler after the other is killed", func(ctx SpecContext) {
		s := newSite(ctx)
		zones := map[string]int{}
		var pools []berthv1alpha1.ClusterResourceQuantity
		for i := range chaosZones {
			zone := fmt.Sprintf("z%02d", i)
			zones[zone] = chaosUnits
			pools = append(pools, s.capacity(zone, strconv.Itoa(chaosUnits)))
			s.createNode(ctx, zone, zone, "4000")
		}
		s.createResource(ctx, "licence", pools...)
		w := s.watchFrom(ctx, "licence", zones)
		replaceMain()

		began := time.Now()
		c := &chaos{site: s, witness: w, over: make(chan struct{})}
		var working sync.WaitGroup
		working.Go(func() { c.create(ctx) })
		working.Go(func() { c.release(ctx) })
		kills := c.killSchedulers(ctx)
		close(c.over)
		schedulerproc.Start(ctx, plane, schedulerproc.Options{Name: "last", Args: schedulerproc.QuickElection}).EndAfterwards()
		working.Wait()
		Eventually(w.feasible, timeout, poll).Should(BeEmpty())
		Expect(ctx.Err()).NotTo(HaveOccurred())
		AddReportEntry("chaos", fmt.Sprintf("%d pods, %d released, %d bindings, %d kills, %d revisions, %d of %d pools were full, in %.0fs",
			chaosPods, c.released.Load(), w.bound(), kills, w.revisions, w.fill(), chaosZones, time.Since(began).Seconds()),
			ReportEntryVisibilityAlways)
		w.expectNoBreach()
		Expect(w.fill()).To(BeNumerically(">=", chaosZones/2), "pools that were full at some time, without which this proves little")

		By("comparing the account with what pods say")
		Eventually(s.reported).WithContext(ctx).WithArguments("licence").WithTimeout(timeout).WithPolling(poll).
			Should(Equal(w.sums()))
		Expect(s.resource(ctx, "licence").Status.Waiting).To(BeEquivalentTo(s.unbound(ctx)))
	})
})

// electionInChaos is quick, because nothing happens while no scheduler leads.
var electionInChaos = slices.Concat(schedulerproc.QuickElection,
	[]string{"--leader-elect-lease-duration=9s", "--leader-elect-renew-deadline=8s"})

// chaos is pods that come and go.
type chaos struct {
	*site
	*witness
	over       chan struct{}
	schedulers atomic.Int32 // that have been started
	released   atomic.Int32
}

// create makes all pods, by several writers.
func (c *chaos) create(ctx context.Context) {
	defer GinkgoRecover()
	pace := flowcontrol.NewTokenBucketRateLimiter(chaosCreations, chaosWriters)
	defer pace.Stop()
	var writing sync.WaitGroup
	for writer := range chaosWriters {
		writing.Go(func() {
			defer GinkgoRecover()
			for n := writer; n < chaosPods && ctx.Err() == nil; n += chaosWriters {
				pace.Accept()
				units := "1"
				if n%10 == 0 {
					units = "3"
				}
				c.createPod(ctx, "pod-"+strconv.Itoa(n), onZone(fmt.Sprintf("z%02d", rand.IntN(chaosZones))), asking("licence", units))
			}
		})
	}
	writing.Wait()
}

// release deletes pods, and lets others complete, for as long as schedulers are killed.
func (c *chaos) release(ctx context.Context) {
	defer GinkgoRecover()
	pace := flowcontrol.NewTokenBucketRateLimiter(chaosReleases, 1)
	defer pace.Stop()
	pods := client.CoreV1().Pods(c.namespace)
	for {
		select {
		case <-c.over:
			return
		case <-ctx.Done():
			return
		default:
		}
		pace.Accept()
		if c.released.Load() >= releasesEach*c.schedulers.Load() {
			continue
		}
		completes := rand.IntN(3) == 0
		pod := c.some(func(pod *corev1.Pod) bool { return !terminal(pod) && (!completes || pod.Spec.NodeName != "") })
		if pod == nil {
			continue
		}
		var err error
		if completes {
			_, err = pods.Patch(ctx, pod.Name, "application/merge-patch+json",
				[]byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{}, "status")
		} else {
			err = pods.Delete(ctx, pod.Name, metav1.DeleteOptions{})
		}
		if apierrors.IsNotFound(err) {
			continue // it was deleted a moment ago
		}
		Expect(err).NotTo(HaveOccurred())
		c.released.Add(1)
	}
}

// killSchedulers starts schedulers one after the other, and kills each while it is binding pods. It
// returns how many that were.
func (c *chaos) killSchedulers(ctx context.Context) int {
	GinkgoHelper()
	for n := range chaosKills {
		former := leader(ctx)
		victim := schedulerproc.Start(ctx, plane, schedulerproc.Options{Name: "victim-" + strconv.Itoa(n), Args: electionInChaos})
		c.schedulers.Add(1)
		Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(Or(BeEmpty(), Equal(former)))
		before := c.bound()
		Eventually(c.bound, timeout, poll/10).Should(BeNumerically(">=", before+betweenKills), "scheduler %d", n)
		victim.Crash()
	}
	return chaosKills
}

// unbound returns how many pods wait for a node.
func (s *site) unbound(ctx context.Context) int {
	GinkgoHelper()
	list, err := client.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName="})
	Expect(err).NotTo(HaveOccurred())
	return len(list.Items)
}
