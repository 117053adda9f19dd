// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

// explainPod runs berthctl explain pod, without what would let the pod run; arguments are separated
// by spaces.
func explainPod(t *testing.T, w *clitest.World, args string) clitest.Result {
	t.Helper()
	return clitest.Run(t.Context(), w.Options(), append([]string{"explain", "pod", "--remedies=false"}, strings.Fields(args)...)...)
}

// nginx is a Deployment of five replicas at 2:3, of which nginx-e waits because the nodes of
// hangzhou cannot take it.
func nginx(t *testing.T) (w *clitest.World, d *clitest.Deployment, waiting *corev1.Pod) {
	t.Helper()
	w = clitest.NewWorld(t)
	w.Cluster("beijing", 2)
	nodes := w.Cluster("hangzhou", 4)
	nodes[0].Spec.Unschedulable = true
	nodes[1].Status.Conditions[0].Status = corev1.ConditionFalse
	nodes[2].Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
	w.Node("lonely")
	w.Policy("spread", "apps/v1", "Deployment", "nginx", map[string]int64{"beijing": 2, "hangzhou": 3})
	d = w.Deployment("nginx", 5)
	d.Placed("nginx-a", "hangzhou-0", "spread", "hangzhou", 0)
	d.Placed("nginx-b", "beijing-0", "spread", "beijing", 1)
	d.Placed("nginx-c", "hangzhou-1", "spread", "hangzhou", 2)
	d.Placed("nginx-d", "beijing-1", "spread", "beijing", 3)
	waiting = d.Pod("nginx-e")
	waiting.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	waiting.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/7 nodes are available:\n7 node(s) are \x1b[31mbusy",
	}}
	return w, d, waiting
}

func TestPodsOfCordonedClusters(t *testing.T) {
	tests := map[string]struct {
		pod   string
		drain bool
		want  string
	}{
		"waiting":       {"nginx-e", false, "- cluster beijing is cordoned, so its share goes to the others"},
		"there":         {"nginx-b", false, "- cluster beijing is cordoned: the pod stays there until that is drained or the pod goes"},
		"to be drained": {"nginx-b", true, "- cluster beijing is being drained, so this pod is to leave it"},
		"elsewhere":     {"nginx-a", true, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, _, _ := nginx(t)
			for _, o := range w.Berth {
				if c, ok := o.(*berthv1alpha1.Cluster); ok && c.Name == "beijing" {
					c.Spec.Unschedulable, c.Spec.Drain = true, tc.drain
				}
			}
			got := explainPod(t, w, tc.pod)
			if got.Code != 0 || !strings.Contains(got.Out, tc.want) || tc.want == "" && strings.Contains(got.Out, "cordoned") {
				t.Errorf("exit status %d, printed %q and %q, want %q", got.Code, got.Out, got.Err, tc.want)
			}
		})
	}
}

// A reference that anybody can write makes nobody the owner of a pod.
func TestPodsWhoseOwnerDoesNotCount(t *testing.T) {
	w, _, waiting := nginx(t)
	waiting.OwnerReferences[0].APIVersion = "apps/v9"
	got := explainPod(t, w, waiting.Name)
	for _, want := range []string{
		"Workload:  pod/nginx-e",
		"- policies on replicaset/", " and what is above it do not count for the pod: objects of that version do not control pods",
	} {
		if !strings.Contains(got.Out, want) {
			t.Errorf("printed %q and %q, want %q", got.Out, got.Err, want)
		}
	}
}

func TestPodForPeople(t *testing.T) {
	checkOutput(t, map[string]struct{ args, want string }{
		"a pod that waits": {args: "nginx-e", want: `
Pod:       default/nginx-e
State:     Waiting
Workload:  deployment/nginx, replicas: 5
Policy:    spread, because it names the workload

Why:
  - the policy lets it into hangzhou only, and no node there can take it
  - the scheduler says (Unschedulable): 0/7 nodes are available: 7 node(s) are ^[[31mbusy

CLUSTER    DESIRED   CURRENT   FREE-SEATS   NODES   USABLE   NOT-READY   CORDONED   TAINTED   UNMATCHED   SAYS
beijing    2         2         0            2       0        0           0          0         2           has its share
hangzhou   3         2         1            4       0        1           1          1         1           has 1 free seat, but none of its nodes can take the pod

Nodes in no cluster of the policy: 1
`},
		"a pod that runs": {args: "pod/nginx-c", want: `
Pod:       default/nginx-c
State:     Placed on node hangzhou-1 in cluster hangzhou, seat 2
Workload:  deployment/nginx, replicas: 5
Policy:    spread, because it names the workload

Why:
  - policy "spread" placed it

CLUSTER    DESIRED   CURRENT   FREE-SEATS   NODES   USABLE   NOT-READY   CORDONED   TAINTED   UNMATCHED   SAYS
beijing    2         2         0            2       2        0           0          0         0           has its share
hangzhou   3         2         1            4       1        1           1          1         0           has 1 free seat

Nodes in no cluster of the policy: 1
`},
	})
}

func TestPodForPrograms(t *testing.T) {
	checkOutput(t, map[string]struct{ args, want string }{
		"json": {args: "nginx-e -o json", want: `
{"namespace":"default","pod":"nginx-e","schedulerName":"berth-scheduler","state":"Waiting",` +
			`"workload":{"apiVersion":"apps/v1","kind":"Deployment","name":"nginx","replicas":5},` +
			`"policy":{"name":"spread","selectedBy":"name","whenUnsatisfiable":"DoNotSchedule"},` +
			`"reasons":["the policy lets it into hangzhou only, and no node there can take it"],"clusters":[` +
			`{"name":"beijing","exists":true,"desired":2,"current":2,"freeSeats":0,` +
			`"nodes":{"total":2,"usable":0,"notReady":0,"cordoned":0,"tainted":0,"unmatched":2},"says":"has its share"},` +
			`{"name":"hangzhou","exists":true,"desired":3,"current":2,"freeSeats":1,"nextSeat":4,` +
			`"nodes":{"total":4,"usable":0,"notReady":1,"cordoned":1,"tainted":1,"unmatched":1},` +
			`"says":"has 1 free seat, but none of its nodes can take the pod"}],"otherNodes":1,` +
			`"scheduler":{"reason":"Unschedulable","message":"0/7 nodes are available:\n7 node(s) are \u001b[31mbusy"}}
`},
		"yaml of a pod that runs": {args: "nginx-a -o yaml", want: `
clusters:
- current: 2
  desired: 2
  exists: true
  freeSeats: 0
  name: beijing
  nodes:
    cordoned: 0
    notReady: 0
    tainted: 0
    total: 2
    unmatched: 0
    usable: 2
  says: has its share
- current: 2
  desired: 3
  exists: true
  freeSeats: 1
  name: hangzhou
  nextSeat: 4
  nodes:
    cordoned: 1
    notReady: 1
    tainted: 1
    total: 4
    unmatched: 0
    usable: 1
  says: has 1 free seat
namespace: default
otherNodes: 1
placement:
  cluster: hangzhou
  node: hangzhou-0
  placedBy: spread
  placedIn: hangzhou
  seat: 0
pod: nginx-a
policy:
  name: spread
  selectedBy: name
  whenUnsatisfiable: DoNotSchedule
reasons:
- policy "spread" placed it
schedulerName: berth-scheduler
state: Placed
workload:
  apiVersion: apps/v1
  kind: Deployment
  name: nginx
  replicas: 5
`},
	})
}

func checkOutput(t *testing.T, tests map[string]struct{ args, want string }) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, _, _ := nginx(t)
			explainPod(t, w, tc.args).CheckOutput(t, strings.TrimPrefix(tc.want, "\n"))
		})
	}
}

// expectation is what the text about a pod must hold. Each of the lines must be there, and none of
// the others.
type expectation struct {
	change func(w *clitest.World, d *clitest.Deployment, pod *corev1.Pod)
	want   []string
	never  []string
}

func checkPods(t *testing.T, name string, tests map[string]expectation) {
	t.Helper()
	for title, tc := range tests {
		t.Run(title, func(t *testing.T) {
			w, d, pod := nginx(t)
			tc.change(w, d, pod)
			result := explainPod(t, w, name)
			if result.Code != 0 || result.Err != "" {
				t.Errorf("exit status %d, standard error %q", result.Code, result.Err)
			}
			for _, text := range tc.want {
				if !strings.Contains(result.Out, text) {
					t.Errorf("printed\n%s\nwant %q", result.Out, text)
				}
			}
			for _, text := range tc.never {
				if strings.Contains(result.Out, text) {
					t.Errorf("printed\n%s\nwant no %q", result.Out, text)
				}
			}
		})
	}
}

func TestPodWhichPolicy(t *testing.T) {
	weights := map[string]int64{"beijing": 1}
	checkPods(t, "nginx-e", map[string]expectation{
		"another scheduler": {
			change: func(_ *clitest.World, _ *clitest.Deployment, pod *corev1.Pod) {
				pod.Spec.SchedulerName = "default-scheduler"
			},
			want: []string{
				`- its schedulerName is "default-scheduler", and Berth places only pods of "berth-scheduler": set it in the pod template`,
			},
		},
		"no policy": {
			change: func(w *clitest.World, _ *clitest.Deployment, _ *corev1.Pod) {
				w.Berth = w.Berth[:2]
				policy := w.Policy("foreign", "apps/v1", "Deployment", "nginx", weights)
				policy.Spec.ResourceSelectors[0].Namespace = "web"
			},
			want: []string{
				"Policy:    none\n",
				`- no PropagationPolicy of namespace "default" selects deployment/nginx, so nothing limits where it goes`,
				`- policy "foreign" has a selector that selects nothing: spec.resourceSelectors[0]: namespace "web"`,
				"- the scheduler says (Unschedulable): 0/7 nodes",
			},
			never: []string{"CLUSTER"},
		},
		"by annotation": {
			change: func(w *clitest.World, _ *clitest.Deployment, pod *corev1.Pod) {
				w.Policy("other", "apps/v1", "Deployment", "apache", weights)
				pod.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "other"}
			},
			want: []string{"Policy:    other, because the pod asks for it by annotation; it wins over spread\n"},
		},
		"by annotation, but there is none": {
			change: func(_ *clitest.World, _ *clitest.Deployment, pod *corev1.Pod) {
				pod.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "ghost"}
			},
			want: []string{
				"Policy:    none\n",
				`- the annotation groupingpolicy.kubeedge.io asks for policy "ghost", and there is none of that name in namespace "default"`,
			},
		},
		"none by annotation": {
			change: func(_ *clitest.World, _ *clitest.Deployment, pod *corev1.Pod) {
				pod.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "none"}
			},
			want:  []string{"- the annotation groupingpolicy.kubeedge.io: none keeps every policy away\n"},
			never: []string{"selects deployment/nginx"},
		},
		"by labels, and another policy loses": {
			change: func(w *clitest.World, d *clitest.Deployment, _ *corev1.Pod) {
				w.Berth = w.Berth[:2]
				d.Object.Labels = map[string]string{"tier": "web"}
				w.Policy("b-all", "apps/v1", "Deployment", "", weights)
				policy := w.Policy("web", "apps/v1", "Deployment", "", weights)
				policy.Spec.ResourceSelectors[0].LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "web"}}
			},
			want: []string{"Policy:    web, because it selects the labels of the workload; it wins over b-all\n"},
		},
		"by kind": {
			change: func(w *clitest.World, _ *clitest.Deployment, _ *corev1.Pod) {
				w.Berth = w.Berth[:2]
				w.Policy("all", "apps/v1", "Deployment", "", weights)
			},
			want: []string{"Policy:    all, because it selects all workloads of the kind\n"},
		},
		"a policy that cannot be carried out": {
			change: func(w *clitest.World, _ *clitest.Deployment, pod *corev1.Pod) {
				policy := w.Policy("twice", "apps/v1", "Deployment", "apache", weights)
				list := &policy.Spec.Placement.StaticWeightList
				*list = append(*list, (*list)[0])
				pod.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "twice"}
			},
			want:  []string{`- policy "twice" cannot be carried out, so its pods wait: spec.placement.staticWeightList: cluster "beijing" is listed twice`},
			never: []string{"CLUSTER"},
		},
		"an owner that does not exist": {
			change: func(_ *clitest.World, d *clitest.Deployment, _ *corev1.Pod) { d.Object.UID = "another" },
			want: []string{
				"Workload:  unknown\n",
				"- nobody can tell which policy is in force: Deployment default/nginx with UID ",
			},
		},
	})
}

func TestPodWhyItWaits(t *testing.T) {
	checkPods(t, "nginx-e", map[string]expectation{
		"a usable node": {
			change: func(_ *clitest.World, _ *clitest.Deployment, pod *corev1.Pod) { pod.Spec.NodeSelector = nil },
			want: []string{
				"- the policy lets it into hangzhou, and nodes there look usable\n",
				"hangzhou   3         2         1            4       1        1           1          1         0           has 1 free seat\n",
			},
		},
		"tolerations": {
			change: func(_ *clitest.World, _ *clitest.Deployment, pod *corev1.Pod) {
				pod.Spec.NodeSelector = nil
				pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
			},
			want: []string{"hangzhou   3         2         1            4       3        1           0          0         0           has 1 free seat\n"},
		},
		"anywhere": {
			change: func(w *clitest.World, _ *clitest.Deployment, _ *corev1.Pod) {
				policy(w, "spread").Spec.Placement.WhenUnsatisfiable = berthv1alpha1.ScheduleAnyway
			},
			want: []string{"- whenUnsatisfiable is ScheduleAnyway, so it may go to any other node\n"},
		},
		"all clusters have their share": {
			change: func(_ *clitest.World, d *clitest.Deployment, _ *corev1.Pod) { *d.Object.Spec.Replicas = 4 },
			want: []string{
				"- all clusters have their share: 4 replicas are wanted, and as many pods of this revision are bound\n",
				"has its share\n",
			},
		},
		"too few replicas, and one too many": {
			change: func(_ *clitest.World, d *clitest.Deployment, _ *corev1.Pod) { *d.Object.Spec.Replicas = 1 },
			want:   []string{"has 2 more than its share\n", "has 1 more than its share\n"},
		},
		"no share in so few replicas": {
			change: func(w *clitest.World, d *clitest.Deployment, _ *corev1.Pod) {
				w.Cluster("small", 1)
				*d.Object.Spec.Replicas = 1
				list := &policy(w, "spread").Spec.Placement.StaticWeightList
				*list = append(*list, berthv1alpha1.StaticClusterWeight{ClusterNames: []string{"small"}, Weight: 1})
			},
			want: []string{"has no share in so few replicas\n"},
		},
		"a cluster that does not exist, and one without nodes": {
			change: func(w *clitest.World, d *clitest.Deployment, _ *corev1.Pod) {
				w.Cluster("empty", 0)
				*d.Object.Spec.Replicas = 100
				list := &policy(w, "spread").Spec.Placement.StaticWeightList
				*list = append(*list, berthv1alpha1.StaticClusterWeight{ClusterNames: []string{"empty", "ghost"}, Weight: 1})
			},
			want: []string{"free seats, but has no nodes\n", "free seats, but does not exist\n"},
		},
		"all clusters at their max": {
			change: func(w *clitest.World, _ *clitest.Deployment, _ *corev1.Pod) {
				two := int32(2)
				for i := range policy(w, "spread").Spec.Placement.StaticWeightList {
					policy(w, "spread").Spec.Placement.StaticWeightList[i].Max = &two
				}
			},
			want: []string{"- all clusters are at their max, which leaves 1 of 5 replicas without a place\n"},
		},
		"pods of another revision hold other seats": {
			change: func(_ *clitest.World, d *clitest.Deployment, pod *corev1.Pod) {
				d.Rollout(1)
				pod.OwnerReferences[0] = *metav1.NewControllerRef(d.ReplicaSet, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
			},
			want: []string{
				"beijing    2         0         2            2",
				"hangzhou   3         0         3            4",
			},
		},
		"pods that leave free their seats": {
			change: func(_ *clitest.World, d *clitest.Deployment, _ *corev1.Pod) {
				d.Placed("leaving", "hangzhou-3", "spread", "hangzhou", 4).DeletionTimestamp = &metav1.Time{}
			},
			want: []string{"has 1 free seat"},
		},
	})
}

func TestPodWhyItWaitsWhateverThePolicySays(t *testing.T) {
	checkPods(t, "nginx-e", map[string]expectation{
		"scheduling gates, and no word of a scheduler": {
			change: func(_ *clitest.World, _ *clitest.Deployment, pod *corev1.Pod) {
				pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}, {Name: "example.com/lock"}}
				pod.Status.Conditions = nil
			},
			want: []string{
				"- scheduling gates hold it back: example.com/quota, example.com/lock\n",
				"- no scheduler has said anything about it yet: check that berth-scheduler is running\n",
			},
			never: []string{"the scheduler says"},
		},
		"preemption": {
			change: func(_ *clitest.World, _ *clitest.Deployment, pod *corev1.Pod) {
				pod.Status.NominatedNodeName = "hangzhou-3"
			},
			want: []string{"- it waits for pods of lower priority to leave node hangzhou-3\n"},
		},
		"deletion": {
			change: func(_ *clitest.World, _ *clitest.Deployment, pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{} },
			want:   []string{"State:     Terminating\n", "- it is being deleted, so it holds no seat any more\n"},
		},
		"the end": {
			change: func(_ *clitest.World, _ *clitest.Deployment, pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed },
			want:   []string{"State:     Finished\n", "- it has finished, so it holds no seat any more\n"},
		},
	})
}

// policy returns a policy of the world.
func policy(w *clitest.World, name string) *berthv1alpha1.PropagationPolicy {
	for _, object := range w.Berth {
		if p, ok := object.(*berthv1alpha1.PropagationPolicy); ok && p.Name == name {
			return p
		}
	}
	panic("no policy " + name)
}

func TestPodWhyItRunsThere(t *testing.T) {
	checkPods(t, "nginx-b", map[string]expectation{
		"the pod asked for the policy that placed it": {
			change: func(w *clitest.World, d *clitest.Deployment, _ *corev1.Pod) {
				policy(w, "spread").Spec.ResourceSelectors[0].Name = "apache"
				d.Object.Spec.Template.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "spread"}
			},
			want: []string{"Policy:    spread, because the pod asks for it by annotation\n"},
		},
		"the policy that placed it selects its workload no longer": {
			change: func(w *clitest.World, _ *clitest.Deployment, _ *corev1.Pod) {
				policy(w, "spread").Spec.ResourceSelectors[0].Name = "apache"
			},
			want: []string{"Policy:    none\n", `- no PropagationPolicy of namespace "default" selects deployment/nginx`},
		},
		"another policy is in force": {
			change: func(w *clitest.World, _ *clitest.Deployment, _ *corev1.Pod) {
				old := policy(w, "spread")
				old.Spec.ResourceSelectors[0].Name = "apache"
				w.Policy("fresh", "apps/v1", "Deployment", "nginx", map[string]int64{"hangzhou": 1})
			},
			want: []string{
				`- policy "spread" placed it, but policy "fresh" is in force now` + "\n",
				"- its node belongs to no cluster of the policy, so it is misplaced\n",
			},
		},
		"its node changed hands": {
			change: func(w *clitest.World, _ *clitest.Deployment, _ *corev1.Pod) {
				for _, object := range w.Berth {
					if c, ok := object.(*berthv1alpha1.Cluster); ok && c.Name == "beijing" {
						c.Spec.Nodes = []string{"beijing-1"}
					}
				}
			},
			want: []string{
				"State:     Placed on node beijing-0 in no cluster, seat 1\n",
				"- it was placed in cluster beijing, but its node belongs to no cluster now\n",
			},
		},
		"its cluster has too many": {
			change: func(_ *clitest.World, d *clitest.Deployment, _ *corev1.Pod) { *d.Object.Spec.Replicas = 1 },
			want:   []string{"- cluster beijing has 2 more than its share, and this pod may be among those that have to move\n"},
		},
	})
	checkPods(t, "stranger", map[string]expectation{
		"bound by another, and to be taken over": {
			change: func(_ *clitest.World, d *clitest.Deployment, _ *corev1.Pod) {
				d.Pod("stranger").Spec.NodeName = "hangzhou-3"
			},
			want: []string{"; policy \"spread\" is about to take it over, if berth-controller-manager runs\n"},
		},
		"bound by another, whose it is": {
			change: func(_ *clitest.World, d *clitest.Deployment, _ *corev1.Pod) {
				stranger := d.Pod("stranger")
				stranger.Spec.NodeName, stranger.Spec.SchedulerName = "hangzhou-3", "default-scheduler"
			},
			want: []string{
				"State:     Bound on node hangzhou-3 in cluster hangzhou\n",
				"- its schedulerName is \"default-scheduler\": it counts in the shares, but Berth, which places pods of " +
					"\"berth-scheduler\", neither takes it over nor evicts it\n",
				"hangzhou   3         3         0",
			},
		},
		"bound by another, where there are too many": {
			change: func(_ *clitest.World, d *clitest.Deployment, _ *corev1.Pod) {
				stranger := d.Pod("stranger")
				stranger.Spec.NodeName, stranger.Spec.SchedulerName = "hangzhou-3", "default-scheduler"
				*d.Object.Spec.Replicas = 1
			},
			want:  []string{"has 2 more than its share\n"},
			never: []string{"this pod may be among those that have to move"},
		},
	})
}

// relabel makes a pod of the world one of another revision of its StatefulSet.
func relabel(w *clitest.World, name, revision string) {
	for _, object := range w.Kubernetes {
		if pod, ok := object.(*corev1.Pod); ok && pod.Name == name {
			pod.Labels = map[string]string{appsv1.ControllerRevisionHashLabelKey: revision}
		}
	}
}

func TestPodRefuses(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"an unknown pod":           {"apache", `pod "apache" not found in namespace "default"`},
		"another namespace":        {"nginx-e -n web", `pod "nginx-e" not found in namespace "web"`},
		"no name":                  {"", "0 pods named, name one: berthctl explain pod NAME"},
		"two names":                {"nginx-e nginx-d", "2 pods named, name one"},
		"no possible name":         {"Nginx_E", `"Nginx_E" is no name of a pod`},
		"a very long name":         {strings.Repeat("n", 100_000), "is no name of a pod"},
		"an unknown output format": {"nginx-e -o wide", "use one of text, json, yaml"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, _, _ := nginx(t)
			explainPod(t, w, tc.args).CheckFailed(t, tc.want)
		})
	}
}
