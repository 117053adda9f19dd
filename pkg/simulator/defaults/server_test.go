// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package defaults_test

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/simulator/defaults"
)

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "uid"}
}

func quantities(cpu string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
}

func newPod(changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: meta("p"), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func limitRange(namespace string, item corev1.LimitRangeItem) *corev1.LimitRange {
	item.Type = corev1.LimitTypeContainer
	return &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "limits"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{item}},
	}
}

func server(t *testing.T, objects ...runtime.Object) *defaults.Server {
	t.Helper()
	s, err := defaults.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if err := s.Put(object); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestPod(t *testing.T) {
	kata := &nodev1.RuntimeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "kata"}, Handler: "kata", Overhead: &nodev1.Overhead{PodFixed: quantities("250m")},
		Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{"sandbox": "yes"}},
	}
	class := func(name string, value int32, global bool) *schedulingv1.PriorityClass {
		return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, GlobalDefault: global}
	}
	byDefault := limitRange("shop", corev1.LimitRangeItem{DefaultRequest: quantities("500m")})
	type facts struct {
		CPU, Overhead string
		Priority      int32
		Selector      string
	}
	tests := map[string]struct {
		known []runtime.Object
		pod   *corev1.Pod
		want  facts
		// wantErr is part of the error.
		wantErr string
	}{
		"plain":                           {pod: newPod(), want: facts{CPU: "0", Overhead: "0"}},
		"LimitRange":                      {known: []runtime.Object{byDefault}, pod: newPod(), want: facts{CPU: "500m", Overhead: "0"}},
		"LimitRange of another namespace": {known: []runtime.Object{limitRange("bank", byDefault.Spec.Limits[0])}, pod: newPod(), want: facts{CPU: "0", Overhead: "0"}},
		"RuntimeClass":                    {known: []runtime.Object{kata}, pod: newPod(func(p *corev1.Pod) { p.Spec.RuntimeClassName = ptr.To("kata") }), want: facts{CPU: "0", Overhead: "250m", Selector: "yes"}},
		"RuntimeClass that is not there":  {pod: newPod(func(p *corev1.Pod) { p.Spec.RuntimeClassName = ptr.To("kata") }), wantErr: `RuntimeClass "kata" not found`},
		"PriorityClass":                   {known: []runtime.Object{class("high", 7, false)}, pod: newPod(func(p *corev1.Pod) { p.Spec.PriorityClassName = "high" }), want: facts{CPU: "0", Overhead: "0", Priority: 7}},
		"PriorityClass by default":        {known: []runtime.Object{class("usual", 3, true)}, pod: newPod(), want: facts{CPU: "0", Overhead: "0", Priority: 3}},
		"PriorityClass of every cluster":  {pod: newPod(func(p *corev1.Pod) { p.Spec.PriorityClassName = "system-node-critical" }), want: facts{CPU: "0", Overhead: "0", Priority: 2000001000}},
		"PriorityClass that is not there": {pod: newPod(func(p *corev1.Pod) { p.Spec.PriorityClassName = "high" }), wantErr: "no PriorityClass with name high was found"},
		"more than a LimitRange allows":   {known: []runtime.Object{limitRange("shop", corev1.LimitRangeItem{Max: quantities("1")})}, pod: newPod(func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits = quantities("2") }), wantErr: "maximum cpu usage per Container is 1, but limit is 2"},
		"a request above the limit": {pod: newPod(func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Limits: quantities("1"), Requests: quantities("2")}
		}), wantErr: "must be less than or equal to cpu limit"},
		"a limit is the request by default": {pod: newPod(func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits = quantities("2") }), want: facts{CPU: "2", Overhead: "0"}},
		"no containers":                     {pod: &corev1.Pod{ObjectMeta: meta("p")}, wantErr: "spec.containers: Required value"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := tc.pod.DeepCopy()
			got, err := server(t, tc.known...).Pod(t.Context(), tc.pod)
			if diff := cmp.Diff(before, tc.pod); diff != "" {
				t.Errorf("the pod has been changed (-before +after):\n%s", diff)
			}
			if tc.wantErr != "" || err != nil {
				if err == nil || tc.wantErr == "" || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("error %v, want one with %q", err, tc.wantErr)
				}
				return
			}
			found := facts{
				got.Spec.Containers[0].Resources.Requests.Cpu().String(), got.Spec.Overhead.Cpu().String(), *got.Spec.Priority,
				got.Spec.NodeSelector["sandbox"],
			}
			if diff := cmp.Diff(tc.want, found); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(got.Spec.Tolerations) != 2 || got.Spec.SchedulerName != corev1.DefaultSchedulerName {
				t.Errorf("tolerations %v and scheduler %q, want those of every pod", got.Spec.Tolerations, got.Spec.SchedulerName)
			}
		})
	}
}

func TestPodMergesMatchLabelKeys(t *testing.T) {
	pod := newPod(func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "web", "pod-template-hash": "v1"}
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, MatchLabelKeys: []string{"pod-template-hash"},
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		}}
	})
	got, err := server(t).Pod(t.Context(), pod)
	if err != nil {
		t.Fatal(err)
	}
	want := "app=web,pod-template-hash in (v1)"
	if selector := metav1.FormatLabelSelector(got.Spec.TopologySpreadConstraints[0].LabelSelector); selector != want {
		t.Errorf("selector %q, want %q", selector, want)
	}
}

func TestPutAndDrop(t *testing.T) {
	limits := limitRange("shop", corev1.LimitRangeItem{DefaultRequest: quantities("500m")})
	s := server(t)
	for _, want := range []string{"0", "500m", "0"} {
		got, err := s.Pod(t.Context(), newPod())
		if err != nil {
			t.Fatal(err)
		}
		if cpu := got.Spec.Containers[0].Resources.Requests.Cpu().String(); cpu != want {
			t.Errorf("requests %s, want %s", cpu, want)
		}
		change := s.Put
		if want == "500m" {
			change = s.Drop
		}
		if err := change(limits); err != nil {
			t.Fatal(err)
		}
	}
	if !s.Reads(limits) || s.Reads(newPod()) {
		t.Error("Reads does not name LimitRanges, or names pods")
	}
}

func TestCreate(t *testing.T) {
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: newPod().Spec,
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	s := server(t)
	create := func(object runtime.Object) (runtime.Object, error) { return s.Create(t.Context(), object) }

	created, err := create(&appsv1.Deployment{ObjectMeta: meta("web"), Spec: appsv1.DeploymentSpec{Selector: selector, Template: template}})
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := created.(*appsv1.Deployment); !ok || *d.Spec.Replicas != 1 || d.Spec.Strategy.RollingUpdate == nil {
		t.Errorf("the Deployment has no defaults: %+v", created)
	}
	never := *template.DeepCopy()
	never.Spec.RestartPolicy = corev1.RestartPolicyNever
	created, err = create(&batchv1.Job{ObjectMeta: meta("train"), Spec: batchv1.JobSpec{Template: never}})
	if err != nil {
		t.Fatal(err)
	}
	if j, ok := created.(*batchv1.Job); !ok || *j.Spec.Completions != 1 || j.Spec.Template.Labels[batchv1.ControllerUidLabel] != "uid" {
		t.Errorf("the Job has no defaults, or its pods no labels: %+v", created)
	}
	for want, object := range map[string]runtime.Object{
		"`selector` does not match template `labels`": &appsv1.ReplicaSet{ObjectMeta: meta("web"), Spec: appsv1.ReplicaSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}}, Template: template,
		}},
		"spec.replicas: Invalid value: -1": &appsv1.StatefulSet{ObjectMeta: meta("db"), Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To[int32](-1), Selector: selector, Template: template,
		}},
		"a lowercase RFC 1123": &appsv1.DaemonSet{ObjectMeta: meta("No_Name"), Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template}},
	} {
		if _, err := create(object); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestCreateOtherKinds(t *testing.T) {
	s := server(t)
	claim, err := s.Create(t.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: meta("data")})
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := claim.(*corev1.PersistentVolumeClaim); !ok || *c.Spec.VolumeMode != corev1.PersistentVolumeFilesystem {
		t.Errorf("the claim has no defaults: %+v", claim)
	}
	cluster := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "beijing"}}
	if got, err := s.Create(t.Context(), cluster); err != nil || got != runtime.Object(cluster) {
		t.Errorf("of a kind of Berth: %v, %v", got, err)
	}
}

// TestNothingIsLogged creates an object that the API server validates by declaration, too. Users of
// berthctl would see what that logs.
func TestNothingIsLogged(t *testing.T) {
	logger := funcr.New(func(_, message string) { t.Errorf("logged: %s", message) }, funcr.Options{})
	rc := &corev1.ReplicationController{ObjectMeta: meta("x"), Spec: corev1.ReplicationControllerSpec{
		Replicas: ptr.To[int32](2), Selector: map[string]string{"app": "x"}, Template: &corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}}, Spec: newPod().Spec,
		},
	}}
	if _, err := server(t).Create(klog.NewContext(t.Context(), logger), rc); err != nil {
		t.Error(err)
	}
	rc.Spec.Replicas = ptr.To[int32](-1)
	if _, err := server(t).Create(klog.NewContext(t.Context(), logger), rc); err == nil || !strings.Contains(err.Error(), "spec.replicas") {
		t.Errorf("fewer replicas than none: %v", err)
	}
}
