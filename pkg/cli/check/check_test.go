// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	admissionv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

// found is what berthctl check -o json prints.
type found struct {
	Success    bool
	Categories []struct {
		CategoryName string
		Checks       []struct {
			ID, Description, Result, Hint string
			Findings                      []string
		}
	}
}

// run returns the IDs of the checks that found something, with their results.
func run(t *testing.T, w *world, args ...string) (results map[string]string, text string, code int) {
	t.Helper()
	result := clitest.Run(t.Context(), w.options(), append([]string{"check", "-o", "json"}, args...)...)
	var read found
	if err := json.Unmarshal([]byte(result.Out), &read); err != nil {
		t.Fatalf("%v: %s%s", err, result.Out, result.Err)
	}
	results = map[string]string{}
	var texts []string
	for _, category := range read.Categories {
		for _, c := range category.Checks {
			if c.Result != "success" {
				results[c.ID] = c.Result
				texts = append(texts, c.Findings...)
			}
		}
	}
	return results, strings.Join(texts, "\n"), result.Code
}

func certificate(t *testing.T, end time.Time) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: end}
	content, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: content})
}

// mountCertificate gives the gateway a certificate.
func mountCertificate(w *world, content []byte) {
	d := find[*appsv1.Deployment](w, "berth-gateway")
	d.Spec.Template.Spec.Volumes = []corev1.Volume{{
		VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "gateway-tls"}},
	}}
	w.kubernetes = append(w.kubernetes, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "gateway-tls"}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: content},
	})
}

// inject adds what the chart renders for inject.namespaceSelector, of a version of the API.
func inject(w *world, version, scheduler string, bound bool) {
	const group = "admissionregistration.k8s.io/"
	w.served = map[string][]string{group + version: {"mutatingadmissionpolicies"}}
	policy := &admissionv1beta1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "berth-inject-scheduler-name"}}
	policy.Spec.Mutations = []admissionv1beta1.Mutation{{JSONPatch: &admissionv1beta1.JSONPatch{
		Expression: "[JSONPatch{op: 'add', path: '/spec/schedulerName', value: '" + scheduler + "'}]",
	}}}
	w.raw["/apis/"+group+version+"/mutatingadmissionpolicies"] = []any{policy}
	if bound {
		binding := &admissionv1beta1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: policy.Name}}
		binding.Spec.PolicyName = policy.Name
		w.raw["/apis/"+group+version+"/mutatingadmissionpolicybindings"] = []any{binding}
	}
}

// compile has programs of an image with another tag.
func compile(w *world, tag string, programs ...string) {
	for _, name := range programs {
		find[*appsv1.Deployment](w, name).Spec.Template.Spec.Containers[0].Image = "registry.example.com:5000/" + name + ":" + tag
	}
}

// refuse makes the API server refuse requests.
func refuse(verb, resource string) func(*fake.Clientset) {
	return func(client *fake.Clientset) {
		client.PrependReactor(verb, resource, func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, errors.New("the API server is on fire")
		})
	}
}

type fault struct {
	plant func(*testing.T, *world)
	// want is the ID of the check that names the fault, and the result if it is no error.
	want, result string
	wantText     string
}

// faults are planted one at a time in a healthy cluster. Nothing else may be named.
var faults = map[string]fault{
	"a cluster that is too old": {want: "kubernetes-version", wantText: "compiled with 1.35 needs 1.35 or 1.36", plant: func(_ *testing.T, w *world) {
		w.version.Minor, w.version.GitVersion = "34", "v1.34.3"
	}},
	"a cluster that is too new": {want: "kubernetes-version", wantText: "v1.37.1", plant: func(_ *testing.T, w *world) {
		w.version.Minor, w.version.GitVersion = "37+", "v1.37.1"
	}},
	"a definition that is missing": {want: "definitions", wantText: "subscriptions", plant: func(_ *testing.T, w *world) {
		w.kinds = w.kinds[:len(w.kinds)-1]
	}},
	"a definition of objects that others are checked of": {want: "definitions", wantText: "feedparsers", plant: func(_ *testing.T, w *world) {
		w.kinds = slices.DeleteFunc(w.kinds, func(kind string) bool { return kind == "feedparsers" })
	}},
	"a definition of an older version": {want: "definitions", wantText: "it has no spec.homeScheduler", plant: func(_ *testing.T, w *world) {
		delete(w.definition("clusters.berth.dev").Properties["spec"].Properties, "homeScheduler")
	}},
	"no controller manager": {want: "installed", wantText: "berth-controller-manager", plant: func(_ *testing.T, w *world) {
		remove[*appsv1.Deployment](w, "berth-controller-manager")
		l := find[*coordinationv1.Lease](w, "berth-controller-manager")
		l.Spec.RenewTime.Time = l.Spec.RenewTime.Add(-time.Hour)
	}},
	"a program without replicas": {want: "available", wantText: "0 of 1", plant: func(_ *testing.T, w *world) {
		find[*appsv1.Deployment](w, "berth-gateway").Status.AvailableReplicas = 0
	}},
	"a replica that is missing": {want: "available", result: "warning", wantText: "1 of 2", plant: func(_ *testing.T, w *world) {
		find[*appsv1.Deployment](w, "berth-scheduler").Spec.Replicas = ptr.To[int32](2)
	}},
	"a controller manager that is switched off": {want: "available", wantText: "berth-controller-manager is scaled to no replicas", plant: func(_ *testing.T, w *world) {
		find[*appsv1.Deployment](w, "berth-controller-manager").Spec.Replicas = ptr.To[int32](0)
	}},
	"a scheduler that is switched off": {want: "available", wantText: "berth-scheduler is scaled to no replicas", plant: func(_ *testing.T, w *world) {
		find[*appsv1.Deployment](w, "berth-scheduler").Spec.Replicas = ptr.To[int32](0)
	}},
	"a scheduler that is too new": {want: "kubernetes-version", wantText: "compiled with 1.37 needs 1.37 or 1.38", plant: func(_ *testing.T, w *world) {
		compile(w, "v0.1.0-kubernetes-1.37", "berth-scheduler", "berth-controller-manager")
	}},
	"programs of two minors": {want: "versions", wantText: "berth-scheduler with Kubernetes 1.36", plant: func(_ *testing.T, w *world) {
		w.version.Minor, w.version.GitVersion = "36", "v1.36.4"
		compile(w, "v0.1.0-kubernetes-1.36@sha256:0123", "berth-scheduler")
	}},
	"programs of two versions, by digest": {want: "versions", wantText: "berth-gateway of v0.2.0", plant: func(_ *testing.T, w *world) {
		compile(w, "v0.2.0@sha256:0123", "berth-gateway")
	}},
	"programs of two versions": {want: "versions", wantText: "berth-gateway of v0.2.0", plant: func(_ *testing.T, w *world) {
		find[*appsv1.Deployment](w, "berth-gateway").Spec.Template.Spec.Containers[0].Image = "berth-gateway:v0.2.0"
	}},
	"no room for Berth": {want: "own-pods-placed", wantText: "Insufficient cpu", plant: func(_ *testing.T, w *world) {
		p := find[*corev1.Pod](w, "berth-gateway-0")
		p.Spec.NodeName = ""
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "Insufficient cpu"}}
	}},
	"an image that is not there": {want: "own-pods-running", wantText: "ErrImagePull", plant: func(_ *testing.T, w *world) {
		find[*corev1.Pod](w, "berth-scheduler-0").Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}
	}},
	"too little memory": {want: "memory", wantText: "ran out of memory", plant: func(_ *testing.T, w *world) {
		find[*corev1.Pod](w, "berth-scheduler-0").Status.ContainerStatuses[0].LastTerminationState.Terminated =
			&corev1.ContainerStateTerminated{Reason: "OOMKilled"}
	}},
	"no configuration": {want: "configuration", wantText: "no ConfigMap scheduler-config", plant: func(_ *testing.T, w *world) {
		remove[*corev1.ConfigMap](w, "scheduler-config")
	}},
	"a configuration that cannot be read": {want: "configuration", wantText: "ConfigMap scheduler-config", plant: func(_ *testing.T, w *world) {
		find[*corev1.ConfigMap](w, "scheduler-config").Data["scheduler-config.yaml"] = "profiles: {"
	}},
	"a role that is missing": {want: "rbac", wantText: "no ClusterRole berth-scheduler", plant: func(_ *testing.T, w *world) {
		remove[*rbacv1.ClusterRole](w, "berth-scheduler")
	}},
	"a rule that is missing": {want: "rbac", wantText: "does not allow create pods/eviction", plant: func(_ *testing.T, w *world) {
		role := find[*rbacv1.ClusterRole](w, "berth-controller-manager")
		for i := range role.Rules {
			if role.Rules[i].Resources[0] == "pods/eviction" {
				role.Rules[i].Verbs = []string{"get"}
			}
		}
	}},
	"a binding that is missing": {want: "rbac-bindings", wantText: "berth-system/berth-gateway", plant: func(_ *testing.T, w *world) {
		remove[*rbacv1.ClusterRoleBinding](w, "berth-gateway")
	}},
	"a binding for another ServiceAccount": {want: "rbac-bindings", wantText: "berth-system/berth-scheduler", plant: func(_ *testing.T, w *world) {
		find[*rbacv1.ClusterRoleBinding](w, "berth-scheduler").Subjects[0].Namespace = "default"
	}},
	"a role in a namespace that is missing": {want: "rbac", wantText: "no Role berth-system/berth-scheduler-leader-election", plant: func(_ *testing.T, w *world) {
		remove[*rbacv1.Role](w, "berth-scheduler-leader-election")
	}},
	"a rule in a namespace that is missing": {want: "rbac", wantText: "Role berth-credentials/berth-controller-manager-credentials does not allow get secrets",
		plant: func(_ *testing.T, w *world) {
			find[*rbacv1.Role](w, "berth-controller-manager-credentials").Rules = nil
		}},
	"a binding in a namespace that is missing": {want: "rbac-bindings", wantText: "no RoleBinding in kube-system gives ServiceAccount berth-system/berth-scheduler",
		plant: func(_ *testing.T, w *world) {
			remove[*rbacv1.RoleBinding](w, "berth-scheduler-authentication-reader")
		}},
	"a binding in a namespace that lacks one of two": {want: "rbac-bindings",
		wantText: "no RoleBinding in berth-schedulers gives ServiceAccount berth-system/berth-controller-manager the Role berth-scheduler-leases",
		plant: func(_ *testing.T, w *world) {
			b := find[*rbacv1.RoleBinding](w, "berth-scheduler-leases")
			b.Subjects = b.Subjects[:1]
		}},
	"a ServiceAccount that is missing": {want: "rbac-bindings", wantText: "there is no ServiceAccount berth-system/berth-gateway", plant: func(_ *testing.T, w *world) {
		remove[*corev1.ServiceAccount](w, "berth-gateway")
	}},
	"no right to the lease of the default scheduler": {want: "rbac", wantText: "no Role kube-system/berth-scheduler-instead", plant: func(_ *testing.T, w *world) {
		standIn(w)
		remove[*rbacv1.Role](w, "berth-scheduler-instead")
	}},
	"no binding for the lease of the default scheduler": {want: "rbac-bindings", wantText: "the Role berth-scheduler-instead", plant: func(_ *testing.T, w *world) {
		standIn(w)
		remove[*rbacv1.RoleBinding](w, "berth-scheduler-instead")
	}},
	"no flow schema for the lease of the default scheduler": {want: "flow-schema", wantText: "no FlowSchema berth-leader-election-instead",
		plant: func(_ *testing.T, w *world) {
			standIn(w)
			remove[*flowcontrolv1.FlowSchema](w, "berth-leader-election-instead")
		}},
	"a lease that nobody holds": {want: "leases", wantText: "berth-scheduler", plant: func(_ *testing.T, w *world) {
		find[*coordinationv1.Lease](w, "berth-scheduler").Spec.HolderIdentity = nil
	}},
	"a lease that is not renewed": {want: "lease-renewed", wantText: "1h0m1s", plant: func(_ *testing.T, w *world) {
		l := find[*coordinationv1.Lease](w, "berth-scheduler")
		l.Spec.RenewTime.Time = l.Spec.RenewTime.Add(-time.Hour)
	}},
	"a holder from elsewhere": {want: "lease-holder", wantText: "laptop_1", plant: func(_ *testing.T, w *world) {
		find[*coordinationv1.Lease](w, "berth-controller-manager").Spec.HolderIdentity = ptr.To("laptop_1")
	}},
	"a holder on the node of a pod with another network": {want: "lease-holder", wantText: "host-1_1", plant: func(_ *testing.T, w *world) {
		w.kubernetes = append(w.kubernetes, host())
		find[*coordinationv1.Lease](w, "berth-controller-manager").Spec.HolderIdentity = ptr.To("host-1_1")
	}},
	"a host that cannot be read": {want: "lease-holder", wantText: "node", plant: func(_ *testing.T, w *world) {
		find[*coordinationv1.Lease](w, "berth-controller-manager").Spec.HolderIdentity = ptr.To("host-1_1")
		find[*corev1.Pod](w, "berth-controller-manager-0").Spec.HostNetwork = true
	}},
	"a clock that is ahead": {want: "lease-clock", result: "warning", wantText: "ahead", plant: func(_ *testing.T, w *world) {
		l := find[*coordinationv1.Lease](w, "berth-controller-manager")
		l.Spec.RenewTime.Time = l.Spec.RenewTime.Add(time.Hour)
	}},
	"a certificate that has run out": {want: "certificates", wantText: "invalid since", plant: func(t *testing.T, w *world) {
		t.Helper()
		mountCertificate(w, certificate(t, time.Now().Add(-time.Hour)))
	}},
	"a certificate that will run out": {want: "certificates", result: "warning", wantText: "only", plant: func(t *testing.T, w *world) {
		t.Helper()
		mountCertificate(w, certificate(t, time.Now().Add(24*time.Hour)))
	}},
	"a certificate that is none": {want: "certificates", wantText: "no certificate in tls.crt", plant: func(_ *testing.T, w *world) {
		mountCertificate(w, []byte("x"))
	}},
	"no flow schema": {want: "flow-schema", wantText: "no FlowSchema", plant: func(_ *testing.T, w *world) {
		remove[*flowcontrolv1.FlowSchema](w, "")
	}},
	"a flow schema for another level": {want: "flow-schema", wantText: "global-default", plant: func(_ *testing.T, w *world) {
		find[*flowcontrolv1.FlowSchema](w, "berth-leader-election").Spec.PriorityLevelConfiguration.Name = "global-default"
	}},
	"a flow schema without effect": {want: "flow-schema", wantText: "has no effect", plant: func(_ *testing.T, w *world) {
		find[*flowcontrolv1.FlowSchema](w, "berth-leader-election").Status.Conditions =
			[]flowcontrolv1.FlowSchemaCondition{{Type: "Dangling", Status: "True", Message: "no such level"}}
	}},
	"an admission policy that is missing": {want: "admission-policies", wantText: "berth-stamps", plant: func(_ *testing.T, w *world) {
		remove[*admissionv1.ValidatingAdmissionPolicy](w, "berth-stamps")
	}},
	"an admission policy that only warns": {want: "admission-bindings", wantText: "berth-stamps", plant: func(_ *testing.T, w *world) {
		find[*admissionv1.ValidatingAdmissionPolicyBinding](w, "berth-stamps").Spec.ValidationActions =
			[]admissionv1.ValidationAction{admissionv1.Warn}
	}},
	"an admission policy that does not fit": {want: "admission-types", result: "warning", wantText: "no such field", plant: func(_ *testing.T, w *world) {
		find[*admissionv1.ValidatingAdmissionPolicy](w, "berth-stamps").Status.TypeChecking = &admissionv1.TypeChecking{
			ExpressionWarnings: []admissionv1.ExpressionWarning{{FieldRef: "spec.validations[0]", Warning: "no such field"}},
		}
	}},
	"injection without a binding": {want: "injection", wantText: "no binding", plant: func(_ *testing.T, w *world) {
		inject(w, "v1", "berth-scheduler", false)
	}},
	"injection without a binding, as a beta": {want: "injection", wantText: "no binding", plant: func(_ *testing.T, w *world) {
		inject(w, "v1beta1", "berth-scheduler", false)
	}},
	"injection of a scheduler that does not run": {want: "injection-scheduler", wantText: "does not serve", plant: func(_ *testing.T, w *world) {
		inject(w, "v1", "brth-scheduler", true)
	}},
	"injection of a scheduler that does not run, as a beta": {want: "injection-scheduler", wantText: "does not serve", plant: func(_ *testing.T, w *world) {
		inject(w, "v1beta1", "brth-scheduler", true)
	}},
	"two Clusters with one node": {want: "clusters-overlap", wantText: "Cluster beijing", plant: func(_ *testing.T, w *world) {
		set(find[*berthv1alpha1.Cluster](w, "beijing").Status.Conditions, "Conflicted", "True")
	}},
	"a Cluster without nodes": {want: "clusters-empty", result: "warning", wantText: "Cluster beijing", plant: func(_ *testing.T, w *world) {
		set(find[*berthv1alpha1.Cluster](w, "beijing").Status.Conditions, "Ready", "False")
	}},
	"a policy that is not accepted": {want: "objects-accepted", wantText: "PropagationPolicy shop/web", plant: func(_ *testing.T, w *world) {
		set(find[*berthv1alpha1.PropagationPolicy](w, "web").Status.Conditions, "Accepted", "False")
	}},
	"a parser that is not accepted": {want: "objects-accepted", wantText: "FeedParser gadgets", plant: func(_ *testing.T, w *world) {
		set(find[*berthv1alpha1.FeedParser](w, "gadgets").Status.Conditions, "Accepted", "False")
	}},
	"a policy of all namespaces that is not accepted": {want: "objects-accepted", wantText: "ClusterPropagationPolicy everywhere", plant: func(_ *testing.T, w *world) {
		set(find[*berthv1alpha1.ClusterPropagationPolicy](w, "everywhere").Status.Conditions, "Accepted", "False")
	}},
	"policies in conflict": {want: "objects-conflicted", wantText: "PropagationPolicy shop/web", plant: func(_ *testing.T, w *world) {
		set(find[*berthv1alpha1.PropagationPolicy](w, "web").Status.Conditions, "Conflicted", "True")
	}},
	"a ClusterResource that cannot be used": {want: "resources-valid", wantText: "ClusterResource licences", plant: func(_ *testing.T, w *world) {
		set(find[*berthv1alpha1.ClusterResource](w, "licences").Status.Conditions, "Ready", "False")
	}},
	"a Scheduler without a process": {want: "schedulers", wantText: "Scheduler a", plant: func(_ *testing.T, w *world) {
		s := &berthv1alpha1.Scheduler{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
		s.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "NoLease"}}
		w.berth = append(w.berth, s)
	}},
	"a pod of a scheduler that does not exist": {want: "pods-scheduler", wantText: "no scheduler berth-schedular", plant: func(_ *testing.T, w *world) {
		w.kubernetes = append(w.kubernetes, waiting("berth-schedular"))
	}},
	"a pod of a gang": {want: "pods-gang", wantText: "shop/web-0", plant: func(_ *testing.T, w *world) {
		p := waiting("berth-scheduler")
		p.Labels = map[string]string{"scheduling.x-k8s.io/pod-group": "web"}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse}}
		w.kubernetes = append(w.kubernetes, p)
	}},
	"a pod of a gang for a build without": {want: "pods-gang", wantText: "1.37 has no gang scheduling, so these wait: shop/web-0", plant: func(_ *testing.T, w *world) {
		w.version.Minor, w.version.GitVersion = "37", "v1.37.1"
		compile(w, "v0.1.0-kubernetes-1.37", "berth-scheduler", "berth-controller-manager")
		config := find[*corev1.ConfigMap](w, "scheduler-config")
		config.Data["scheduler-config.yaml"] += "# Enabled:\n# - name: Coscheduling\n"
		p := waiting("berth-scheduler")
		p.Labels = map[string]string{"scheduling.x-k8s.io/pod-group": "web"}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse}}
		w.kubernetes = append(w.kubernetes, p)
	}},
	"pods that cannot be read": {want: "own-pods-placed", wantText: "on fire", plant: func(_ *testing.T, w *world) {
		w.react = func(client *fake.Clientset) {
			client.PrependReactor("list", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
				if action.GetNamespace() != system {
					return false, nil, nil
				}
				return true, nil, errors.New("the API server is on fire")
			})
		}
	}},
}

func TestAHealthyInstallationHasNothingWrong(t *testing.T) {
	for name, change := range map[string]func(*world){
		"as shipped": func(*world) {},
		"no gateway": func(w *world) {
			remove[*appsv1.Deployment](w, "berth-gateway")
			remove[*corev1.Pod](w, "berth-gateway-0")
		},
		"programs apart": func(w *world) { remove[*appsv1.Deployment](w, ""); remove[*corev1.Pod](w, "") },
		"with the network of the node": func(w *world) {
			w.kubernetes = append(w.kubernetes, host())
			find[*corev1.Pod](w, "berth-controller-manager-0").Spec.HostNetwork = true
			find[*coordinationv1.Lease](w, "berth-controller-manager").Spec.HolderIdentity = ptr.To("host-1_1")
		},
		"with injection":                   func(w *world) { inject(w, "v1", "berth-scheduler", true) },
		"instead of the default scheduler": standIn,
		"another waiting":                  func(w *world) { w.kubernetes = append(w.kubernetes, young("other-scheduler")) },
		"named Schedulers": func(w *world) {
			find[*appsv1.Deployment](w, "berth-scheduler").Spec.Replicas = ptr.To[int32](0)
			remove[*coordinationv1.Lease](w, "berth-scheduler")
			named := deployment("berth-scheduler-a")
			named.Spec.Template.Spec.ServiceAccountName = "berth-scheduler"
			w.kubernetes = append(w.kubernetes, named)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := healthy(t)
			change(w)
			results, text, code := run(t, w)
			if len(results) > 0 || code != 0 {
				t.Errorf("found %v (exit status %d): %s", results, code, text)
			}
		})
	}
}

// host is the node that the pods of the world are on.
func host() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", Labels: map[string]string{corev1.LabelHostname: "host-1"}}}
}

// young returns a pod that its scheduler may not have seen yet.
func young(scheduler string) *corev1.Pod {
	p := waiting(scheduler)
	p.CreationTimestamp = metav1.Now()
	return p
}

func TestEachFaultIsNamedAndNothingElse(t *testing.T) {
	for name, tc := range faults {
		t.Run(name, func(t *testing.T) {
			w := healthy(t)
			tc.plant(t, w)
			want, wantCode := tc.result, 0
			if want == "" {
				want, wantCode = "error", 1
			}
			results, text, code := run(t, w)
			if diff := cmp.Diff(map[string]string{tc.want: want}, results); diff != "" {
				t.Errorf("the findings differ (-want +got):\n%s%s", diff, text)
			}
			if !strings.Contains(text, tc.wantText) || code != wantCode {
				t.Errorf("exit status %d, findings %q, want %d and %q", code, text, wantCode, tc.wantText)
			}
		})
	}
}

func TestBeforeInstalling(t *testing.T) {
	allow := func(allowed func(resource string) bool) func(*fake.Clientset) {
		return func(client *fake.Clientset) {
			client.PrependReactor("create", "selfsubjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
				review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview)
				review.Status.Allowed = allowed(review.Spec.ResourceAttributes.Resource)
				return true, review, nil
			})
		}
	}
	stock := func(renewed time.Time) *coordinationv1.Lease {
		l := lease("kube-scheduler")
		l.Namespace, l.Spec.RenewTime.Time = "kube-system", renewed
		return l
	}
	empty := func(t *testing.T) *world {
		t.Helper()
		w := healthy(t)
		w.kubernetes, w.berth, w.kinds = []runtime.Object{stock(time.Now())}, nil, nil
		w.served = map[string][]string{"admissionregistration.k8s.io/v1": {"mutatingadmissionpolicies"}}
		w.react = allow(func(string) bool { return true })
		return w
	}
	for name, tc := range map[string]fault{
		"all is well": {plant: func(*testing.T, *world) {}},
		"no right to define kinds": {want: "pre-rights", wantText: "you may not create customresourcedefinitions", plant: func(_ *testing.T, w *world) {
			w.react = allow(func(resource string) bool { return resource != "customresourcedefinitions" })
		}},
		"too old":                {want: "kubernetes-version", plant: func(_ *testing.T, w *world) { w.version.Minor = "30" }},
		"as new as can be":       {plant: func(_ *testing.T, w *world) { w.version.Minor = "37" }},
		"too new":                {want: "kubernetes-version", wantText: "1.35 to 1.37", plant: func(_ *testing.T, w *world) { w.version.Minor = "38" }},
		"a version that is none": {want: "kubernetes-version", wantText: "which is none", plant: func(_ *testing.T, w *world) { w.version.Minor = "x" }},
		"installed already": {want: "pre-installed", result: "warning", plant: func(_ *testing.T, w *world) {
			w.kubernetes = append(w.kubernetes, deployment("berth-scheduler"))
		}},
		"no injection": {want: "pre-injection", result: "warning", wantText: "v1beta1", plant: func(_ *testing.T, w *world) { w.served = nil }},
		"no default scheduler": {want: "pre-default-scheduler", result: "warning", wantText: "has run out", plant: func(_ *testing.T, w *world) {
			w.kubernetes = []runtime.Object{stock(time.Now().Add(-time.Hour))}
		}},
		"never a default scheduler": {want: "pre-default-scheduler", result: "warning", wantText: "nobody has", plant: func(_ *testing.T, w *world) {
			w.kubernetes = nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := empty(t)
			tc.plant(t, w)
			want := map[string]string{}
			wantCode := 0
			switch {
			case tc.result != "":
				want[tc.want] = tc.result
			case tc.want != "":
				want[tc.want], wantCode = "error", 1
			}
			results, text, code := run(t, w, "--pre")
			if diff := cmp.Diff(want, results); diff != "" || code != wantCode || !strings.Contains(text, tc.wantText) {
				t.Errorf("exit status %d, the findings differ (-want +got):\n%s%s", code, diff, text)
			}
		})
	}
}

func TestAnAPIServerThatDoesNotAnswerEndsEverything(t *testing.T) {
	w := healthy(t)
	w.react = refuse("get", "version")
	result := clitest.Run(t.Context(), w.options(), "check", "-o", "short")
	if want := "× the API server answers (api-reachable)\n    asking the API server for its version: the API server is on fire"; result.Code != 1 ||
		!strings.Contains(result.Out, want) || strings.Contains(result.Out, "(definitions)") {
		t.Errorf("exit status %d:\n%s\nwant\n%s", result.Code, result.Out, want)
	}
}

func TestForms(t *testing.T) {
	w := healthy(t)
	find[*appsv1.Deployment](w, "berth-gateway").Status.AvailableReplicas = 0
	const wrong = "× all programs have the replicas that they should have (available)\n" +
		"    the Deployment berth-gateway has 0 of 1 replicas available\n    see docs/reference/checks.md#available\n"
	brief := clitest.Run(t.Context(), w.options(), "check", "-o", "short")
	if want := "programs\n--------\n" + wrong + "\nStatus check results are ×\n"; brief.Out != want || brief.Code != 1 {
		t.Errorf("exit status %d:\n%s\nwant\n%s", brief.Code, brief.Out, want)
	}
	full := clitest.Run(t.Context(), w.options(), "check")
	if !strings.HasPrefix(full.Out, "kubernetes\n----------\n√ the API server answers (api-reachable)\n") || !strings.Contains(full.Out, wrong) {
		t.Errorf("output\n%s", full.Out)
	}
	sound := clitest.Run(t.Context(), healthy(t).options(), "check", "-o", "short")
	sound.CheckOutput(t, "Status check results are √\n")
	clitest.Run(t.Context(), w.options(), "check", "--wait-duration", "-1s").CheckFailed(t, "--wait-duration")
	clitest.Run(t.Context(), w.options(), "check", "-o", "yaml").CheckFailed(t, "unknown output format")
}

func TestWaitTriesAgain(t *testing.T) {
	w := healthy(t)
	asked := 0
	w.react = func(client *fake.Clientset) {
		client.PrependReactor("list", "flowschemas", func(clienttesting.Action) (bool, runtime.Object, error) {
			if asked++; asked == 1 {
				return true, &flowcontrolv1.FlowSchemaList{}, nil
			}
			return false, nil, nil
		})
	}
	clitest.Run(t.Context(), w.options(), "check", "--wait", "-o", "short").CheckOutput(t, "Status check results are √\n")
	w = healthy(t)
	remove[*flowcontrolv1.FlowSchema](w, "")
	if result := clitest.Run(t.Context(), w.options(), "check", "--wait", "--wait-duration", "1ms"); result.Code != 1 {
		t.Errorf("exit status %d after the time is over, want 1", result.Code)
	}
}

func TestEachCheckIsExplained(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", "checks.md"))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, args := range [][]string{{"check", "-o", "json"}, {"check", "--pre", "-o", "json"}} {
		var read found
		if err := json.Unmarshal([]byte(clitest.Run(t.Context(), healthy(t).options(), args...).Out), &read); err != nil {
			t.Fatal(err)
		}
		for _, category := range read.Categories {
			for _, c := range category.Checks {
				ids[c.ID] = true
			}
		}
	}
	for id := range ids {
		if !strings.Contains(string(content), "\n### "+id+"\n") {
			t.Errorf("docs/reference/checks.md does not explain %s", id)
		}
	}
	for line := range strings.Lines(string(content)) {
		if id, is := strings.CutPrefix(strings.TrimSpace(line), "### "); is && !ids[id] {
			t.Errorf("docs/reference/checks.md explains %s, which is no check", id)
		}
	}
}
