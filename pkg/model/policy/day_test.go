// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/placement/failover"
	"berth.dev/berth/pkg/placement/grouping"
)

const (
	daySites, dayPods = 1000, 20_000
	// lookEvery is how often it is looked which sites are left.
	lookEvery = 5 * time.Minute
)

// day is a policy of five groups of 200 sites each, a third of which are offline now and then.
type day struct {
	t      *testing.T
	random *rand.Rand
	object *berthv1alpha1.PropagationPolicy
	sites  *grouping.Sites
	names  []string
	online []metav1.Condition
	// left is since when sites are left, shares is what they have, and moves how many pods have
	// moved.
	left   map[string]time.Time
	shares map[string]int64
	moves  int64
}

func newDay(t *testing.T) *day {
	t.Helper()
	d := &day{t: t, random: rand.New(rand.NewPCG(20, 20)), left: map[string]time.Time{}, online: make([]metav1.Condition, daySites)}
	clusters := make([]*berthv1alpha1.Cluster, daySites)
	for i := range clusters {
		d.names = append(d.names, fmt.Sprintf("site-%03d", i))
		clusters[i] = &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{
			Name: d.names[i], Labels: map[string]string{"group": strconv.Itoa(i % 5), "size": strconv.Itoa(1 + i%7), "zone": strconv.Itoa(i % 9)},
		}}
		d.online[i] = metav1.Condition{Status: metav1.ConditionTrue}
	}
	d.sites = grouping.NewSites(clusters, nil)
	d.object = &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "p"}}
	d.object.Spec.Failover = &berthv1alpha1.Failover{}
	for g := range 5 {
		d.object.Spec.Placement.ClusterGroups = append(d.object.Spec.Placement.ClusterGroups, berthv1alpha1.ClusterGroup{
			Name: fmt.Sprint("group-", g), ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"group": strconv.Itoa(g)}},
		})
	}
	groups := d.object.Spec.Placement.ClusterGroups
	groups[0].ReplicasPerCluster = new(int32(4))
	groups[1].Weight = new(int64(3))
	groups[2].ClusterWeights = &berthv1alpha1.ClusterWeights{Type: berthv1alpha1.WeighLabel, LabelKey: "size"}
	groups[3].MaxClusters = new(int32(50))
	groups[4].SpreadConstraints = []berthv1alpha1.SpreadConstraint{{Field: berthv1alpha1.SpreadByLabel, LabelKey: "zone", MinGroups: 9}}
	d.shares = d.divide()
	return d
}

// divide returns what each site is to have while some are left.
func (d *day) divide() map[string]int64 {
	d.t.Helper()
	d.object.Status.FailedOver = nil
	for _, name := range d.names {
		if _, left := d.left[name]; left {
			d.object.Status.FailedOver = append(d.object.Status.FailedOver, berthv1alpha1.FailedOverCluster{Cluster: name})
		}
	}
	compiled := policy.Compile(d.object, d.sites)
	if compiled.Err != nil {
		d.t.Fatal(compiled.Err)
	}
	counts, unplaced := compiled.Order.Shares(dayPods)
	if unplaced > 0 {
		d.t.Fatalf("%d pods have no place", unplaced)
	}
	shares := make(map[string]int64, len(counts))
	for i, n := range counts {
		shares[compiled.Order.Name(i)] = n
	}
	return shares
}

// look leaves sites and returns to them as the rule says, and returns how many pods were in those
// that are left now. Nobody returns to a site sooner than returnAfter.
func (d *day) look(now time.Time) (pods int64) {
	d.t.Helper()
	rule, changed := failover.Of(d.object.Spec.Failover), false
	for i, name := range d.names {
		since, was := d.left[name]
		switch is, _ := rule.Left(&d.online[i], was, now); {
		case is && !was:
			d.left[name], changed = now, true
			pods += d.shares[name]
		case was && !is:
			if stayed := now.Sub(since); stayed < 30*time.Minute {
				d.t.Errorf("%s was left for %v only", name, stayed)
			}
			delete(d.left, name)
			changed = true
		}
	}
	if !changed {
		return 0
	}
	after := d.divide()
	for name, n := range d.shares {
		d.moves += max(0, n-after[name])
	}
	d.shares = after
	return pods
}

// set says since when a site has been online or offline.
func (d *day) set(site int, status metav1.ConditionStatus, since time.Time) {
	d.online[site] = metav1.Condition{Status: status, LastTransitionTime: metav1.NewTime(since)}
}

// A third of a thousand sites are offline now and then for a day, most times shorter than
// failover.after. No more pods move than are in the sites that are left, there and back, and one
// for each time that a site was offline. Afterwards everything is as before.
func TestADayOfSitesThatFlap(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	d := newDay(t)
	before := d.shares
	changes := make([]time.Time, daySites/3) // when each is offline or back next
	for i := range changes {
		changes[i] = began.Add(time.Duration(d.random.IntN(180)) * time.Minute)
	}
	var inLeft, flaps int64
	for now := began; now.Before(began.Add(24 * time.Hour)); now = now.Add(lookEvery) {
		for i := range changes {
			for !changes[i].After(now) {
				at := changes[i]
				if d.online[3*i].Status == metav1.ConditionTrue {
					flaps++
					d.set(3*i, metav1.ConditionFalse, at)
					changes[i] = at.Add(time.Minute * time.Duration([]int{1, 2, 3, 4, 40}[d.random.IntN(5)]))
				} else {
					d.set(3*i, metav1.ConditionTrue, at)
					changes[i] = at.Add(time.Minute * time.Duration(20+d.random.IntN(200)))
				}
			}
		}
		inLeft += d.look(now)
	}
	end := began.Add(24 * time.Hour)
	for i := range d.online {
		if d.online[i].Status != metav1.ConditionTrue {
			d.set(i, metav1.ConditionTrue, end)
		}
	}
	d.look(end.Add(time.Hour))
	t.Logf("%d times offline, %d pods in sites that were left, %d moves", flaps, inLeft, d.moves)
	if inLeft == 0 || d.moves > 2*inLeft+flaps {
		t.Errorf("%d moves for %d pods in sites that were left, and %d times offline", d.moves, inLeft, flaps)
	}
	if diff := cmp.Diff(before, d.shares); diff != "" || len(d.left) > 0 {
		t.Errorf("with all sites online, %d are left, and the shares are others (-before +after):\n%s", len(d.left), diff)
	}
}
