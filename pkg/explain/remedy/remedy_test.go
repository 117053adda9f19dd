// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package remedy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/explain/remedy"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator"
)

// scene is a world of two sites with a node each, of which each case changes something, and a pod
// that waits.
type scene struct {
	beijing, hangzhou *corev1.Node
	pod               *corev1.Pod
	policy            *berthv1alpha1.PropagationPolicy
	resource          *berthv1alpha1.ClusterResource
	more              []runtime.Object
	shares            map[string]remedy.Share
}

func newScene() *scene {
	return &scene{beijing: plugintest.MakeNode("beijing", 0).Obj(), hangzhou: plugintest.MakeNode("hangzhou", 0).Obj(), pod: plugintest.MakePod("late").Obj()}
}

func (s *scene) find(t *testing.T) *remedy.Answer {
	t.Helper()
	profile, err := simulator.ParseProfile([]byte(plugintest.Configuration), plugintest.Profile)
	if err != nil {
		t.Fatal(err)
	}
	w := &remedy.World{
		Kubernetes: append([]runtime.Object{s.beijing, s.hangzhou, s.pod}, s.more...), Policy: s.policy, Shares: s.shares,
		Berth: &simulator.Objects{Clusters: []*berthv1alpha1.Cluster{plugintest.Site("beijing"), plugintest.Site("hangzhou")}},
	}
	if s.policy != nil {
		w.Berth.Policies = []*berthv1alpha1.PropagationPolicy{s.policy}
	}
	if s.resource != nil {
		w.Berth.Resources = []*berthv1alpha1.ClusterResource{s.resource}
	}
	answer, err := remedy.Find(t.Context(), profile, w, s.pod)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func (s *scene) cordonBoth() {
	s.beijing.Spec.Unschedulable, s.hangzhou.Spec.Unschedulable = true, true
}

// text tells an answer in lines.
func text(a *remedy.Answer) []string {
	var lines []string
	if a.Node != "" {
		lines = append(lines, "runs on "+a.Node+" in "+a.Cluster)
	}
	for _, r := range a.Remedies {
		lines = append(lines, fmt.Sprintf("%s/%s: %s", r.Cluster, r.Node, strings.Join(r.Changes, " AND ")))
	}
	for _, h := range a.Helpless {
		lines = append(lines, "helpless "+h.Cluster)
	}
	if a.Untried > 0 {
		lines = append(lines, fmt.Sprint("untried ", a.Untried))
	}
	return lines
}

func request(name corev1.ResourceName, quantity string) func(*scene) {
	return func(s *scene) {
		s.pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{name: resource.MustParse(quantity)}
	}
}

func tainted(n *corev1.Node, key string) {
	n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: "x", Effect: corev1.TaintEffectNoSchedule})
}

func asks(pod *corev1.Pod, licences string) {
	list := corev1.ResourceList{"cluster-resource.berth.dev/licence": resource.MustParse(licences)}
	pod.Spec.Containers[0].Resources.Requests, pod.Spec.Containers[0].Resources.Limits = list, list
}

// licences are five, of which a pod in beijing holds four.
func licences(s *scene) {
	s.resource = &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "licence", UID: "licence"}}
	s.resource.Spec.Capacity = []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: resource.MustParse("5")}}
	s.resource.Status.Capacity, s.resource.Status.Allocatable = s.resource.Spec.Capacity, s.resource.Spec.Capacity
	s.resource.Status.Allocated = []berthv1alpha1.PoolAllocation{{Name: "all", Quantity: resource.MustParse("4"), Free: resource.MustParse("1"), Holders: 1}}
	holder := plugintest.MakePod("holder").Node("beijing-0").Obj()
	asks(holder, "4")
	asks(s.pod, "3")
	s.more = append(s.more, holder)
}

// shared puts a Deployment of two replicas under a policy that gives both sites one; that of
// beijing runs, and hangzhou cannot take its own.
func shared(s *scene) {
	d := plugintest.Deployment("web", 2)
	rs := plugintest.ReplicaSet(d, "v1")
	s.policy = plugintest.MakePolicy("spread").Deployment("web").Weight(1, "beijing").Weight(1, "hangzhou").Obj()
	running := plugintest.MakePodOf(rs, 0).Node("beijing-0").Obj()
	given := stamp.Stamp{Policy: "spread", Cluster: "beijing"}
	running.Annotations = given.Annotations(running, "beijing-0")
	s.pod = plugintest.MakePodOf(rs, 1).Obj()
	s.more = append(s.more, d, rs, running)
	s.shares = map[string]remedy.Share{"beijing": {Desired: 1, Current: 1}, "hangzhou": {Desired: 1}}
	s.hangzhou.Spec.Unschedulable = true
}

func TestFind(t *testing.T) {
	for name, test := range map[string]struct {
		change []func(*scene)
		want   []string
	}{
		"a pod that would run": {want: []string{"runs on beijing-0 in beijing"}},
		"cordoned nodes": {[]func(*scene){(*scene).cordonBoth}, []string{
			"beijing/beijing-0: node beijing-0 is uncordoned: kubectl uncordon beijing-0",
			"hangzhou/hangzhou-0: node hangzhou-0 is uncordoned: kubectl uncordon hangzhou-0",
		}},
		"too little cpu": {[]func(*scene){request(corev1.ResourceCPU, "33500m")}, []string{
			"beijing/beijing-0: node beijing-0 has 1.5 more of cpu free", "hangzhou/hangzhou-0: node hangzhou-0 has 1.5 more of cpu free",
		}},
		"far too much memory": {[]func(*scene){request(corev1.ResourceMemory, "40000001Mi")}, []string{
			"beijing/beijing-0: node beijing-0 has 38.1Ti more of memory free", "hangzhou/hangzhou-0: node hangzhou-0 has 38.1Ti more of memory free",
		}},
		"a device that no node has": {[]func(*scene){request("example.com/gpu", "2")}, []string{
			"beijing/beijing-0: node beijing-0 has 2 more of example.com/gpu free", "hangzhou/hangzhou-0: node hangzhou-0 has 2 more of example.com/gpu free",
		}},
		"a taint, and another that is tolerated": {[]func(*scene){(*scene).cordonBoth, func(s *scene) {
			s.beijing.Spec.Unschedulable = false
			tainted(s.beijing, "gpu")
			tainted(s.beijing, "mine")
			s.pod.Spec.Tolerations = []corev1.Toleration{{Key: "mine", Operator: corev1.TolerationOpExists}}
		}}, []string{
			"beijing/beijing-0: the pod tolerates the taint gpu=x:NoSchedule of node beijing-0, or it is removed",
			"hangzhou/hangzhou-0: node hangzhou-0 is uncordoned: kubectl uncordon hangzhou-0",
		}},
		"two things at once come after one": {[]func(*scene){(*scene).cordonBoth, func(s *scene) { tainted(s.beijing, "gpu") }}, []string{
			"hangzhou/hangzhou-0: node hangzhou-0 is uncordoned: kubectl uncordon hangzhou-0",
			"beijing/beijing-0: the pod tolerates the taint gpu=x:NoSchedule of node beijing-0, or it is removed AND " +
				"node beijing-0 is uncordoned: kubectl uncordon beijing-0",
		}},
		"a node selector that nothing matches": {[]func(*scene){func(s *scene) { s.pod.Spec.NodeSelector = map[string]string{"disk": "ssd"} }}, []string{
			"beijing/beijing-0: the node selector and affinity of the pod match node beijing-0",
			"hangzhou/hangzhou-0: the node selector and affinity of the pod match node hangzhou-0",
		}},
		"a gate": {[]func(*scene){func(s *scene) { s.pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "mine"}} }}, []string{
			"beijing/beijing-0: the scheduling gates of the pod are removed: mine", "hangzhou/hangzhou-0: the scheduling gates of the pod are removed: mine",
		}},
		"a pool with too little left": {[]func(*scene){licences}, []string{
			"beijing/beijing-0: 2 more of cluster resource licence is free in pool all, or the pool is larger by that",
			"hangzhou/hangzhou-0: 2 more of cluster resource licence is free in pool all, or the pool is larger by that",
		}},
		"a share that is taken": {[]func(*scene){shared}, []string{
			"beijing/beijing-0: policy spread gives cluster beijing 2 replicas instead of 1: raise its weight or min, or replicas",
			"hangzhou/hangzhou-0: node hangzhou-0 is uncordoned: kubectl uncordon hangzhou-0",
		}},
		"a max that is reached": {[]func(*scene){shared, func(s *scene) { s.policy.Spec.Placement.StaticWeightList[0].Max = new(int32(1)) }}, []string{
			"beijing/beijing-0: policy spread lets cluster beijing have 2 replicas: its max is 1",
			"hangzhou/hangzhou-0: node hangzhou-0 is uncordoned: kubectl uncordon hangzhou-0",
		}},
		"a claim that does not exist": {[]func(*scene){func(s *scene) {
			s.pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "none"},
			}}}
		}}, []string{"helpless beijing", "helpless hangzhou"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			for _, change := range test.change {
				change(s)
			}
			if diff := cmp.Diff(test.want, text(s.find(t))); diff != "" {
				t.Errorf("remedies (-want +got):\n%s", diff)
			}
		})
	}
}

// What the scheduler decides by is the same after the search, so that of one cluster does not
// depend on that of another.
func TestTheOrderOfNodesDoesNotMatter(t *testing.T) {
	s := newScene()
	s.cordonBoth()
	request(corev1.ResourceCPU, "33")(s)
	first := text(s.find(t))
	s.beijing, s.hangzhou = s.hangzhou, s.beijing
	if second := text(s.find(t)); !slices.Equal(first, second) {
		t.Errorf("found %v, and %v with the nodes in another order", first, second)
	}
}
