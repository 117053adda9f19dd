// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/internal/oracle"
)

var (
	applications    = berthv1alpha1.SchemeGroupVersion.WithResource("applications")
	serviceAccounts = corev1.SchemeGroupVersion.WithResource("serviceaccounts")
)

// application is an Application with one Deployment of its name.
type application struct {
	name     string
	replicas int32
	// pin is the site that its constraints name, empty for any.
	pin string
	// changed is when its user changed it last, or somebody who is no program of Berth took a pod
	// away.
	changed time.Time
}

// deploy makes the Applications that the seed wants, and plans what their users do. They are drawn
// by themselves, so that everything else in the world of a seed is as it is without them.
func (w *World) deploy(length time.Duration) {
	w.create(serviceAccounts, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: namespace}})
	for n := range w.extra.IntN(4) {
		a := &application{name: fmt.Sprintf("moving-%d", n), replicas: int32(1 + w.extra.IntN(5)), changed: time.Now()}
		if w.exists("application " + a.name) {
			w.applications = append(w.applications, a)
			w.create(applications, &berthv1alpha1.Application{
				ObjectMeta: metav1.ObjectMeta{Name: a.name},
				Spec:       berthv1alpha1.ApplicationSpec{Manifests: []berthv1alpha1.Manifest{a.manifest()}},
			})
		}
		for i := range 1 + w.extra.IntN(4) {
			w.planUser(a, fmt.Sprintf("disturbance %d of %s: ", i, a.name), time.Duration(w.extra.Int64N(int64(length))))
		}
	}
}

// planUser plans what the user of an Application does at a time: most often it is to run elsewhere.
func (w *World) planUser(a *application, name string, at time.Duration) {
	site, replicas := siteName(w.extra.IntN(w.sites)), int32(w.extra.IntN(6))
	do, kind := func() { a.pin = site }, "pin"
	switch w.extra.IntN(6) {
	case 0:
		do, kind, name = func() { a.replicas = replicas }, "scale", name+fmt.Sprintf("it is scaled to %d", replicas)
	case 1:
		do, name = func() { a.pin = "" }, name+"it may run anywhere"
	default:
		name += "it is to run at " + site
	}
	if w.skip["application "+a.name] {
		return
	}
	w.plan(at, kind, name, func() {
		do()
		a.changed = time.Now()
		labels := []string{}
		if a.pin != "" {
			labels = append(labels, siteLabel+" is "+a.pin)
		}
		w.act("patch", applications, a.name, "", object{"spec": object{
			"manifests": []berthv1alpha1.Manifest{a.manifest()}, "constraints": object{"clusterLabels": labels},
		}})
	})
}

// manifest returns that of the Deployment.
func (a *application) manifest() berthv1alpha1.Manifest {
	l := &workload{name: a.name}
	raw, err := json.Marshal(object{
		"apiVersion": appsv1.SchemeGroupVersion.String(), "kind": "Deployment", "metadata": object{"name": a.name},
		"spec": object{
			"replicas": a.replicas, "selector": object{"matchLabels": object{"app": a.name}},
			"template": object{"metadata": object{"labels": object{"app": a.name}}, "spec": l.podSpec()},
		},
	})
	if err != nil {
		panic(err)
	}
	return berthv1alpha1.Manifest{RawExtension: runtime.RawExtension{Raw: raw}}
}

// sawDeployment lets the controllers of workloads look at a Deployment of an Application soon.
func (w *World) sawDeployment(found *appsv1.Deployment) {
	if found.Labels[berthv1alpha1.ApplicationLabel] != "" {
		w.after(w.pause("look at "+found.Name, 100*time.Millisecond), func() { w.roll(found) })
	}
}

// roll does what the controller of Deployments does for one that was made or scaled.
func (w *World) roll(found *appsv1.Deployment) {
	replicas, l := ptr.Deref(found.Spec.Replicas, 1), w.workloadOf(found.Name)
	set := found.Name + "-1"
	if l == nil {
		l = &workload{name: found.Name, replicas: replicas, template: &found.Spec.Template}
		w.create(replicaSets, &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{
				Name: set, Labels: l.labels(), OwnerReferences: []metav1.OwnerReference{w.ownerOf("Deployment", l.name)},
			},
			Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Template: found.Spec.Template, Selector: &metav1.LabelSelector{MatchLabels: l.labels()}},
		})
		l.uid, w.generations[set] = w.ownerOf("ReplicaSet", set), 1
		w.workloads = append(w.workloads, l)
	}
	if w.generations[l.name] = found.Generation; l.replicas != replicas {
		w.generations[set]++
		w.act("patch", replicaSets, set, "", object{"spec": object{"replicas": replicas}})
	}
	l.replicas, l.status, l.changed = replicas, "", true
	if w.fleet != nil {
		w.fleet.look()
	}
}

func (w *World) workloadOf(name string) *workload {
	for _, l := range w.workloads {
		if l.name == name {
			return l
		}
	}
	return nil
}

// applicationOf returns the Application that a pod is of, nil for none.
func (w *World) applicationOf(pod *corev1.Pod) *application {
	for _, a := range w.applications {
		if a.name == pod.Labels["app"] {
			return a
		}
	}
	return nil
}

// judgeTaken checks, after a pod was changed, that its Application has not lost availability by
// that: Berth, and the ReplicaSets that Berth shrinks, take pods away only if enough others are
// ready.
func (w *World) judgeTaken(pod, after *corev1.Pod) {
	if !stays(pod) || stays(after) {
		return
	}
	a := w.applicationOf(pod)
	switch {
	case a == nil:
	case w.acting == nil && !w.shrinking:
		a.changed = time.Now()
	case pod.Status.Phase != corev1.PodRunning || time.Since(a.changed) <= oracle.Settled:
	default:
		if ready := w.ready(a); ready < a.replicas {
			w.violatef("pod %s of application %s was taken away, and %d of %d replicas are left", pod.Name, a.name, ready, a.replicas)
		}
	}
}

// ready returns how many pods of an Application run.
func (w *World) ready(a *application) (ready int32) {
	for _, pod := range w.pods {
		if pod.Labels["app"] == a.name && pod.Status.Phase == corev1.PodRunning && stays(pod) {
			ready++
		}
	}
	return ready
}

// countBySite returns how many pods of an Application there are in each site.
func (w *World) countBySite(a *application) map[string]int {
	there := map[string]int{}
	for _, pod := range w.pods {
		if pod.Labels["app"] == a.name && stays(pod) {
			there[w.siteOf(pod.Spec.NodeName)]++
		}
	}
	return there
}

// checkApplication says what must not be the case of an Application in the end: that it does not
// run, runs in more than one cluster or in none that is chosen for it, or is still on its way.
func (w *World) checkApplication(a *application, say func(string, ...any)) {
	found := &berthv1alpha1.Application{}
	if !w.server.Read(applications, namespace, a.name, found) {
		say("application %s is gone", a.name)
		return
	}
	to := found.Status.ScheduledTo
	leftOut := slices.ContainsFunc(found.Status.LeftOut, func(out berthv1alpha1.LeftOutCluster) bool { return out.Cluster == a.pin })
	switch {
	case to == "" || a.pin != "" && to != a.pin && !leftOut:
		say("application %s is to run at %q, its constraints name %q", a.name, to, a.pin)
	case found.Status.Move != nil:
		say("application %s moves from %s to %s: %s", a.name, found.Status.Move.From, found.Status.Move.To, found.Status.Move.Message)
	}
	there, want := w.countBySite(a), map[string]int{}
	if a.replicas > 0 {
		want[to] = int(a.replicas)
	}
	if fmt.Sprint(there) != fmt.Sprint(want) || w.ready(a) != a.replicas {
		say("application %s has pods at %v, and %d are ready; it is to have %v", a.name, there, w.ready(a), want)
	}
	if told := fmt.Sprintf("%d/%d", a.replicas, a.replicas); found.Status.Ready != told {
		say("the status of application %s tells that %s are ready, not %s", a.name, found.Status.Ready, told)
	}
}
