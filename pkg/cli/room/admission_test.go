// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package room_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"berth.dev/berth/pkg/cli/internal/clitest"
)

func cpus(number string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(number)}
}

// limited is the shop with a LimitRange by which every container that asks for nothing gets 2 cpus,
// and none gets more than 3, and with a RuntimeClass that takes another cpu of each pod.
func limited(t *testing.T) (*clitest.World, *clitest.Deployment) {
	t.Helper()
	w, d := shop(t)
	limits := corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, DefaultRequest: cpus("2"), Default: cpus("3"), Max: cpus("3")}
	w.Kubernetes = append(w.Kubernetes,
		&corev1.LimitRange{
			ObjectMeta: metav1.ObjectMeta{Namespace: clitest.Namespace, Name: "limits"},
			Spec:       corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{limits}},
		},
		&nodev1.RuntimeClass{
			ObjectMeta: metav1.ObjectMeta{Name: "kata"}, Handler: "kata",
			Overhead: &nodev1.Overhead{PodFixed: cpus("1")},
		})
	return w, d
}

// TestAdmission checks that templates and pods of files count as the API server would make them.
// Two nodes of beijing have 3 and 4 cpus left.
func TestAdmission(t *testing.T) {
	tests := map[string]struct{ spec, want string }{
		"as it is":             {`containers: [{name: c, resources: {requests: {cpu: "1"}, limits: {cpu: "1"}}}]`, "7"},
		"the LimitRange":       {`containers: [{name: c}]`, "3"},
		"the RuntimeClass":     {`runtimeClassName: kata, containers: [{name: c}]`, "2"},
		"limits are requests":  {`containers: [{name: c, resources: {limits: {cpu: "3"}}}]`, "2"},
		"in each container":    {`containers: [{name: c}, {name: d}]`, "1"},
		"in an init container": {`containers: [{name: c, resources: {requests: {cpu: "1"}, limits: {cpu: "1"}}}], initContainers: [{name: i}]`, "3"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for kind, content := range map[string]string{
				"a pod": "apiVersion: v1\nkind: Pod\nmetadata: {name: big}\nspec: {schedulerName: berth-scheduler, " + tc.spec + "}\n",
				"a template": "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: big}\n" +
					"spec: {template: {spec: {schedulerName: berth-scheduler, " + tc.spec + "}}}\n",
			} {
				t.Run(kind, func(t *testing.T) {
					w, _ := limited(t)
					checkBeijing(t, room(t, w, "-o json -f "+file(t, content)), tc.want)
				})
			}
		})
	}
}

func TestAdmissionOfALiveTemplate(t *testing.T) {
	w, d := limited(t)
	d.Object.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
	checkBeijing(t, room(t, w, "web -o json"), "7")
	without, d := limited(t)
	d.Object.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
	without.Kubernetes = slices.DeleteFunc(without.Kubernetes, func(o runtime.Object) bool {
		_, isPod := o.(*corev1.Pod)
		return isPod
	})
	checkBeijing(t, room(t, without, "web -o json"), "4")
}

func TestRefusal(t *testing.T) {
	tests := map[string]struct{ spec, want string }{
		"more than a LimitRange allows": {
			`containers: [{name: c, resources: {requests: {cpu: "4"}, limits: {cpu: "4"}}}]`,
			"the API server would refuse the pods of pod/big: ",
		},
		"a class that is not there": {
			`priorityClassName: gold, ` + container, "no PriorityClass with name gold was found",
		},
		"what no pod may say": {`restartPolicy: Sometimes, ` + container, `Unsupported value: "Sometimes"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := limited(t)
			room(t, w, "-f "+file(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: big}\nspec: {"+tc.spec+"}\n")).CheckFailed(t, tc.want)
		})
	}
}

// TestAdmissionIsReadIfNeeded checks that who asks for pods that admission has seen needs no right
// to read what it reads.
func TestAdmissionIsReadIfNeeded(t *testing.T) {
	for _, kind := range []string{"limitranges", "runtimeclasses", "priorityclasses"} {
		t.Run(kind, func(t *testing.T) {
			w, _ := limited(t)
			w.Options()
			w.Clients.Kubernetes.PrependReactor("list", kind, func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: kind}, "", nil)
			})
			if got := room(t, w, "web"); got.Code != 0 || !strings.Contains(got.Out, "beijing") {
				t.Errorf("exit status %d, %s", got.Code, got.Err)
			}
			room(t, w, "-f "+file(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: big}\nspec: {"+container+"}\n")).
				CheckFailed(t, "listing "+kind)
		})
	}
}
