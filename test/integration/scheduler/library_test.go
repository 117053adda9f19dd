// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/pkg/model/workload"
)

// Kinds of operators, by the definitions in manifests/testdata/crds.
var (
	rollouts         = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "rollouts"}
	cloneSets        = schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1alpha1", Resource: "clonesets"}
	jobSets          = schema.GroupVersionResource{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"}
	leaderWorkerSets = schema.GroupVersionResource{Group: "leaderworkerset.x-k8s.io", Version: "v1", Resource: "leaderworkersets"}
	rayClusters      = schema.GroupVersionResource{Group: "ray.io", Version: "v1", Resource: "rayclusters"}
	rayJobs          = schema.GroupVersionResource{Group: "ray.io", Version: "v1", Resource: "rayjobs"}
)

var kindsOf = map[schema.GroupVersionResource]string{
	rollouts: "Rollout", cloneSets: "CloneSet", jobSets: "JobSet", leaderWorkerSets: "LeaderWorkerSet",
	rayClusters: "RayCluster", rayJobs: "RayJob",
}

// library reads and writes objects of a kind of an operator.
func (s *site) library(resource schema.GroupVersionResource) dynamic.ResourceInterface {
	GinkgoHelper()
	objects, err := dynamic.NewForConfig(plane.Config())
	Expect(err).NotTo(HaveOccurred())
	return objects.Resource(resource).Namespace(s.namespace)
}

// applied makes an object of a kind of an operator as a user does, or an operator for an owner, and
// returns the reference by which its operator makes others.
func (s *site) applied(
	ctx context.Context, resource schema.GroupVersionResource, name string, spec map[string]any, owners ...metav1.OwnerReference,
) metav1.OwnerReference {
	GinkgoHelper()
	gvk := resource.GroupVersion().WithKind(kindsOf[resource])
	object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}, "spec": spec}}
	object.SetGroupVersionKind(gvk)
	object.SetOwnerReferences(owners)
	created, err := s.library(resource).Create(ctx, object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	Expect(err).NotTo(HaveOccurred())
	return *metav1.NewControllerRef(created, gvk)
}

// patched changes the spec of an object of a kind of an operator.
func (s *site) patched(ctx context.Context, resource schema.GroupVersionResource, name, spec string) {
	GinkgoHelper()
	_, err := s.library(resource).Patch(ctx, name, types.MergePatchType, fmt.Appendf(nil, `{"spec":%s}`, spec), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// raw returns a pod template as the objects of operators have it.
func raw(app string) map[string]any {
	GinkgoHelper()
	text, err := json.Marshal(template(app))
	Expect(err).NotTo(HaveOccurred())
	object := map[string]any{}
	Expect(json.Unmarshal(text, &object)).To(Succeed())
	return object
}

// libraryPolicy is a policy of 2:3 on a kind of an operator.
func (s *site) libraryPolicy(ctx context.Context, resource schema.GroupVersionResource) {
	GinkgoHelper()
	policy := s.policy("library", kindsOf[resource], twoToThree()...)
	policy.Spec.ResourceSelectors[0].APIVersion = resource.GroupVersion().String()
	s.createPolicy(ctx, policy)
}

// shareOf is how many of so many replicas each cluster has under 2:3.
func shareOf(replicas int) map[string]int {
	shares := map[string]int{}
	for i := range replicas {
		shares[seatOwners[i]]++
	}
	return shares
}

// rolloutRevision makes or resizes the ReplicaSet of a revision, as the controller of Argo Rollouts
// does.
func (s *site) rolloutRevision(ctx context.Context, app, hash string, replicas int32, owner *metav1.OwnerReference) {
	GinkgoHelper()
	sets, name := client.AppsV1().ReplicaSets(s.namespace), app+"-"+hash
	if _, err := sets.Get(ctx, name, metav1.GetOptions{}); err == nil {
		_, err = sets.Patch(ctx, name, strategicMerge, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		return
	}
	labels := map[string]string{"app": app, "rollouts-pod-template-hash": hash}
	pods := template(app)
	pods.Labels = labels
	_, err := sets.Create(ctx, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, OwnerReferences: []metav1.OwnerReference{*owner}},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: pods},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// ofRevision selects the pods of an app that rolloutRevision has made of one revision.
func ofRevision(app, hash string) string { return app + ",rollouts-pod-template-hash=" + hash }

// ownedPods makes the pods from..to-1 of an object with labels, as CloneSets and RayClusters do.
func (s *site) ownedPods(ctx context.Context, app string, from, to int, owner *metav1.OwnerReference, labels map[string]string) {
	GinkgoHelper()
	for i := from; i < to; i++ {
		pod := s.pod(app, i)
		pod.OwnerReferences = []metav1.OwnerReference{*owner}
		maps.Copy(pod.Labels, labels)
		s.createPod(ctx, pod)
	}
}

// jobOfSet makes the Job with an index of a JobSet, as its controller does.
func (s *site) jobOfSet(ctx context.Context, set, replicated string, index int, pods int32, owner *metav1.OwnerReference) {
	GinkgoHelper()
	labels := map[string]string{
		"jobset.sigs.k8s.io/jobset-name": set, "jobset.sigs.k8s.io/replicatedjob-name": replicated,
		"jobset.sigs.k8s.io/job-index": strconv.Itoa(index),
	}
	job := endless(s.job(fmt.Sprintf("%s-%s-%d", set, replicated, index), pods, pods))
	job.Labels, job.OwnerReferences = labels, []metav1.OwnerReference{*owner}
	job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	job.Spec.Template.Labels = map[string]string{"app": set}
	maps.Copy(job.Spec.Template.Labels, labels)
	s.createJob(ctx, job)
}

// leaders makes or resizes the StatefulSet of the leaders of a LeaderWorkerSet, as its controller
// does.
func (s *site) leaders(ctx context.Context, app string, groups int32, owner *metav1.OwnerReference) {
	GinkgoHelper()
	if _, err := client.AppsV1().StatefulSets(s.namespace).Get(ctx, app, metav1.GetOptions{}); err == nil {
		s.scaleStatefulSet(ctx, app, int(groups))
		return
	}
	set := s.statefulSet(app, groups)
	set.OwnerReferences = []metav1.OwnerReference{*owner}
	set.Spec.Template.Labels["leaderworkerset.sigs.k8s.io/name"] = app
	set.Spec.Template.Labels["leaderworkerset.sigs.k8s.io/worker-index"] = "0"
	s.createStatefulSet(ctx, set)
}

// workers makes the workers of those leaders that have none, two of each, as the controller of
// LeaderWorkerSets does once it sees the pod of a leader.
func (s *site) workers(ctx context.Context, app string) {
	GinkgoHelper()
	for _, leader := range s.pods(ctx, app) {
		if _, err := client.AppsV1().StatefulSets(s.namespace).Get(ctx, leader.Name, metav1.GetOptions{}); err == nil {
			continue
		}
		set := s.statefulSet(leader.Name, 2)
		set.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(&leader, corev1.SchemeGroupVersion.WithKind("Pod"))}
		set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 1}
		set.Spec.Selector.MatchLabels = map[string]string{"set": leader.Name}
		set.Spec.Template.Labels = map[string]string{
			"app": app + "-workers", "set": leader.Name,
			"leaderworkerset.sigs.k8s.io/name":         app,
			"leaderworkerset.sigs.k8s.io/group-index":  leader.Labels[appsv1.PodIndexLabel],
			"leaderworkerset.sigs.k8s.io/worker-index": "1",
		}
		s.createStatefulSet(ctx, set)
	}
}

var _ = Describe("a policy on an object of a kind that Berth knows shares out", func() {
	var s *site

	BeforeEach(func(ctx SpecContext) {
		s = newSiteWith(ctx, "beijing", "hangzhou")
	})

	It("a Rollout, also while two revisions run", func(ctx SpecContext) {
		s.libraryPolicy(ctx, rollouts)
		owner := s.applied(ctx, rollouts, "web", map[string]any{"replicas": int64(5), "template": raw("web")})
		s.rolloutRevision(ctx, "web", "old", 5, &owner)
		s.expectShares(ctx, "web", shareOf(5))

		for _, replicas := range []int32{10, 4} {
			s.patched(ctx, rollouts, "web", fmt.Sprintf(`{"replicas":%d}`, replicas))
			s.rolloutRevision(ctx, "web", "old", replicas, &owner)
			s.expectShares(ctx, "web", shareOf(int(replicas)))
		}

		By("running a canary of one pod beside the four, and then the new revision alone")
		s.rolloutRevision(ctx, "web", "new", 1, &owner)
		s.expectRunning(ctx, "web", 5)
		s.rolloutRevision(ctx, "web", "new", 4, &owner)
		s.rolloutRevision(ctx, "web", "old", 0, &owner)
		s.expectShares(ctx, "web", shareOf(4))
		s.expectExplained(ctx, "web", "rollout/web")
	})

	It("a blue-green Rollout, the preview beside what is active, each revision for itself", func(ctx SpecContext) {
		s.libraryPolicy(ctx, rollouts)
		owner := s.applied(ctx, rollouts, "web", map[string]any{
			"replicas": int64(5), "template": raw("web"),
			"strategy": map[string]any{"blueGreen": map[string]any{"activeService": "web", "previewReplicaCount": int64(5)}},
		})
		active, preview := ofRevision("web", "blue"), ofRevision("web", "green")
		s.rolloutRevision(ctx, "web", "blue", 5, &owner)
		s.expectShares(ctx, active, shareOf(5))
		s.rolloutRevision(ctx, "web", "green", 5, &owner)
		s.expectShares(ctx, preview, shareOf(5))
		s.expectShares(ctx, active, shareOf(5))
		for _, revision := range []string{active, preview} {
			Expect(s.seats(ctx, revision, "library")).To(Equal(map[string][]int{"beijing": {1, 3}, "hangzhou": {0, 2, 4}}))
		}

		for _, replicas := range []int32{10, 4} {
			By(fmt.Sprintf("resizing both to %d", replicas))
			s.patched(ctx, rollouts, "web", fmt.Sprintf(`{"replicas":%d}`, replicas))
			s.rolloutRevision(ctx, "web", "blue", replicas, &owner)
			s.rolloutRevision(ctx, "web", "green", replicas, &owner)
			s.expectShares(ctx, active, shareOf(int(replicas)))
			s.expectShares(ctx, preview, shareOf(int(replicas)))
		}

		By("promoting the preview")
		s.rolloutRevision(ctx, "web", "blue", 0, &owner)
		s.expectShares(ctx, active, map[string]int{})
		s.expectShares(ctx, preview, shareOf(4))
		s.expectExplained(ctx, preview, "rollout/web")
	})

	It("a CloneSet", func(ctx SpecContext) {
		s.libraryPolicy(ctx, cloneSets)
		owner := s.applied(ctx, cloneSets, "web", map[string]any{"replicas": int64(5), "selector": map[string]any{}, "template": raw("web")})
		hash := func(revision string) map[string]string {
			return map[string]string{appsv1.ControllerRevisionHashLabelKey: revision}
		}
		s.ownedPods(ctx, "web", 0, 5, &owner, hash("old"))
		s.expectShares(ctx, "web", shareOf(5))

		s.patched(ctx, cloneSets, "web", `{"replicas":10}`)
		s.ownedPods(ctx, "web", 5, 10, &owner, hash("old"))
		s.expectShares(ctx, "web", shareOf(10))

		s.patched(ctx, cloneSets, "web", `{"replicas":4}`)
		s.shrink(ctx, "web", 4)
		s.expectShares(ctx, "web", shareOf(4))

		By("replacing all by another revision")
		s.shrink(ctx, "web", 0)
		s.ownedPods(ctx, "web", 10, 14, &owner, hash("new"))
		s.expectShares(ctx, "web", shareOf(4))
		s.expectExplained(ctx, "web", "cloneset/web")
	})

	It("a JobSet, whose Jobs share one row of seats", func(ctx SpecContext) {
		s.libraryPolicy(ctx, jobSets)
		for name, of := range map[string]struct{ jobs, pods int }{"five": {5, 1}, "ten": {2, 5}, "four": {1, 4}} {
			pods := raw(name)
			job := map[string]any{"parallelism": int64(of.pods), "completions": int64(of.pods), "template": pods}
			owner := s.applied(ctx, jobSets, name, map[string]any{"replicatedJobs": []any{map[string]any{
				"name": "w", "replicas": int64(of.jobs), "template": map[string]any{"spec": job},
			}}})
			for i := range of.jobs {
				s.jobOfSet(ctx, name, "w", i, int32(of.pods), &owner)
			}
			s.expectShares(ctx, name, shareOf(of.jobs*of.pods))
			s.expectExplained(ctx, name, "job/"+name+"-w-")
		}
	})

	It("a LeaderWorkerSet by its groups, which stay together", func(ctx SpecContext) {
		s.libraryPolicy(ctx, leaderWorkerSets)
		owner := s.applied(ctx, leaderWorkerSets, "llm", map[string]any{
			"replicas": int64(5), "leaderWorkerTemplate": map[string]any{"size": int64(3), "workerTemplate": raw("llm-workers")},
		})
		for _, groups := range []int32{5, 10, 4} {
			s.patched(ctx, leaderWorkerSets, "llm", fmt.Sprintf(`{"replicas":%d}`, groups))
			s.leaders(ctx, "llm", groups, &owner)
			s.expectOrdinals(ctx, "llm", int(groups))
			s.workers(ctx, "llm")
			Eventually(func() map[string]int { return s.workersBeside(ctx, "llm") }, timeout, poll).
				Should(Equal(map[string]int{"beside": 2 * int(groups)}))
		}
		s.expectExplained(ctx, "llm", "statefulset/llm")
		s.expectExplained(ctx, "llm-workers", "statefulset/llm-")

		By("rolling out another template, one group after the other")
		before := s.uids(ctx)
		_, err := client.AppsV1().StatefulSets(s.namespace).Patch(ctx, "llm", strategicMerge,
			[]byte(`{"spec":{"template":{"metadata":{"annotations":{"example.com/rolled":"out"}}}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func(g Gomega) {
			s.workers(ctx, "llm")
			g.Expect(s.uids(ctx)).NotTo(ContainElements(BeElementOf(before)))
			g.Expect(s.workersBeside(ctx, "llm")).To(Equal(map[string]int{"beside": 2 * 4}))
		}, timeout, poll).Should(Succeed())
		s.expectOrdinals(ctx, "llm", 4)
	})

	It("a RayCluster, each group of workers for itself", func(ctx SpecContext) {
		s.libraryPolicy(ctx, rayClusters)
		s.expectRay(ctx, s.applied(ctx, rayClusters, "ray", raySpec(5)), func(workers int) {
			s.patched(ctx, rayClusters, "ray", `{"workerGroupSpecs":`+workerGroups(workers)+`}`)
		})
	})

	It("a RayJob, by the RayCluster that it makes", func(ctx SpecContext) {
		s.libraryPolicy(ctx, rayJobs)
		job := s.applied(ctx, rayJobs, "train", map[string]any{"entrypoint": "python a.py", "rayClusterSpec": raySpec(5)})
		s.expectRay(ctx, s.applied(ctx, rayClusters, "ray", raySpec(5), job), func(workers int) {
			s.patched(ctx, rayClusters, "ray", `{"workerGroupSpecs":`+workerGroups(workers)+`}`)
		})
	})
})

// workersBeside counts the running workers of groups: those in the cluster of their leader as
// beside, others as apart.
func (s *site) workersBeside(ctx context.Context, app string) map[string]int {
	GinkgoHelper()
	leaders, counts := map[string]string{}, map[string]int{}
	for _, pod := range s.pods(ctx, app) {
		leaders[pod.Name] = s.place(&pod)
	}
	for _, pod := range s.pods(ctx, app+"-workers") {
		leader, lives := leaders[pod.Labels["set"]]
		switch place := s.place(&pod); {
		case !lives:
			// The garbage collector has yet to come.
		case pod.Status.Phase != corev1.PodRunning:
			counts["waiting"]++
		case place == leader:
			counts["beside"]++
		default:
			counts["apart"]++
		}
	}
	return counts
}

// raySpec is that of a RayCluster with one group of so many workers.
func raySpec(workers int) map[string]any {
	GinkgoHelper()
	var groups []any
	Expect(json.Unmarshal([]byte(workerGroups(workers)), &groups)).To(Succeed())
	return map[string]any{"headGroupSpec": map[string]any{"template": raw("ray")}, "workerGroupSpecs": groups}
}

// workerGroups is a group of so many workers, as JSON.
func workerGroups(workers int) string {
	GinkgoHelper()
	pods, err := json.Marshal(template("ray"))
	Expect(err).NotTo(HaveOccurred())
	return fmt.Sprintf(`[{"groupName":"small","replicas":%d,"minReplicas":0,"maxReplicas":20,"template":%s}]`, workers, pods)
}

// expectSixthWaits waits until five pods of an app are shared out, and the sixth has been tried in
// vain: nobody asked for it yet.
func (s *site) expectSixthWaits(ctx context.Context, app string) {
	GinkgoHelper()
	want := shareOf(5)
	want["waiting"] = 1
	Eventually(func(g Gomega) {
		g.Expect(s.shares(ctx, app)).To(Equal(want))
		for _, pod := range s.pods(ctx, app) {
			if pod.Spec.NodeName == "" {
				g.Expect(workload.PendingMessage(&pod)).To(ContainSubstring("have their share of replicas"))
			}
		}
	}, timeout, poll).Should(Succeed())
}

// expectRay makes the head and the workers of a RayCluster as its operator does, and checks that
// the workers are shared out at each size, whatever the head does.
func (s *site) expectRay(ctx context.Context, owner metav1.OwnerReference, resize func(workers int)) {
	GinkgoHelper()
	labels := func(kind, group string) map[string]string {
		return map[string]string{"ray.io/cluster": "ray", "ray.io/node-type": kind, "ray.io/group": group}
	}
	s.ownedPods(ctx, "head", 0, 1, &owner, labels("head", "headgroup"))
	s.ownedPods(ctx, "ray", 0, 6, &owner, labels("worker", "small"))
	s.expectSixthWaits(ctx, "ray")
	s.expectShares(ctx, "head", shareOf(1))

	resize(10)
	s.ownedPods(ctx, "ray", 6, 10, &owner, labels("worker", "small"))
	s.expectShares(ctx, "ray", shareOf(10))

	resize(4)
	s.shrink(ctx, "ray", 4)
	s.expectShares(ctx, "ray", shareOf(4))

	By("replacing all workers, as for another template")
	s.shrink(ctx, "ray", 0)
	s.ownedPods(ctx, "ray", 10, 14, &owner, labels("worker", "small"))
	s.expectShares(ctx, "ray", shareOf(4))
	Expect(s.explained(ctx, "ray-10")).To(And(MatchRegexp("ray(cluster|job)/"), ContainSubstring("library")))
}

// expectExplained checks that berthctl names the workload of a pod of an app, and the policy.
func (s *site) expectExplained(ctx context.Context, app, workload string) {
	GinkgoHelper()
	Expect(s.explained(ctx, s.pods(ctx, app)[0].Name)).To(And(
		MatchRegexp(`(?m)^Workload: +`+workload), MatchRegexp(`(?m)^Policy: +library,`)))
}

// explained returns what berthctl says of a pod.
func (s *site) explained(ctx context.Context, pod string) string {
	GinkgoHelper()
	bin, err := localplane.FindBinDir()
	Expect(err).NotTo(HaveOccurred())
	command := exec.CommandContext(ctx, filepath.Join(bin, "berthctl"), "explain", "pod", pod, "-n", s.namespace)
	command.Env = append(os.Environ(), "KUBECONFIG="+plane.AdminKubeconfig())
	command.Stderr = GinkgoWriter
	out, err := command.Output()
	Expect(err).NotTo(HaveOccurred())
	return string(out)
}
