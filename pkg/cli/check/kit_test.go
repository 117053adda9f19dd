// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	admissionclient "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	"k8s.io/client-go/rest"
	restfake "k8s.io/client-go/rest/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/manifests"
	"berth.dev/berth/pkg/cli"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	berthfake "berth.dev/berth/pkg/generated/clientset/versioned/fake"
)

const system = "berth-system"

// world is a cluster in memory in which a test plants a fault.
type world struct {
	t                 *testing.T
	kubernetes, berth []runtime.Object
	version           version.Info
	kinds             []string
	// served are further API resources, by group and version.
	served map[string][]string
	react  func(*fake.Clientset)
	// raw are objects that are served without types, by the path of their list.
	raw map[string][]any
}

var kinds = []string{
	"applications", "clouds", "clusterpropagationpolicies", "clusterresources", "clusters", "feedinventories", "feedparsers",
	"globalclouds", "globalmetrics", "globalmetricsproviders", "magnumclusters", "metrics", "metricsproviders", "openstackprojects", "propagationpolicies",
	"schedulers", "subscriptions",
}

// healthy is a cluster in which Berth works.
func healthy(t *testing.T) *world {
	t.Helper()
	t.Setenv("KUBECONFIG", "/dev/null")
	w := &world{t: t, version: version.Info{Major: "1", Minor: "35", GitVersion: "v1.35.8"}, kinds: slices.Clone(kinds), raw: map[string][]any{}}
	w.addShipped()
	w.addDefinitions()
	w.kubernetes = append(w.kubernetes, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "scheduler-config"},
		Data:       map[string]string{"scheduler-config.yaml": string(manifests.SchedulerConfiguration)},
	})
	for _, name := range []string{"berth-scheduler", "berth-controller-manager", "berth-gateway"} {
		w.kubernetes = append(w.kubernetes, deployment(name), pod(name),
			&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: name}})
		if name != "berth-gateway" {
			w.kubernetes = append(w.kubernetes, lease(name))
		}
	}
	condition := func(kind, status string) []metav1.Condition {
		return []metav1.Condition{{Type: kind, Status: metav1.ConditionStatus(status), Reason: "Because", Message: "it is so"}}
	}
	cluster := &berthv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "beijing"}}
	cluster.Status.Conditions = append(condition("Ready", "True"), condition("Conflicted", "False")...)
	policy := &berthv1alpha1.PropagationPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	policy.Status.Conditions = append(condition("Accepted", "True"), condition("Conflicted", "False")...)
	wide := &berthv1alpha1.ClusterPropagationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "everywhere"}}
	wide.Status.Conditions = condition("Accepted", "True")
	parser := &berthv1alpha1.FeedParser{ObjectMeta: metav1.ObjectMeta{Name: "gadgets"}}
	parser.Status.Conditions = condition("Accepted", "True")
	resource := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "licences"}}
	resource.Status.Conditions = condition("Ready", "True")
	w.berth = append(w.berth, cluster, policy, wide, parser, resource)
	return w
}

// addShipped adds the roles, policies and flow schema of the base.
func (w *world) addShipped() {
	w.t.Helper()
	err := fs.WalkDir(manifests.Rules, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := manifests.Rules.ReadFile(path)
		if err != nil {
			return err
		}
		documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
		for {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) {
				return nil
			}
			object, _, err := scheme.Codecs.UniversalDeserializer().Decode(document, nil, nil)
			if err != nil {
				return err
			}
			w.kubernetes = append(w.kubernetes, object)
		}
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// definitionsPath is where definitions are listed.
const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// shippedDefinitions are the definitions of Berth's kinds.
var shippedDefinitions = sync.OnceValues(func() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	paths, err := fs.Glob(manifests.Definitions, "crds/*.yaml")
	var found []*apiextensionsv1.CustomResourceDefinition
	for _, path := range paths {
		content, readErr := manifests.Definitions.ReadFile(path)
		definition := &apiextensionsv1.CustomResourceDefinition{}
		err = errors.Join(err, readErr, yaml.Unmarshal(content, definition))
		found = append(found, definition)
	}
	return found, err
})

// addDefinitions adds the definitions of Berth's kinds.
func (w *world) addDefinitions() {
	w.t.Helper()
	found, err := shippedDefinitions()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, definition := range found {
		w.raw[definitionsPath] = append(w.raw[definitionsPath], definition.DeepCopy())
	}
}

// definition returns the schema of a kind, which a test may change.
func (w *world) definition(name string) *apiextensionsv1.JSONSchemaProps {
	w.t.Helper()
	for _, object := range w.raw[definitionsPath] {
		if d := object.(*apiextensionsv1.CustomResourceDefinition); d.Name == name {
			return d.Spec.Versions[0].Schema.OpenAPIV3Schema
		}
	}
	w.t.Fatalf("no definition %s", name)
	return nil
}

func deployment(name string) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: name}}
	d.Spec.Replicas = ptr.To[int32](1)
	d.Status.AvailableReplicas = 1
	d.Spec.Template.Spec.ServiceAccountName = name
	d.Spec.Template.Spec.Containers = []corev1.Container{{Image: "registry.example.com:5000/" + name + ":v0.1.0"}}
	if name == "berth-scheduler" {
		source := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "scheduler-config"}}
		d.Spec.Template.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{ConfigMap: source}}}
	}
	return d
}

func pod(program string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: system, Name: program + "-0", Labels: map[string]string{"app.kubernetes.io/name": program},
	}}
	p.Spec.NodeName = "node"
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main"}}
	return p
}

func lease(program string) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: program},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To(program + "-0_uid"), LeaseDurationSeconds: ptr.To[int32](600),
			RenewTime: ptr.To(metav1.NewMicroTime(time.Now().Add(-time.Second))),
		},
	}
}

// waiting returns a pod that no scheduler has looked at for an hour.
func waiting(scheduler string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web-0", CreationTimestamp: metav1.NewTime(time.Now().Add(-time.Hour)),
	}}
	p.Spec.SchedulerName = scheduler
	return p
}

// standIn has Berth run as the chart has it in the mode Instead.
func standIn(w *world) {
	d := find[*appsv1.Deployment](w, "berth-scheduler")
	d.Spec.Template.Spec.Containers[0].Args = []string{"--leader-elect-resource-name=kube-scheduler"}
	l := find[*coordinationv1.Lease](w, "berth-scheduler")
	l.Namespace, l.Name = "kube-system", "kube-scheduler"
	meta := metav1.ObjectMeta{Namespace: "kube-system", Name: "berth-scheduler-instead"}
	flow := find[*flowcontrolv1.FlowSchema](w, "berth-leader-election").DeepCopy()
	flow.Name += "-instead"
	w.kubernetes = append(w.kubernetes, flow,
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create"}},
			{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{"kube-scheduler"}, Verbs: []string{"get", "update"}},
		}},
		&rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: system, Name: "berth-scheduler"}},
		})
}

// find returns an object of the world, which a test may change.
func find[T runtime.Object](w *world, name string) T {
	w.t.Helper()
	for _, object := range slices.Concat(w.kubernetes, w.berth) {
		typed, ok := object.(T)
		if ok && any(object).(metav1.Object).GetName() == name {
			return typed
		}
	}
	w.t.Fatalf("no %T %s", *new(T), name)
	return *new(T)
}

// remove takes objects of a type away, those of a name if one is given.
func remove[T runtime.Object](w *world, name string) {
	w.t.Helper()
	before := len(w.kubernetes)
	w.kubernetes = slices.DeleteFunc(w.kubernetes, func(object runtime.Object) bool {
		_, ok := object.(T)
		return ok && (name == "" || any(object).(metav1.Object).GetName() == name)
	})
	if len(w.kubernetes) == before {
		w.t.Fatalf("no %T %s", *new(T), name)
	}
}

// set gives a condition another status.
func set(conditions []metav1.Condition, kind, status string) {
	for i := range conditions {
		if conditions[i].Type == kind {
			conditions[i].Status = metav1.ConditionStatus(status)
		}
	}
}

// options connects berthctl to the world.
func (w *world) options() cli.Options {
	client := fake.NewClientset(w.kubernetes...)
	client.Discovery().(*fakediscovery.FakeDiscovery).FakedServerVersion = &w.version
	if len(w.kinds) > 0 {
		client.Resources = append(client.Resources, resourceList(berthv1alpha1.SchemeGroupVersion.String(), w.kinds))
	}
	for groupVersion, names := range w.served {
		client.Resources = append(client.Resources, resourceList(groupVersion, names))
	}
	if w.react != nil {
		w.react(client)
	}
	berth := berthfake.NewSimpleClientset(w.berth...)
	berth.PrependReactor("list", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		served := slices.Contains(w.kinds, action.GetResource().Resource)
		return !served, nil, apierrors.NewNotFound(action.GetResource().GroupResource(), "")
	})
	return cli.Options{NewClients: func(genericclioptions.RESTClientGetter) (kubernetes.Interface, versioned.Interface, error) {
		return withREST{Interface: client, world: w}, berth, nil
	}}
}

// withREST answers what the fake clients cannot be asked: requests that are not typed.
type withREST struct {
	kubernetes.Interface
	world *world
}

type admissionREST struct {
	admissionclient.AdmissionregistrationV1Interface
	client rest.Interface
}

func (a admissionREST) RESTClient() rest.Interface { return a.client }

func (r withREST) AdmissionregistrationV1() admissionclient.AdmissionregistrationV1Interface {
	return admissionREST{r.Interface.AdmissionregistrationV1(), &restfake.RESTClient{
		NegotiatedSerializer: scheme.Codecs, Client: restfake.CreateHTTPClient(r.world.answer),
	}}
}

// answer lists those of the world's injections that are of the version asked for.
func (w *world) answer(request *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	answered := json.NewEncoder(answer).Encode(map[string]any{"items": w.raw[request.URL.Path]})
	return answer.Result(), answered
}

func resourceList(groupVersion string, names []string) *metav1.APIResourceList {
	found := &metav1.APIResourceList{GroupVersion: groupVersion}
	for _, name := range names {
		found.APIResources = append(found.APIResources, metav1.APIResource{Name: name})
	}
	return found
}
