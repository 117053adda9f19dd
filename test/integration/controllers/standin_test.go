// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/apportion"
	"berth.dev/berth/pkg/placement/grouping"
	"berth.dev/berth/pkg/placement/policymatch"
)

// schedulerName is what pods ask for.
const schedulerName = "berth-scheduler"

// standIn binds pods to the clusters that are short of their share, with the stamps that the
// scheduler would write. It looks only at nodes named CLUSTER-N and has no opinion on resources.
type standIn struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu   sync.Mutex
	held map[string]bool
	next int
}

func startStandIn() *standIn {
	ctx, cancel := context.WithCancel(context.Background())
	s := &standIn{cancel: cancel, done: make(chan struct{}), held: map[string]bool{}}
	go func() {
		defer GinkgoRecover()
		defer close(s.done)
		for ctx.Err() == nil {
			s.round(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(poll):
			}
		}
	}()
	return s
}

func (s *standIn) stop() {
	s.cancel()
	<-s.done
}

// hold keeps the pods of a namespace from being bound, until release.
func (s *standIn) hold(namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[namespace] = true
}

func (s *standIn) release(namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, namespace)
}

func (s *standIn) holds(namespace string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[namespace]
}

// round binds each pod that waits, if it can. What fails is tried again in the next round.
func (s *standIn) round(ctx context.Context) {
	waiting, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("spec.nodeName", "").String(),
	})
	if err != nil {
		return
	}
	for i := range waiting.Items {
		pod := &waiting.Items[i]
		if pod.Spec.SchedulerName == schedulerName && pod.DeletionTimestamp == nil && !s.holds(pod.Namespace) {
			if err := s.place(ctx, pod); err != nil && ctx.Err() == nil {
				fmt.Fprintf(GinkgoWriter, "stand-in: pod %s/%s waits: %v\n", pod.Namespace, pod.Name, err)
			}
		}
	}
}

func (s *standIn) place(ctx context.Context, pod *corev1.Pod) error {
	owner, err := workload.Of(pod, live{ctx: ctx})
	if err != nil {
		return err
	}
	policy, err := policyOf(ctx, pod, &owner)
	if err != nil {
		return err
	}
	sites, err := sitesOf(ctx)
	if err != nil {
		return err
	}
	compiled := modelpolicy.Compile(policy, sites)
	if compiled.Err != nil {
		return compiled.Err
	}
	choices, err := seatsFor(ctx, pod, &owner, policy.Name, compiled.Order)
	if err != nil {
		return err
	}
	for _, given := range choices {
		var node string
		if node, err = s.nodeIn(ctx, given.Cluster); err == nil {
			return bind(ctx, pod, node, given)
		}
	}
	return err
}

// sitesOf returns the Clusters that there are.
func sitesOf(ctx context.Context) (*grouping.Sites, error) {
	list, err := berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	clusters := make([]*berthv1alpha1.Cluster, len(list.Items))
	for i := range list.Items {
		clusters[i] = &list.Items[i]
	}
	return grouping.NewSites(clusters, nil), nil
}

func policyOf(ctx context.Context, pod *corev1.Pod, w *workload.Workload) (*berthv1alpha1.PropagationPolicy, error) {
	list, err := berth.BerthV1alpha1().PropagationPolicies(pod.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	policies := make([]*berthv1alpha1.PropagationPolicy, len(list.Items))
	for i := range list.Items {
		policies[i] = &list.Items[i]
	}
	policy, _, err := policymatch.NewIndex(policies).Match(&policymatch.Workload{
		APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name, Labels: w.Labels,
	}, pod.Annotations[berthv1alpha1.PolicyAnnotation])
	if policy == nil && err == nil {
		err = fmt.Errorf("no policy for %s %s", w.Kind, w.Name)
	}
	return policy, err
}

// seatsFor returns the stamps that a pod may get, the best first: that of the owner of its ordinal,
// or those of the clusters below their share, with the one that is furthest below first.
func seatsFor(
	ctx context.Context, pod *corev1.Pod, w *workload.Workload, policy string, order *apportion.Order,
) ([]stamp.Stamp, error) {
	if ordinal, fixed := workload.Ordinal(pod, 0); fixed {
		owner, ok := order.Plan(int64(ordinal) + 1).Owner(int64(ordinal))
		if !ok {
			return nil, fmt.Errorf("seat %d has no owner", ordinal)
		}
		return []stamp.Stamp{{Policy: policy, Cluster: order.Name(owner), Seat: ordinal}}, nil
	}
	held, err := heldBySiblings(ctx, pod, order)
	if err != nil {
		return nil, err
	}
	plan := order.Plan(int64(max(w.Replicas, 1)))
	free := map[string]int{}
	var choices []stamp.Stamp
	for c := range order.Len() {
		if seat, ok := plan.FirstFreeOf(c, held[c]); ok {
			choices = append(choices, stamp.Stamp{Policy: policy, Cluster: order.Name(c), Seat: int32(seat)})
			free[order.Name(c)] = plan.Free(c, held[c])
		}
	}
	if len(choices) == 0 {
		return nil, errors.New("no cluster has a free seat")
	}
	slices.SortStableFunc(choices, func(a, b stamp.Stamp) int { return free[b.Cluster] - free[a.Cluster] })
	return choices, nil
}

// heldBySiblings counts the pods of the same revision by cluster.
func heldBySiblings(ctx context.Context, pod *corev1.Pod, order *apportion.Order) ([]*apportion.Held, error) {
	siblings, err := client.CoreV1().Pods(pod.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	held := make([]*apportion.Held, order.Len())
	for c := range held {
		held[c] = &apportion.Held{}
	}
	revision, _ := workload.RevisionOf(pod)
	for i := range siblings.Items {
		other := &siblings.Items[i]
		theirs, _ := workload.RevisionOf(other)
		if other.Spec.NodeName == "" || other.DeletionTimestamp != nil || theirs != revision {
			continue
		}
		seat := int32(stamp.NoSeat)
		if given, stamped := stamp.Of(other); stamped {
			seat = given.Seat
		}
		if c, named := order.Index(clusterOfNode(other.Spec.NodeName)); named {
			held[c].Add(int64(seat))
		}
	}
	return held, nil
}

// nodeIn returns a node of the cluster that takes pods, another one each time.
func (s *standIn) nodeIn(ctx context.Context, cluster string) (string, error) {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: clusterLabel + "=" + cluster})
	if err != nil {
		return "", err
	}
	s.next++
	for i := range nodes.Items {
		node := &nodes.Items[(s.next+i)%len(nodes.Items)]
		if !node.Spec.Unschedulable {
			return node.Name, nil
		}
	}
	return "", fmt.Errorf("cluster %s has no node that takes pods", cluster)
}

// bind binds a pod as the scheduler does.
func bind(ctx context.Context, pod *corev1.Pod, node string, given stamp.Stamp) error {
	return client.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Annotations: given.Annotations(pod, node),
		},
		Target: corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
}

// live finds owners by asking the API server.
type live struct {
	workload.NotRead

	ctx context.Context //nolint:containedctx // one call each
}

func (l live) Owner(kind *workload.Kind, namespace, name string) (metav1.Object, error) {
	options := metav1.GetOptions{}
	switch kind.Kind {
	case "Deployment":
		return client.AppsV1().Deployments(namespace).Get(l.ctx, name, options)
	case "ReplicaSet":
		return client.AppsV1().ReplicaSets(namespace).Get(l.ctx, name, options)
	case "StatefulSet":
		return client.AppsV1().StatefulSets(namespace).Get(l.ctx, name, options)
	case "Job":
		return client.BatchV1().Jobs(namespace).Get(l.ctx, name, options)
	case "CronJob":
		return client.BatchV1().CronJobs(namespace).Get(l.ctx, name, options)
	default:
		return client.CoreV1().ReplicationControllers(namespace).Get(l.ctx, name, options)
	}
}
