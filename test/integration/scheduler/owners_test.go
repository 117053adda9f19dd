// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"fmt"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// seatOwners are the clusters of the first ten seats with the weights 2:3.
var seatOwners = []string{
	"hangzhou", "beijing", "hangzhou", "beijing", "hangzhou", "hangzhou", "beijing", "hangzhou", "beijing", "hangzhou",
}

func (s *site) statefulSet(name string, replicas int32) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Template: template(name),
		},
	}
}

func (s *site) createStatefulSet(ctx context.Context, set *appsv1.StatefulSet) {
	GinkgoHelper()
	_, err := client.AppsV1().StatefulSets(s.namespace).Create(ctx, set, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func (s *site) scaleStatefulSet(ctx context.Context, name string, replicas int) {
	GinkgoHelper()
	_, err := client.AppsV1().StatefulSets(s.namespace).Patch(ctx, name, strategicMerge,
		fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// expectOrdinals waits until the pods NAME-0 to NAME-(n-1), and no others, run each in the cluster
// that owns its seat.
func (s *site) expectOrdinals(ctx context.Context, name string, n int) {
	GinkgoHelper()
	want := map[string]string{}
	for i := range n {
		want[name+"-"+strconv.Itoa(i)] = fmt.Sprintf("seat %d in %s, Running", i, seatOwners[i])
	}
	Eventually(func() map[string]string {
		got := map[string]string{}
		for _, pod := range s.pods(ctx, name) {
			got[pod.Name] = fmt.Sprintf("seat %s in %s, %s",
				pod.Annotations[berthv1alpha1.SeatAnnotation], s.place(&pod), pod.Status.Phase)
		}
		return got
	}, timeout, poll).Should(Equal(want))
}

// placed counts the bound pods of an app by cluster, finished ones too, and the others under
// "waiting".
func (s *site) placed(ctx context.Context, app string) map[string]int {
	GinkgoHelper()
	placed := map[string]int{}
	for _, pod := range s.pods(ctx, app) {
		if pod.Spec.NodeName == "" {
			placed["waiting"]++
			continue
		}
		placed[s.place(&pod)]++
	}
	return placed
}

func (s *site) job(name string, completions, parallelism int32) *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: batchv1.JobSpec{
			Completions: &completions, Parallelism: &parallelism, Template: template(name),
		},
	}
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	return job
}

// endless makes the pods of a job run for longer than any spec.
func endless(job *batchv1.Job) *batchv1.Job {
	job.Spec.Template.Annotations = map[string]string{"pod-complete.stage.kwok.x-k8s.io/delay": "1h"}
	return job
}

func (s *site) createJob(ctx context.Context, job *batchv1.Job) {
	GinkgoHelper()
	_, err := client.BatchV1().Jobs(s.namespace).Create(ctx, job, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func (s *site) createReplicationController(ctx context.Context, name string, replicas int32) {
	GinkgoHelper()
	_, err := client.CoreV1().ReplicationControllers(s.namespace).Create(ctx, &corev1.ReplicationController{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.ReplicationControllerSpec{
			Replicas: &replicas, Selector: map[string]string{"app": name}, Template: ptr.To(template(name)),
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// pod returns a pod without an owner.
func (s *site) pod(app string, i int) *corev1.Pod {
	t := template(app)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: app + "-" + strconv.Itoa(i), Labels: t.Labels},
		Spec:       t.Spec,
	}
}

func (s *site) createPod(ctx context.Context, pod *corev1.Pod) *corev1.Pod {
	GinkgoHelper()
	created, err := client.CoreV1().Pods(s.namespace).Create(ctx, pod, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return created
}

// createForeignOwner makes an object of a kind that Berth does not read, and returns the reference
// by which it owns pods.
func (s *site) createForeignOwner(ctx context.Context, name string) metav1.OwnerReference {
	GinkgoHelper()
	owner, err := client.CoordinationV1().Leases(s.namespace).Create(ctx,
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return metav1.OwnerReference{
		APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Name: name, UID: owner.UID, Controller: ptr.To(true),
	}
}

var _ = Describe("the pods of", func() {
	var s *site

	BeforeEach(func(ctx SpecContext) {
		s = newSiteWith(ctx, "beijing", "hangzhou")
	})

	It("a StatefulSet run where their ordinals belong, at every size", func(ctx SpecContext) {
		s.createPolicy(ctx, s.policy("web", "StatefulSet", twoToThree()...))
		s.createStatefulSet(ctx, s.statefulSet("web", 5))
		s.expectOrdinals(ctx, "web", 5)
		s.scaleStatefulSet(ctx, "web", 2)
		s.expectOrdinals(ctx, "web", 2)
		s.scaleStatefulSet(ctx, "web", 10)
		s.expectOrdinals(ctx, "web", 10)

		By("deleting pods, which come back to where they were")
		for _, name := range []string{"web-1", "web-4"} {
			old, err := client.CoreV1().Pods(s.namespace).Get(ctx, name, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(client.CoreV1().Pods(s.namespace).Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
			Eventually(func(g Gomega) {
				pod, err := client.CoreV1().Pods(s.namespace).Get(ctx, name, metav1.GetOptions{})
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(pod.UID).NotTo(Equal(old.UID))
			}, timeout, poll).Should(Succeed())
		}
		s.expectOrdinals(ctx, "web", 10)
	})

	It("a StatefulSet that starts one by one and counts from 7 run where their places belong", func(ctx SpecContext) {
		s.createPolicy(ctx, s.policy("web", "StatefulSet", twoToThree()...))
		set := s.statefulSet("web", 4)
		set.Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement
		set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 7}
		s.createStatefulSet(ctx, set)
		s.expectShares(ctx, "web", map[string]int{"beijing": 2, "hangzhou": 2})
		for _, pod := range s.pods(ctx, "web") {
			seat, err := strconv.Atoi(pod.Annotations[berthv1alpha1.SeatAnnotation])
			Expect(err).NotTo(HaveOccurred())
			Expect(pod.Name).To(Equal("web-" + strconv.Itoa(seat+7)))
			Expect(s.place(&pod)).To(Equal(seatOwners[seat]), pod.Name)
		}
	})

	It("an Indexed Job run where their indexes belong", func(ctx SpecContext) {
		s.createPolicy(ctx, s.policy("batch", "Job", twoToThree()...))
		job := s.job("batch", 10, 3)
		job.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
		s.createJob(ctx, job)
		Eventually(s.placed).WithContext(ctx).WithArguments("batch").WithTimeout(timeout).WithPolling(poll).
			Should(Equal(map[string]int{"beijing": 4, "hangzhou": 6}))
		for _, pod := range s.pods(ctx, "batch") {
			index, err := strconv.Atoi(pod.Labels[batchv1.JobCompletionIndexAnnotation])
			Expect(err).NotTo(HaveOccurred())
			Expect(s.place(&pod)).To(Equal(seatOwners[index]), pod.Name)
			Expect(pod.Annotations).To(HaveKeyWithValue(berthv1alpha1.SeatAnnotation, strconv.Itoa(index)))
		}
	})

	It("a Job that run at the same time have the shares of its parallelism", func(ctx SpecContext) {
		s.createPolicy(ctx, s.policy("batch", "Job", twoToThree()...))
		s.createJob(ctx, endless(s.job("batch", 20, 5)))
		s.expectShares(ctx, "batch", map[string]int{"beijing": 2, "hangzhou": 3})
		_, err := client.BatchV1().Jobs(s.namespace).Patch(ctx, "batch", strategicMerge,
			[]byte(`{"spec":{"parallelism":10}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		s.expectShares(ctx, "batch", map[string]int{"beijing": 4, "hangzhou": 6})
	})

	It("a Job that complete make room for the next", func(ctx SpecContext) {
		s.createPolicy(ctx, s.policy("batch", "Job", twoToThree()...))
		s.createJob(ctx, s.job("batch", 12, 3))
		Eventually(func(g Gomega) {
			job, err := client.BatchV1().Jobs(s.namespace).Get(ctx, "batch", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(job.Status.Succeeded).To(BeEquivalentTo(12))
		}, timeout, poll).Should(Succeed())
		Expect(s.placed(ctx, "batch")).To(And(HaveLen(2), HaveKey("beijing"), HaveKey("hangzhou")))
	})

	It("a ReplicationController have its shares", func(ctx SpecContext) {
		s.createPolicy(ctx, s.policy("old", "ReplicationController", twoToThree()...))
		s.createReplicationController(ctx, "old", 10)
		s.expectShares(ctx, "old", map[string]int{"beijing": 4, "hangzhou": 6})
		_, err := client.CoreV1().ReplicationControllers(s.namespace).Patch(ctx, "old", strategicMerge,
			[]byte(`{"spec":{"replicas":4}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		s.expectShares(ctx, "old", map[string]int{"beijing": 2, "hangzhou": 2})
		Expect(s.seats(ctx, "old", "old")).To(Equal(map[string][]int{"beijing": {1, 3}, "hangzhou": {0, 2}}))
	})

	It("a ReplicaSet of its own have its shares", func(ctx SpecContext) {
		s.createPolicy(ctx, s.policy("set", "ReplicaSet", twoToThree()...))
		_, err := client.AppsV1().ReplicaSets(s.namespace).Create(ctx, &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Name: "set"},
			Spec: appsv1.ReplicaSetSpec{
				Replicas: ptr.To[int32](5), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "set"}},
				Template: template("set"),
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		s.expectShares(ctx, "set", map[string]int{"beijing": 2, "hangzhou": 3})
	})

	It("nobody are placed by turn", func(ctx SpecContext) {
		s.createPolicy(ctx, s.policy("bare", "Pod", twoToThree()...))
		for i := range 10 {
			s.createPod(ctx, s.pod("bare", i))
		}
		s.expectShares(ctx, "bare", map[string]int{"beijing": 4, "hangzhou": 6})
		Expect(s.seats(ctx, "bare", "bare")).To(Equal(map[string][]int{"beijing": {1, 3, 6, 8}, "hangzhou": {0, 2, 4, 5, 7, 9}}))
	})

	It("an owner of a kind that Berth does not know are placed by turn, each owner's by themselves", func(ctx SpecContext) {
		s.createPolicy(ctx, s.policy("foreign", "Lease", twoToThree()...))
		for _, name := range []string{"one", "other"} {
			owner := s.createForeignOwner(ctx, name)
			for i := range 5 {
				pod := s.pod(name, i)
				pod.OwnerReferences = []metav1.OwnerReference{owner}
				s.createPod(ctx, pod)
			}
		}
		for _, name := range []string{"one", "other"} {
			s.expectShares(ctx, name, map[string]int{"beijing": 2, "hangzhou": 3})
			Expect(s.seats(ctx, name, "foreign")).To(Equal(map[string][]int{"beijing": {1, 3}, "hangzhou": {0, 2, 4}}))
		}
	})
})
