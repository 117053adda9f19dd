// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package get_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli"
	"berth.dev/berth/pkg/cli/internal/clitest"
	"berth.dev/berth/pkg/model/stamp"
)

// getPlacement runs berthctl get placement; arguments are separated by spaces.
func getPlacement(t *testing.T, w *clitest.World, args string) clitest.Result {
	t.Helper()
	return clitest.Run(t.Context(), w.Options(), append([]string{"get", "placement"}, strings.Fields(args)...)...)
}

var twoToThree = map[string]int64{"beijing": 2, "hangzhou": 3}

// nginx is a Deployment of five replicas at 2:3, of which one waits.
func nginx(t *testing.T) (*clitest.World, *clitest.Deployment) {
	t.Helper()
	w := clitest.NewWorld(t)
	w.Cluster("beijing", 3)
	w.Cluster("hangzhou", 2)
	w.Policy("spread", "apps/v1", "Deployment", "nginx", twoToThree)
	d := w.Deployment("nginx", 5)
	d.Placed("nginx-a", "hangzhou-0", "spread", "hangzhou", 0)
	d.Placed("nginx-b", "beijing-0", "spread", "beijing", 1)
	d.Placed("nginx-c", "hangzhou-0", "spread", "hangzhou", 2)
	d.Placed("nginx-d", "beijing-2", "spread", "beijing", 3)
	d.Pod("nginx-e")
	return w, d
}

func TestPlacementFormats(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"table": {want: `
WORKLOAD           CLUSTER    DESIRED   CURRENT   SHORT   PENDING   NODES
deployment/nginx   beijing    2         2         0       1         2
deployment/nginx   hangzhou   3         2         1       1         1
`},
		"wide": {args: "-o wide", want: `
WORKLOAD           CLUSTER    DESIRED   CURRENT   SHORT   PENDING   NODES   OLD   CLUSTER-NODES   READY-NODES   MISPLACED   POLICY
deployment/nginx   beijing    2         2         0       1         2       0     3               3             0           spread
deployment/nginx   hangzhou   3         2         1       1         1       0     2               2             0           spread
`},
		"all namespaces": {args: "-A", want: `
NAMESPACE   WORKLOAD           CLUSTER    DESIRED   CURRENT   SHORT   PENDING   NODES
default     deployment/nginx   beijing    2         2         0       1         2
default     deployment/nginx   hangzhou   3         2         1       1         1
`},
		"json": {args: "-o json", want: `
{"items":[{"namespace":"default","ref":{"apiVersion":"apps/v1","kind":"Deployment","name":"nginx"},"policy":"spread",` +
			`"replicas":5,"pending":1,"misplaced":0,"clusters":[` +
			`{"name":"beijing","desired":2,"current":2,"old":0,"pending":0,"nodesUsed":2,"nodes":3,"readyNodes":3},` +
			`{"name":"hangzhou","desired":3,"current":2,"old":0,"pending":1,"nodesUsed":1,"nodes":2,"readyNodes":2}]}]}
`},
		"yaml": {args: "-o yaml nginx", want: `
items:
- clusters:
  - current: 2
    desired: 2
    name: beijing
    nodes: 3
    nodesUsed: 2
    old: 0
    pending: 0
    readyNodes: 3
  - current: 2
    desired: 3
    name: hangzhou
    nodes: 2
    nodesUsed: 1
    old: 0
    pending: 1
    readyNodes: 2
  misplaced: 0
  namespace: default
  pending: 1
  policy: spread
  ref:
    apiVersion: apps/v1
    kind: Deployment
    name: nginx
  replicas: 5
`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := nginx(t)
			getPlacement(t, w, tc.args).CheckOutput(t, strings.TrimPrefix(tc.want, "\n"))
		})
	}
}

func TestPlacementByName(t *testing.T) {
	for _, name := range []string{
		"nginx", "deployment/nginx", "deployments/nginx", "deploy/nginx", "Deployment/nginx", "deployment.apps/nginx",
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := nginx(t)
			w.Deployment("other", 1)
			w.Policy("others", "apps/v1", "Deployment", "", twoToThree)
			result := getPlacement(t, w, name)
			if strings.Count(result.Out, "deployment/nginx") != 2 || strings.Contains(result.Out, "other") {
				t.Errorf("printed\n%s", result.Out)
			}
		})
	}
}

func TestPlacementCounts(t *testing.T) {
	tests := map[string]struct {
		change func(w *clitest.World, d *clitest.Deployment)
		args   string
		want   string
	}{
		"pods being deleted and finished pods do not count": {
			change: func(_ *clitest.World, d *clitest.Deployment) {
				d.Placed("leaving", "beijing-0", "spread", "beijing", 1).DeletionTimestamp = &metav1.Time{}
				d.Placed("failed", "beijing-0", "spread", "beijing", 1).Status.Phase = corev1.PodFailed
				d.Placed("done", "beijing-0", "spread", "beijing", 1).Status.Phase = corev1.PodSucceeded
			},
			want: `
WORKLOAD           CLUSTER    DESIRED   CURRENT   SHORT   PENDING   NODES
deployment/nginx   beijing    2         2         0       1         2
deployment/nginx   hangzhou   3         2         1       1         1
`,
		},
		"a rollout counts the newest revision": {
			change: func(_ *clitest.World, d *clitest.Deployment) {
				d.Rollout(2)
				d.Placed("new", "beijing-1", "spread", "beijing", 1)
			},
			args: "-o wide",
			want: `
WORKLOAD           CLUSTER    DESIRED   CURRENT   SHORT   PENDING   NODES   OLD   CLUSTER-NODES   READY-NODES   MISPLACED   POLICY
deployment/nginx   beijing    2         1         1       0         1       2     3               3             0           spread
deployment/nginx   hangzhou   3         0         3       0         0       2     2               2             0           spread
`,
		},
		"pods elsewhere have rows of their own and are misplaced": {
			change: func(w *clitest.World, d *clitest.Deployment) {
				w.Cluster("shanghai", 1)
				w.Node("lonely")
				d.Placed("nginx-f", "shanghai-0", "spread", "shanghai", stamp.NoSeat)
				d.Placed("nginx-g", "lonely", "spread", "", stamp.NoSeat)
				d.Placed("nginx-h", "beijing-1", "spread", "beijing", stamp.NoSeat)
			},
			args: "-o wide",
			want: `
WORKLOAD           CLUSTER    DESIRED   CURRENT   SHORT   PENDING   NODES   OLD   CLUSTER-NODES   READY-NODES   MISPLACED   POLICY
deployment/nginx   beijing    2         3         0       1         3       0     3               3             3           spread
deployment/nginx   hangzhou   3         2         1       1         1       0     2               2             3           spread
deployment/nginx   <none>     0         1         0       1         1       0     0               0             3           spread
deployment/nginx   shanghai   0         1         0       1         1       0     1               1             3           spread
`,
		},
		"the cluster of the node counts, not the one on the stamp": {
			change: func(_ *clitest.World, d *clitest.Deployment) {
				d.Placed("nginx-f", "hangzhou-1", "spread", "beijing", 4)
			},
			want: `
WORKLOAD           CLUSTER    DESIRED   CURRENT   SHORT   PENDING   NODES
deployment/nginx   beijing    2         2         0       1         2
deployment/nginx   hangzhou   3         3         0       1         2
`,
		},
		"a pod whose node is gone counts where it was placed": {
			change: func(_ *clitest.World, d *clitest.Deployment) {
				d.Placed("nginx-f", "hangzhou-9", "spread", "hangzhou", 4)
			},
			want: `
WORKLOAD           CLUSTER    DESIRED   CURRENT   SHORT   PENDING   NODES
deployment/nginx   beijing    2         2         0       1         2
deployment/nginx   hangzhou   3         3         0       1         2
`,
		},
		"cordoned and broken nodes": {
			change: func(w *clitest.World, _ *clitest.Deployment) {
				nodes := w.Cluster("wuhan", 3)
				nodes[0].Spec.Unschedulable = true
				nodes[1].Status.Conditions = nil
				w.Policy("wuhan", "apps/v1", "Deployment", "w", map[string]int64{"wuhan": 1})
				w.Deployment("w", 0)
			},
			args: "w -o wide",
			want: `
WORKLOAD       CLUSTER   DESIRED   CURRENT   SHORT   PENDING   NODES   OLD   CLUSTER-NODES   READY-NODES   MISPLACED   POLICY
deployment/w   wuhan     0         0         0       0         0       0     3               1             0           wuhan
`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, d := nginx(t)
			tc.change(w, d)
			getPlacement(t, w, tc.args).CheckOutput(t, strings.TrimPrefix(tc.want, "\n"))
		})
	}
}

func TestPlacementOfOtherKinds(t *testing.T) {
	tests := map[string]struct {
		fill func(w *clitest.World)
		want string
	}{
		"statefulset": {
			fill: func(w *clitest.World) {
				set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: clitest.Namespace, Name: "db", UID: "db"}}
				replicas := int32(2)
				set.Spec.Replicas = &replicas
				set.Spec.Template.Spec.SchedulerName = clitest.Scheduler
				w.Kubernetes = append(w.Kubernetes, set)
				w.Policy("spread", "apps/v1", "StatefulSet", "db", twoToThree)
				ref := metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
				clitest.Place(w.Pod("db-0", ref), "hangzhou-0", stamp.Stamp{Policy: "spread", Cluster: "hangzhou"})
			},
			want: `
WORKLOAD         CLUSTER    DESIRED   CURRENT   SHORT   PENDING   NODES
statefulset/db   beijing    1         0         1       0         0
statefulset/db   hangzhou   1         1         0       0         1
`,
		},
		"job": {
			fill: func(w *clitest.World) {
				job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: clitest.Namespace, Name: "index", UID: "index"}}
				parallelism := int32(5)
				job.Spec.Parallelism = &parallelism
				job.Spec.Template.Spec.SchedulerName = clitest.Scheduler
				w.Kubernetes = append(w.Kubernetes, job)
				w.Policy("spread", "batch/v1", "Job", "", twoToThree)
			},
			want: `
WORKLOAD    CLUSTER    DESIRED   CURRENT   SHORT   PENDING   NODES
job/index   beijing    2         0         2       0         0
job/index   hangzhou   3         0         3       0         0
`,
		},
		"pods without an owner, whose number nobody knows": {
			fill: func(w *clitest.World) {
				w.Policy("spread", "v1", "Pod", "", twoToThree)
				clitest.Place(w.Pod("one", nil), "hangzhou-0", stamp.Stamp{Policy: "spread", Cluster: "hangzhou"})
				w.Pod("two", nil)
			},
			want: `
WORKLOAD   CLUSTER    DESIRED   CURRENT   SHORT   PENDING   NODES
pod/one    hangzhou   -         1         0       0         1
pod/two    <none>     -         0         0       1         0
`,
		},
		"a pod whose policy was deleted since": {
			fill: func(w *clitest.World) {
				w.Policy("spread", "v1", "Pod", "", twoToThree)
				clitest.Place(w.Pod("one", nil), "hangzhou-0", stamp.Stamp{Policy: "gone", Cluster: "hangzhou"})
			},
			want: `
WORKLOAD   CLUSTER    DESIRED   CURRENT   SHORT   PENDING   NODES
pod/one    hangzhou   -         1         0       0         1
`,
		},
		"a kind that Berth does not read": {
			fill: func(w *clitest.World) {
				w.Policy("spread", "example.com/v1", "Fleet", "f", twoToThree)
				controller := true
				ref := &metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Fleet", Name: "f", UID: "f", Controller: &controller}
				clitest.Place(w.Pod("f-1", ref), "hangzhou-0", stamp.Stamp{Policy: "spread", Cluster: "hangzhou"})
			},
			want: `
WORKLOAD   CLUSTER    DESIRED   CURRENT   SHORT   PENDING   NODES
fleet/f    hangzhou   -         1         0       0         1
`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := clitest.NewWorld(t)
			w.Cluster("beijing", 1)
			w.Cluster("hangzhou", 1)
			tc.fill(w)
			getPlacement(t, w, "").CheckOutput(t, strings.TrimPrefix(tc.want, "\n"))
		})
	}
}

func TestPlacementNotes(t *testing.T) {
	tests := map[string]struct {
		change  func(w *clitest.World, d *clitest.Deployment)
		wantOut string
		wantErr string
	}{
		"clusters that cannot take a share": {
			change: func(w *clitest.World, d *clitest.Deployment) {
				w.Cluster("empty", 0)
				w.Policy("young", "apps/v1", "Deployment", "second", map[string]int64{"empty": 1, "ghost": 1})
				w.Deployment("second", 2)
				d.Object.Spec.Template.Spec.SchedulerName = "default-scheduler"
			},
			wantOut: "deployment/second   ghost      1         0         1       0         0\n",
			wantErr: `deployment/second in namespace "default": cluster "empty" of policy "young" has no nodes
deployment/second in namespace "default": cluster "ghost" of policy "young" does not exist
`,
		},
		"weights that cannot be used": {
			change: func(w *clitest.World, _ *clitest.Deployment) {
				policy := w.Policy("young", "apps/v1", "Deployment", "second", map[string]int64{"beijing": 1})
				policy.Spec.Placement.StaticWeightList = append(policy.Spec.Placement.StaticWeightList,
					policy.Spec.Placement.StaticWeightList[0])
				second := w.Deployment("second", 2)
				second.Placed("second-a", "beijing-0", "young", "beijing", 0)
			},
			wantOut: "deployment/second   beijing    -         1         0       0         1\n",
			wantErr: `deployment/second in namespace "default": policy "young" cannot be carried out, so pods wait: ` +
				`spec.placement.staticWeightList: cluster "beijing" is listed twice` + "\n",
		},
		"a policy that does not exist": {
			change: func(w *clitest.World, _ *clitest.Deployment) {
				second := w.Deployment("second", 2)
				second.Object.Spec.Template.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "ghost"}
				second.Pod("second-a")
			},
			wantOut: "deployment/second   <none>     -         0         0       1         0\n",
			wantErr: `deployment/second in namespace "default": the pods ask for policy "ghost", which does not exist, so they wait` + "\n",
		},
		"more replicas than all clusters may take": {
			change: func(w *clitest.World, _ *clitest.Deployment) {
				policy := w.Policy("young", "apps/v1", "Deployment", "second", map[string]int64{"beijing": 1})
				limit := int32(1)
				policy.Spec.Placement.StaticWeightList[0].Max = &limit
				w.Deployment("second", 3)
			},
			wantOut: "deployment/second   beijing    1         0         1       0         0\n",
			wantErr: `deployment/second in namespace "default": 2 replicas are beyond the max of all clusters` + "\n",
		},
		"selected workloads of other schedulers": {
			change: func(w *clitest.World, _ *clitest.Deployment) {
				w.Policy("young", "apps/v1", "Deployment", "", map[string]int64{"beijing": 1})
				w.Deployment("second", 3).Object.Spec.Template.Spec.SchedulerName = ""
			},
			wantErr: "Policies select 1 more, but their pods use another scheduler; name one of them to learn more.\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, d := nginx(t)
			tc.change(w, d)
			result := getPlacement(t, w, "")
			if result.Code != 0 || !strings.Contains(result.Out, tc.wantOut) {
				t.Errorf("exit status %d, printed\n%s\nwant\n%s", result.Code, result.Out, tc.wantOut)
			}
			if result.Err != tc.wantErr {
				t.Errorf("standard error\n%s\nwant\n%s", result.Err, tc.wantErr)
			}
		})
	}
}

func TestPlacementOfNothing(t *testing.T) {
	tests := map[string]struct{ args, wantOut, wantErr string }{
		"table":          {wantErr: "No placed workloads found in namespace \"default\".\n"},
		"all namespaces": {args: "-A", wantErr: "No placed workloads found in any namespace.\n"},
		"json":           {args: "-o json", wantOut: `{"items":[]}` + "\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			result := getPlacement(t, clitest.NewWorld(t), tc.args)
			if result.Code != 0 || result.Out != tc.wantOut || result.Err != tc.wantErr {
				t.Errorf("exit status %d, printed %q and %q", result.Code, result.Out, result.Err)
			}
		})
	}
}

func TestPlacementRefuses(t *testing.T) {
	tests := map[string]struct {
		change func(w *clitest.World, d *clitest.Deployment)
		args   string
		want   string
	}{
		"an unknown workload":         {args: "apache", want: `workload "apache" not found in namespace "default"`},
		"a name of another kind":      {args: "sts/nginx", want: `statefulset/nginx not found`},
		"a name of another group":     {args: "deployment.extensions/nginx", want: `deployment.extensions/nginx not found`},
		"another namespace":           {args: "nginx -n web", want: `not found in namespace "web"`},
		"two slashes":                 {args: "a/b/c", want: `"a/b/c" is no workload: write NAME or KIND/NAME`},
		"no kind":                     {args: "/nginx", want: "is no workload"},
		"no name":                     {args: "deploy/", want: "is no workload"},
		"capitals":                    {args: "Nginx", want: "is no workload"},
		"a very long name":            {args: strings.Repeat("n", 100_000), want: "is too long"},
		"two names":                   {args: "nginx apache", want: "takes at most one name"},
		"a name in all namespaces":    {args: "nginx -A", want: "cannot be named together with --all-namespaces"},
		"an unknown output format":    {args: "-o xml", want: "use one of table, wide, json, yaml"},
		"no scheduler":                {args: "--scheduler-names=", want: "--scheduler-names: the list is empty"},
		"an unknown kind of question": {args: "--sort-by name", want: "unknown flag: --sort-by"},
		"a workload without a policy": {
			change: func(w *clitest.World, _ *clitest.Deployment) { w.Deployment("second", 1) },
			args:   "second",
			want:   `deployment/second is not placed by Berth: no PropagationPolicy of namespace "default" selects it`,
		},
		"a workload of another scheduler": {
			change: func(w *clitest.World, _ *clitest.Deployment) {
				w.Policy("all", "apps/v1", "Deployment", "", twoToThree)
				w.Deployment("second", 1).Object.Spec.Template.Spec.SchedulerName = "volcano"
			},
			args: "second",
			want: `its pods use schedulerName "volcano", set it to "berth-scheduler" in their template`,
		},
		"a workload that wants no policy": {
			change: func(w *clitest.World, _ *clitest.Deployment) {
				w.Policy("all", "apps/v1", "Deployment", "", twoToThree)
				w.Deployment("second", 1).Object.Spec.Template.Annotations = map[string]string{
					berthv1alpha1.PolicyAnnotation: berthv1alpha1.PolicyNone,
				}
			},
			args: "second",
			want: "its pods carry the annotation groupingpolicy.kubeedge.io: none",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, d := nginx(t)
			if tc.change != nil {
				tc.change(w, d)
			}
			getPlacement(t, w, tc.args).CheckFailed(t, tc.want)
		})
	}
}

func TestPlacementWithOtherSchedulerNames(t *testing.T) {
	w, d := nginx(t)
	d.Object.Spec.Template.Spec.SchedulerName = "berth-adds-only"
	result := getPlacement(t, w, "nginx --scheduler-names berth-scheduler,berth-adds-only")
	if result.Code != 0 || !strings.Contains(result.Out, "hangzhou") {
		t.Errorf("exit status %d, printed %q and %q", result.Code, result.Out, result.Err)
	}
}

func TestPlacementTellsWhatKeepsItFromReading(t *testing.T) {
	berth := schema.GroupResource{Group: "berth.dev", Resource: "propagationpolicies"}
	tests := map[string]struct {
		resource string
		err      error
		want     string
	}{
		"no CRDs": {
			resource: "propagationpolicies", err: apierrors.NewNotFound(berth, ""),
			want: "the Berth API is not installed in this cluster: kubectl apply -k manifests/base",
		},
		"no CRD of clusters": {
			resource: "clusters", err: apierrors.NewNotFound(berth, ""),
			want: "the Berth API is not installed in this cluster",
		},
		"not allowed": {
			resource: "nodes", err: apierrors.NewForbidden(corev1.Resource("nodes"), "", errors.New(`User "eve" cannot list`)),
			want: `listing nodes: not allowed, ask the administrator for the right to read it: nodes is forbidden: User "eve" cannot list`,
		},
		"no valid credentials": {
			resource: "pods", err: apierrors.NewUnauthorized("Unauthorized"),
			want: `listing pods of namespace "default": the API server does not accept these credentials`,
		},
		"no connection": {
			resource: "propagationpolicies",
			err:      &url.Error{Op: "Get", URL: "https://127.0.0.1:1/apis", Err: errors.New("connection refused")},
			want:     "cannot reach the API server, check --kubeconfig and --context: connection refused",
		},
		"anything else, on one line": {
			resource: "jobs", err: errors.New("etcd\nis on\x1b[31m fire"),
			want: `listing jobs of namespace "default": etcd is on^[[31m fire`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := nginx(t)
			options := w.Options()
			fail := func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tc.err }
			w.Clients.Kubernetes.PrependReactor("list", tc.resource, fail)
			w.Clients.Berth.PrependReactor("list", tc.resource, fail)
			clitest.Run(t.Context(), options, "get", "placement").CheckFailed(t, tc.want)
			clitest.Run(t.Context(), options, "get", "placement", "--watch").CheckFailed(t, tc.want)
		})
	}
}

func TestPlacementNeedsAKubeconfig(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"none":                {want: "reading the kubeconfig: it names no cluster: set --kubeconfig"},
		"one that is missing": {args: "--kubeconfig /nonexistent/config", want: "reading the kubeconfig: stat /nonexistent/config"},
		"an unknown context":  {args: "--context nowhere", want: "reading the kubeconfig: invalid configuration"},
		"no API server":       {args: "--server https://127.0.0.1:1", want: "cannot reach the API server"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", "/dev/null")
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			args := append([]string{"get", "placement"}, strings.Fields(tc.args)...)
			clitest.Run(t.Context(), cli.Options{}, args...).CheckFailed(t, tc.want)
		})
	}
}
