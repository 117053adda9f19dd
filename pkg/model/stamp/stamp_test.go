// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package stamp_test

import (
	"encoding/json"
	"maps"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/placement/pool"
	"berth.dev/berth/pkg/placement/rebalance"
)

func pod(uid, node string, annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), Annotations: annotations}, Spec: corev1.PodSpec{NodeName: node},
	}
}

func TestOnlyAStampMadeForThePodCounts(t *testing.T) {
	written := stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: 3}.Annotations(pod("uid-0", "", nil), "node-1")
	without := func(key string) map[string]string {
		annotations := maps.Clone(written)
		delete(annotations, key)
		return annotations
	}
	with := func(key, value string) map[string]string {
		annotations := maps.Clone(written)
		annotations[key] = value
		return annotations
	}
	tests := map[string]struct {
		pod    *corev1.Pod
		want   stamp.Stamp
		wantOK bool
	}{
		"its own":                        {pod("uid-0", "node-1", written), stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: 3}, true},
		"none":                           {pod("uid-0", "node-1", nil), stamp.Stamp{}, false},
		"copied to another pod":          {pod("uid-1", "node-1", written), stamp.Stamp{}, false},
		"of another node":                {pod("uid-0", "node-2", written), stamp.Stamp{}, false},
		"set before it was bound":        {pod("uid-0", "", with("berth.dev/placed-by", "uid-0/")), stamp.Stamp{}, false},
		"without who placed it":          {pod("uid-0", "node-1", without("berth.dev/placed-by")), stamp.Stamp{}, false},
		"without a node":                 {pod("uid-0", "node-1", with("berth.dev/placed-by", "uid-0")), stamp.Stamp{}, false},
		"with a longer node":             {pod("uid-0", "node-1", with("berth.dev/placed-by", "uid-0/node-1/x")), stamp.Stamp{}, false},
		"empty":                          {pod("", "", with("berth.dev/placed-by", "/")), stamp.Stamp{}, false},
		"without a seat":                 {pod("uid-0", "node-1", without("berth.dev/seat")), stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: stamp.NoSeat}, true},
		"with a seat that is no number":  {pod("uid-0", "node-1", with("berth.dev/seat", "first")), stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: stamp.NoSeat}, true},
		"with a negative seat":           {pod("uid-0", "node-1", with("berth.dev/seat", "-3")), stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: stamp.NoSeat}, true},
		"with a seat beyond all numbers": {pod("uid-0", "node-1", with("berth.dev/seat", "99999999999")), stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: stamp.NoSeat}, true},
		"with a seat between two":        {pod("uid-0", "node-1", with("berth.dev/seat", "3.25")), stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: 3, Beyond: 250}, true},
		"with too many decimals":         {pod("uid-0", "node-1", with("berth.dev/seat", "3.2500")), stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: stamp.NoSeat}, true},
		"with no decimals":               {pod("uid-0", "node-1", with("berth.dev/seat", "3.")), stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: stamp.NoSeat}, true},
		"with decimals that are none":    {pod("uid-0", "node-1", with("berth.dev/seat", "3.-5")), stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: stamp.NoSeat}, true},
		"without a cluster":              {pod("uid-0", "node-1", without("berth.dev/cluster")), stamp.Stamp{Policy: "web", Seat: 3}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := stamp.Of(tc.pod)
			if diff := cmp.Diff(tc.want, got); diff != "" || ok != tc.wantOK {
				t.Errorf("stamped %t, want %t; stamp (-want +got):\n%s", ok, tc.wantOK, diff)
			}
		})
	}
}

func anyStamp(t *rapid.T) stamp.Stamp {
	name := rapid.StringMatching(`[a-z][a-z0-9-]{0,20}`)
	s := stamp.Stamp{Policy: name.Draw(t, "policy"), Cluster: rapid.OneOf(name, rapid.Just("")).Draw(t, "cluster")}
	place := rapid.OneOf(rapid.Int32Range(0, math.MaxInt32), rapid.Int32Range(0, 3_000), rapid.Just(int32(rebalance.NoPlace)))
	return s.At(rebalance.Place(place.Draw(t, "place")))
}

func TestAPodIsBerthsByItsStampOrItsScheduler(t *testing.T) {
	written := stamp.Stamp{Policy: "web", Cluster: "beijing"}.Annotations(pod("uid-0", "", nil), "node-1")
	for name, tc := range map[string]struct {
		uid, scheduler string
		annotations    map[string]string
		want           bool
	}{
		"it asks for one of Berth's schedulers":     {scheduler: "berth-b", want: true},
		"it was bound by Berth":                     {scheduler: "other", uid: "uid-0", annotations: written, want: true},
		"it has the stamp of another pod":           {scheduler: "other", uid: "uid-1", annotations: written},
		"it is another scheduler's, without a mark": {scheduler: "other", uid: "uid-0"},
	} {
		t.Run(name, func(t *testing.T) {
			p := pod(tc.uid, "node-1", tc.annotations)
			p.Spec.SchedulerName = tc.scheduler
			if got := stamp.IsBerths(p, []string{"berth-a", "berth-b"}); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		want := anyStamp(r)
		p := pod("uid-0", "node-1", want.Annotations(pod("uid-0", "", nil), "node-1"))
		if got, ok := stamp.Of(p); !ok || got != want {
			r.Fatalf("got %+v, %t, want %+v", got, ok, want)
		}
		if !want.OwnsDeletionCost(p) {
			r.Fatal("the deletion cost is not recognized as Berth's own")
		}
	})
}

// The label follows the annotation, and comes with the next write where it is missing.
func TestRelabelled(t *testing.T) {
	long, longest := strings.Repeat("a", 64), strings.Repeat("a", 63)
	tests := map[string]struct {
		annotation, label string
		changes           map[string]any
		want              map[string]any
	}{
		"nothing to say":             {changes: map[string]any{"berth.dev/seat": "1"}},
		"as it should be":            {annotation: "beijing", label: "beijing", changes: map[string]any{"berth.dev/seat": "1"}},
		"another cluster":            {annotation: "beijing", label: "beijing", changes: map[string]any{"berth.dev/cluster": "hangzhou"}, want: map[string]any{"berth.dev/cluster": "hangzhou"}},
		"no cluster any more":        {annotation: "beijing", label: "beijing", changes: map[string]any{"berth.dev/cluster": nil}, want: map[string]any{"berth.dev/cluster": nil}},
		"the label is missing":       {annotation: "beijing", changes: map[string]any{"berth.dev/seat": "1"}, want: map[string]any{"berth.dev/cluster": "beijing"}},
		"taken over":                 {changes: map[string]any{"berth.dev/cluster": "beijing"}, want: map[string]any{"berth.dev/cluster": "beijing"}},
		"a name too long for labels": {label: "beijing", changes: map[string]any{"berth.dev/cluster": long}, want: map[string]any{"berth.dev/cluster": nil}},
		"the longest name of labels": {label: "beijing", changes: map[string]any{"berth.dev/cluster": longest}, want: map[string]any{"berth.dev/cluster": longest}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{}
			if tc.annotation != "" {
				pod.Annotations = map[string]string{"berth.dev/cluster": tc.annotation}
			}
			if tc.label != "" {
				pod.Labels = map[string]string{"berth.dev/cluster": tc.label}
			}
			if diff := cmp.Diff(tc.want, stamp.Relabelled(pod, tc.changes)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A ReplicaSet deletes the lowest cost first, and reads it as an int32.
func TestHigherSeatsGoFirst(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a, b := anyStamp(r), anyStamp(r)
		cost := func(s stamp.Stamp) int64 {
			n, err := strconv.ParseInt(s.DeletionCost(), 10, 32)
			if err != nil {
				r.Fatalf("cost of seat %d: %v", s.Seat, err)
			}
			return n
		}
		last := func(s stamp.Stamp) int64 {
			if s.Seat == stamp.NoSeat {
				return math.MaxInt64
			}
			return int64(s.Seat)*1000 + int64(s.Beyond)
		}
		if aFirst, want := cost(a) < cost(b), last(a) > last(b); aFirst != want {
			r.Fatalf("of the seats %d and %d the first one goes first: %t, want %t", a.Seat, b.Seat, aFirst, want)
		}
	})
}

func TestParseDeletionCost(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "7": 7, "-2147483648": math.MinInt32, "2147483647": math.MaxInt32, "2147483648": 0, "much": 0, "1e3": 0,
	} {
		if got := stamp.ParseDeletionCost(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func TestTheTemplatesDeletionCostIsLeftAlone(t *testing.T) {
	own := map[string]string{corev1.PodDeletionCost: "100"}
	s := stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: 3}
	if got, set := s.Annotations(pod("uid-0", "", own), "node-1")[corev1.PodDeletionCost]; set {
		t.Errorf("the template's cost 100 becomes %s", got)
	}
	if s.OwnsDeletionCost(pod("uid-0", "node-1", own)) {
		t.Error("the template's cost is taken for Berth's own")
	}
}

// Earlier versions wrote minus the seat. Such a cost is Berth's own, and the place of the pod. When
// one of them is to run again, costs that Berth wrote become what it would have written; it reads
// no seat between two.
func TestCostsOfEarlierVersions(t *testing.T) {
	const none = "-2147483648"
	tests := map[string]struct {
		seat, cost string
		wantOwn    bool
		wantPlace  rebalance.Place
		// wantDense is what an earlier version has instead; empty if the cost stays.
		wantDense string
	}{
		"of this version":                {seat: "3", cost: "-3000", wantOwn: true, wantPlace: 3000, wantDense: "-3"},
		"of this version, between two":   {seat: "3.007", cost: "-3007", wantOwn: true, wantPlace: 3007, wantDense: none},
		"of an earlier one":              {seat: "3", cost: "-3", wantOwn: true, wantPlace: 3},
		"the first of either":            {seat: "0", cost: "0", wantOwn: true, wantPlace: 0},
		"the second one":                 {seat: "1", cost: "-1000", wantOwn: true, wantPlace: 1000, wantDense: "-1"},
		"just after the first":           {seat: "0.001", cost: "-1", wantOwn: true, wantPlace: 1, wantDense: none},
		"without a seat":                 {cost: none, wantOwn: true, wantPlace: rebalance.NoPlace},
		"of the user":                    {seat: "3", cost: "7", wantPlace: 3000},
		"of the user, between two":       {seat: "3.5", cost: "-3", wantPlace: 3500},
		"of the user, without a seat":    {cost: "7", wantPlace: rebalance.NoPlace},
		"beyond all places, as a number": {seat: "2147483647", cost: "-2147483647", wantOwn: true, wantPlace: math.MaxInt32},
		"none":                           {seat: "3.5", wantPlace: 3500},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := pod("uid-0", "node-1", map[string]string{
				"berth.dev/policy": "web", "berth.dev/placed-by": "uid-0/node-1", "berth.dev/seat": tc.seat,
				corev1.PodDeletionCost: tc.cost,
			})
			given, _ := stamp.Of(p)
			if own, place := given.OwnsDeletionCost(p), given.PlaceOf(p); own != tc.wantOwn || place != tc.wantPlace {
				t.Errorf("Berth's own: %t, want %t; place %d, want %d", own, tc.wantOwn, place, tc.wantPlace)
			}
			if cost, changes := given.DenseCost(p); changes != (tc.wantDense != "") || changes && cost != tc.wantDense {
				t.Errorf("an earlier version has %s, changed %t, want %q", cost, changes, tc.wantDense)
			}
		})
	}
}

// A stamp that is written makes count what the pod carries, so there must be nothing that somebody
// has copied onto it.
func TestOnlyABlankPodCanBeStampedLater(t *testing.T) {
	with := func(pairs ...string) map[string]string {
		annotations := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			annotations[pairs[i]] = pairs[i+1]
		}
		return annotations
	}
	const mark, charged, grantee = "berth.dev/placed-by", "berth.dev/charged", "berth.dev/grantee"
	tests := map[string]struct {
		annotations map[string]string
		want        bool
	}{
		"nothing":                       {nil, true},
		"the mark of its own":           {with(mark, "uid-0/node-1"), true},
		"the mark of another pod":       {with(mark, "uid-1/node-1"), true},
		"what it was charged":           {with(mark, "uid-0/node-1", charged, "matlab/all=1", grantee, "east"), true},
		"what another was charged":      {with(mark, "uid-1/node-1", charged, "matlab/all=1"), false},
		"charges that nobody made":      {with(charged, "matlab/all=1"), false},
		"an empty list of them":         {with(charged, ""), false},
		"a grantee that nobody charged": {with(grantee, "east"), false},
		"both":                          {with(charged, "matlab/all=1", grantee, "east"), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := stamp.Blank(pod("uid-0", "node-1", tc.annotations)); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}

// What Berth writes on pods is known as such, so that it is removed with Berth and ignored where a
// pod is compared with what was decided on. What users write as well is not.
func TestWritten(t *testing.T) {
	p := pod("uid-0", "", nil)
	var settled struct {
		Metadata struct {
			UID         types.UID
			Annotations map[string]string
		}
	}
	if err := json.Unmarshal(stamp.Settlement("uid-0", "once"), &settled); err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"berth.dev/settled": "once"}; settled.Metadata.UID != "uid-0" || !maps.Equal(settled.Metadata.Annotations, want) {
		t.Errorf("the settlement changes of pod %s the annotations %v", settled.Metadata.UID, settled.Metadata.Annotations)
	}
	charges := []pool.Charge{{Resource: "matlab", Pool: "all", Grantee: "east", Quantity: resource.MustParse("1")}}
	users := map[string]bool{"groupingpolicy.kubeedge.io": true, corev1.PodDeletionCost: true}
	for _, annotations := range []map[string]string{
		stamp.Mark(p, "node-1"), stamp.Stamp{Policy: "web", Cluster: "beijing", Seat: 3}.Annotations(p, "node-1"),
		stamp.ChargeAnnotations(p, "node-1", charges), settled.Metadata.Annotations, {"team": "shop"},
	} {
		for key := range annotations {
			if got, want := stamp.Written(key), key != "team" && !users[key]; got != want {
				t.Errorf("%s: only Berth writes it: %t, want %t", key, got, want)
			}
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add("uid-0", "node-1", "uid-0/node-1", "3")
	f.Add("", "", "/", "-1")
	f.Add("uid-0", "node-1", "uid-0/node-1", "3.25")
	f.Fuzz(func(t *testing.T, uid, node, placedBy, seat string) {
		p := pod(uid, node, map[string]string{
			"berth.dev/policy": "web", "berth.dev/placed-by": placedBy, "berth.dev/seat": seat,
		})
		got, ok := stamp.Of(p)
		if ok != (placedBy == uid+"/"+node && node != "") && uidIsPlain(uid) {
			t.Errorf("stamped: %t", ok)
		}
		if got.Seat < stamp.NoSeat || got.Beyond < 0 || got.Beyond > 999 {
			t.Errorf("seat %d and %d thousandths", got.Seat, got.Beyond)
		}
	})
}

// uidIsPlain leaves out UIDs that no API server makes.
func uidIsPlain(uid string) bool {
	for _, c := range uid {
		if c == '/' {
			return false
		}
	}
	return true
}
