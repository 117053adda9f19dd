// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build schedulerperf

package schedulerperf_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/test/utils/ktesting"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
)

const (
	namespace = "perf"
	siteLabel = "example.com/site"
	sites     = 100
	chosen    = 10

	// podsOfWorkload is how many pods the workloads create at most.
	podsOfWorkload = 2000

	crdTimeout = time.Minute
)

// prepare makes what the pods of a workload need: the nodes, the kinds of Berth, a Cluster for each
// site, a ClusterResource, two ReplicaSets, whose controllers do not run here, and the policy of
// one of them. Then the plugins may read them.
func (w *world) prepare(tCtx ktesting.TContext) error {
	w.mu.Lock()
	state := w.last
	w.last = nil
	w.mu.Unlock()
	if err := createNodes(tCtx); err != nil {
		return fmt.Errorf("creating nodes: %w", err)
	}
	if err := installCRDs(tCtx); err != nil {
		return fmt.Errorf("installing the CRDs: %w", err)
	}
	if err := createClusters(tCtx); err != nil {
		return fmt.Errorf("creating Clusters: %w", err)
	}
	if err := createUnits(tCtx); err != nil {
		return fmt.Errorf("creating a ClusterResource: %w", err)
	}
	if state != nil {
		go state.Run(tCtx)
	}
	go w.followNamespace(tCtx)
	return nil
}

// followNamespace makes the ReplicaSets and the policy once there is their namespace. Only
// scheduler_perf can make that: it fails if the namespace is there already. The workload waits a
// moment for this.
func (w *world) followNamespace(tCtx ktesting.TContext) {
	err := wait.PollUntilContextCancel(tCtx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		_, err := tCtx.Client().CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err == nil {
		err = createPolicy(tCtx)
	}
	if err == nil {
		err = w.createWorkload(tCtx, "web", "pod-owned.yaml")
	}
	if err == nil {
		err = w.createWorkload(tCtx, "other", "pod-other.yaml")
	}
	if err != nil && tCtx.Err() == nil {
		tCtx.Errorf("preparing the workload: %v", err)
	}
}

// berthClient returns a client of Berth's kinds, which have no protobuf form.
func berthClient(tCtx ktesting.TContext) (versioned.Interface, error) {
	config := rest.CopyConfig(tCtx.RESTConfig())
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	return versioned.NewForConfig(config)
}

func installCRDs(tCtx ktesting.TContext) error {
	paths, err := filepath.Glob(filepath.Join(root, "manifests", "crds", "*.yaml"))
	if err != nil {
		return err
	}
	client := tCtx.APIExtensions().ApiextensionsV1().CustomResourceDefinitions()
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(content, crd); err != nil {
			return fmt.Errorf("decoding %s: %w", path, err)
		}
		if _, err := client.Create(tCtx, crd, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	berth, err := berthClient(tCtx)
	if err != nil {
		return err
	}
	// A kind is served a moment after its definition has been accepted.
	return wait.PollUntilContextTimeout(tCtx, 50*time.Millisecond, crdTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
		if err == nil {
			_, err = berth.BerthV1alpha1().PropagationPolicies(namespace).List(ctx, metav1.ListOptions{})
		}
		if err == nil {
			_, err = berth.BerthV1alpha1().ClusterResources().List(ctx, metav1.ListOptions{})
		}
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// createWorkload makes a ReplicaSet, and a template of its pods.
func (w *world) createWorkload(tCtx ktesting.TContext, name, template string) error {
	labels := map[string]string{"app": name}
	set, err := tCtx.Client().AppsV1().ReplicaSets(namespace).Create(tCtx, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: ptr.To[int32](podsOfWorkload), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "pause", Image: "pause"}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	content, err := os.ReadFile("testdata/pod-owned.yaml")
	if err != nil {
		return err
	}
	filled := strings.NewReplacer("NAME", name, "OWNER", string(set.UID)).Replace(string(content))
	return os.WriteFile(filepath.Join(w.folder, template), []byte(filled), 0o600)
}

// createUnits makes a ClusterResource with a pool for each chosen site, which together have enough
// for all pods. Its controller, which would copy the capacity to the status, does not run here.
func createUnits(tCtx ktesting.TContext) error {
	berth, err := berthClient(tCtx)
	if err != nil {
		return err
	}
	units := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: "unit"}}
	for s := range chosen {
		site := fmt.Sprintf("site-%d", s*sites/chosen)
		units.Spec.Capacity = append(units.Spec.Capacity, berthv1alpha1.ClusterResourceQuantity{
			Name: site, Quantity: *resource.NewQuantity(2*podsOfWorkload/chosen, resource.DecimalSI),
			NodeSelector: map[string]string{siteLabel: site},
		})
	}
	made, err := berth.BerthV1alpha1().ClusterResources().Create(tCtx, units, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Status.Capacity, made.Status.Allocatable = units.Spec.Capacity, units.Spec.Capacity
	_, err = berth.BerthV1alpha1().ClusterResources().UpdateStatus(tCtx, made, metav1.UpdateOptions{})
	return err
}

// createClusters makes a Cluster for each site.
func createClusters(tCtx ktesting.TContext) error {
	berth, err := berthClient(tCtx)
	if err != nil {
		return err
	}
	for s := range sites {
		name := fmt.Sprintf("site-%d", s)
		_, err := berth.BerthV1alpha1().Clusters().Create(tCtx, &berthv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{siteLabel: name}},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
	}
	return nil
}

// createPolicy shares the pods out over ten of a hundred sites, two for every three in the next
// one.
func createPolicy(tCtx ktesting.TContext) error {
	berth, err := berthClient(tCtx)
	if err != nil {
		return err
	}
	policy := &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web"}},
		},
	}
	for s := range chosen {
		policy.Spec.Placement.StaticWeightList = append(policy.Spec.Placement.StaticWeightList, berthv1alpha1.StaticClusterWeight{
			ClusterNames: []string{fmt.Sprintf("site-%d", s*sites/chosen)}, Weight: int64(2 + s%2),
		})
	}
	_, err = berth.BerthV1alpha1().PropagationPolicies(namespace).Create(tCtx, policy, metav1.CreateOptions{})
	return err
}
