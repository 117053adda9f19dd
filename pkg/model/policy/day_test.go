// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package policy_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/topology"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/failover"
	"berth.dev/berth/pkg/placement/grouping"
	"berth.dev/berth/pkg/placement/rebalance"
)

const (
	// BERTH_DAY=1000 is the day of a thousand sites and 20,000 pods, which takes minutes.
	daySites, podsOfASite = 100, 20
	// lookEvery is how often it is looked which sites are left.
	lookEvery   = 5 * time.Minute
	returnAfter = 30 * time.Minute
)

// dayPod is a pod of the workload of a day.
type dayPod struct {
	site   string
	place  rebalance.Place
	born   time.Time
	serial int
	// instead is true if it was made because another one had to move.
	instead bool
}

// day is a policy of five groups of sites, a third of which are offline now and then, and the pods
// of a workload, which are placed and moved as the scheduler and the controller of policies do it.
type day struct {
	t      *testing.T
	random *rand.Rand
	object *berthv1alpha1.PropagationPolicy
	sites  *grouping.Sites
	names  []string
	// clusters are the sites, and online the condition of each.
	clusters []*topology.Cluster
	byName   map[string]*topology.Cluster
	online   []metav1.Condition
	changes  []time.Time // when each site that flaps is offline or back next
	pods     []dayPod
	serial   int
	// held reports whether pods stay because they have moved of late.
	held bool
	// left is since when sites are left. moves is how many pods have moved, inLeft how many were in
	// sites as these were left, and chased how many of those had come there within returnAfter.
	left                         map[string]time.Time
	moves, inLeft, flaps, chased int
}

func newDay(t *testing.T, sites int, began time.Time) *day {
	t.Helper()
	d := &day{t: t, random: rand.New(rand.NewPCG(20, 20)), left: map[string]time.Time{}, online: make([]metav1.Condition, sites)}
	d.byName = map[string]*topology.Cluster{}
	clusters := make([]*berthv1alpha1.Cluster, sites)
	for i := range clusters {
		d.names = append(d.names, fmt.Sprintf("site-%03d", i))
		clusters[i] = &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{
			Name: d.names[i], Labels: map[string]string{"group": strconv.Itoa(i % 5), "size": strconv.Itoa(1 + i%7), "zone": strconv.Itoa(i % 9)},
		}}
		d.online[i] = metav1.Condition{Type: berthv1alpha1.ClusterOnline, Status: metav1.ConditionTrue}
		d.clusters = append(d.clusters, &topology.Cluster{Object: clusters[i]})
		d.byName[d.names[i]] = d.clusters[i]
	}
	for range sites / 3 {
		d.changes = append(d.changes, began.Add(time.Duration(d.random.IntN(180))*time.Minute))
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
	groups[3].MaxClusters = new(int32(sites / 20))
	groups[4].SpreadConstraints = []berthv1alpha1.SpreadConstraint{{Field: berthv1alpha1.SpreadByLabel, LabelKey: "zone", MinGroups: 9}}
	d.settle(began)
	d.moves = 0
	return d
}

// plan returns what each site is to have while some are left.
func (d *day) plan() (*apportion.Order, *apportion.Plan) {
	d.t.Helper()
	left := map[string]metav1.Time{}
	for name, since := range d.left {
		left[name] = metav1.NewTime(since)
	}
	policy.SetLeft(&d.object.Status, left)
	compiled := policy.Compile(d.object, d.sites)
	if compiled.Err != nil {
		d.t.Fatal(compiled.Err)
	}
	plan := compiled.Plan(int32(podsOfASite * len(d.names)))
	if plan.Unplaced() > 0 {
		d.t.Fatalf("%d pods have no place", plan.Unplaced())
	}
	return compiled.Order, plan
}

// settle binds pods to free seats and moves those beyond the share of their site, until there are
// none, or only such as have moved of late.
func (d *day) settle(now time.Time) {
	d.t.Helper()
	order, plan := d.plan()
	clusters := make([]rebalance.Vacancy, order.Len())
	for c := range clusters {
		clusters[c] = rebalance.Vacancy{Ready: true, Room: len(d.pods)}
	}
	for {
		d.bind(order, plan, now)
		unsettled, _ := policy.Unsettled(d.object, d.clusters, now)
		decision := rebalance.Decide(&rebalance.Round{
			Plan: plan, Clusters: clusters, Pods: d.stamp(order, plan, now), RolloutFinished: true, MaxUnavailable: len(d.pods),
			Fresh: failover.Of(d.object.Spec.Failover).ReturnAfter(), FreshStay: unsettled,
		})
		if d.held = decision.Held != ""; d.held && decision.Held != rebalance.PodsMoved {
			d.t.Fatalf("pods stay where they are not to be: %s", decision.Held)
		}
		if len(decision.Victims) == 0 {
			return
		}
		for _, v := range decision.Victims {
			pod := &d.pods[v.Pod]
			if pod.instead && now.Sub(pod.born) < returnAfter {
				d.t.Errorf("pod %d is evicted from %s, where it came %v ago", pod.serial, pod.site, now.Sub(pod.born))
			}
			pod.site = ""
		}
		d.end(func(p *dayPod) bool { return p.site == "" })
	}
}

// end removes pods, whose replacements are to be bound.
func (d *day) end(which func(*dayPod) bool) (ended int) {
	before := len(d.pods)
	d.pods = slices.DeleteFunc(d.pods, func(p dayPod) bool { return which(&p) })
	d.moves += before - len(d.pods)
	return before - len(d.pods)
}

// bind gives a pod to each free seat, as the scheduler does.
func (d *day) bind(order *apportion.Order, plan *apportion.Plan, now time.Time) {
	held := make([]apportion.Held, order.Len())
	for i := range d.pods {
		if c, named := order.Index(d.pods[i].site); named {
			held[c].Add(int64(d.pods[i].place / rebalance.Spacing))
		}
	}
	missing := int(plan.Replicas()) - len(d.pods)
	for c := range held {
		for seat, free := plan.FirstFreeOf(c, &held[c]); free && missing > 0; seat, free = plan.FirstFreeOf(c, &held[c]) {
			held[c].Add(int64(seat))
			d.serial++
			missing--
			d.pods = append(d.pods, dayPod{
				site: order.Name(c), place: rebalance.PlaceOf(int32(seat)), born: now, serial: d.serial, instead: d.serial > podsOfASite*len(d.names),
			})
		}
	}
}

// stamp puts the places of the pods in order, and returns the pods.
func (d *day) stamp(order *apportion.Order, plan *apportion.Plan, now time.Time) []rebalance.Replica {
	replicas := make([]rebalance.Replica, len(d.pods))
	for i := range d.pods {
		p := &d.pods[i]
		replicas[i] = rebalance.Replica{
			Name: fmt.Sprint("pod-", p.serial), Place: p.place, Age: now.Sub(p.born), Ready: true, Cluster: rebalance.Elsewhere,
		}
		c, named := order.Index(p.site)
		if named {
			replicas[i].Cluster = c
		}
		replicas[i].Unwanted = policy.Unwanted(d.object, d.byName[p.site], named)
	}
	for i, place := range rebalance.Places(plan, replicas) {
		d.pods[i].place, replicas[i].Place, replicas[i].Cost = place, place, -int64(place)
		if place == rebalance.NoPlace {
			replicas[i].Cost = -int64(rebalance.MaxPlace)
		}
	}
	return replicas
}

// shares returns how many pods each site has.
func (d *day) shares() map[string]int {
	shares := map[string]int{}
	for i := range d.pods {
		shares[d.pods[i].site]++
	}
	return shares
}

// look leaves sites, whose pods Kubernetes ends, and returns to them as the rule says. Nobody
// returns to a site sooner than returnAfter.
func (d *day) look(now time.Time) {
	d.t.Helper()
	rule, leaves, changed := failover.Of(d.object.Spec.Failover), map[string]bool{}, false
	for i, name := range d.names {
		since, was := d.left[name]
		switch is, _ := rule.Left(&d.online[i], was, now); {
		case is && !was:
			d.left[name], leaves[name], changed = now, true, true
		case was && !is:
			if stayed := now.Sub(since); stayed < returnAfter {
				d.t.Errorf("%s was left for %v only", name, stayed)
			}
			delete(d.left, name)
			changed = true
		}
	}
	if changed || d.held {
		d.inLeft += d.end(func(p *dayPod) bool { return leaves[p.site] && d.ends(p, now) })
		d.settle(now)
	}
}

// ends counts a pod whose site is left if it has come there within returnAfter.
func (d *day) ends(p *dayPod, now time.Time) bool {
	if p.instead && now.Sub(p.born) < returnAfter {
		d.chased++
	}
	return true
}

// set says since when a site has been online or offline.
func (d *day) set(site int, status metav1.ConditionStatus, since time.Time) {
	d.online[site] = metav1.Condition{Type: berthv1alpha1.ClusterOnline, Status: status, LastTransitionTime: metav1.NewTime(since)}
	d.clusters[site].Object.Status.Conditions = d.online[site : site+1]
}

// flap has a third of the sites go offline and come back, up to a moment.
func (d *day) flap(now time.Time) {
	for i := range d.changes {
		for !d.changes[i].After(now) {
			at := d.changes[i]
			if d.online[3*i].Status == metav1.ConditionTrue {
				d.flaps++
				d.set(3*i, metav1.ConditionFalse, at)
				d.changes[i] = at.Add(time.Minute * time.Duration([]int{1, 2, 3, 4, 40}[d.random.IntN(5)]))
			} else {
				d.set(3*i, metav1.ConditionTrue, at)
				d.changes[i] = at.Add(time.Minute * time.Duration(20+d.random.IntN(200)))
			}
		}
	}
}

// A third of the sites are offline now and then for a day, most times shorter than failover.after.
// No more pods move than are in the sites that are left, there and back, and one for each time that
// a site was offline. None is evicted within returnAfter of another move; only Kubernetes ends
// those whose site goes offline itself, which are counted. Afterwards everything is as before.
func TestADayOfSitesThatFlap(t *testing.T) {
	sites := daySites
	if asked := os.Getenv("BERTH_DAY"); asked != "" {
		var err error
		if sites, err = strconv.Atoi(asked); err != nil {
			t.Fatalf("BERTH_DAY=%s is no number of sites", asked)
		}
	}
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	end := began.Add(24 * time.Hour)
	d := newDay(t, sites, began)
	before := d.shares()
	for now := began; now.Before(end); now = now.Add(lookEvery) {
		d.flap(now)
		d.look(now)
	}
	for i := range d.online {
		if d.online[i].Status != metav1.ConditionTrue {
			d.set(i, metav1.ConditionTrue, end)
		}
	}
	d.look(end.Add(time.Hour))
	t.Logf("%d sites, %d pods: %d times offline, %d pods in sites that were left, %d moves, %d of pods that had come within %v and whose site was left itself",
		sites, len(d.pods), d.flaps, d.inLeft, d.moves, d.chased, returnAfter)
	if d.inLeft == 0 || d.moves > 2*d.inLeft+d.flaps {
		t.Errorf("%d moves for %d pods in sites that were left, and %d times offline", d.moves, d.inLeft, d.flaps)
	}
	if diff := cmp.Diff(before, d.shares()); diff != "" || len(d.left) > 0 {
		t.Errorf("with all sites online, %d are left, and the shares are others (-before +after):\n%s", len(d.left), diff)
	}
}
