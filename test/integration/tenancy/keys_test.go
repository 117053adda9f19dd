// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tenancy_test

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/test/integration/internal/installation"
)

// hostileValue is what the tenant writes under each key. It is valid as a label.
const hostileValue = "1"

// A key is for Berth alone, or for users on pods of their own namespace, where it concerns nobody
// else.
const (
	berthAlone = iota
	users
)

// keys are all keys of docs/reference/labels-and-annotations.md, in the form in which they stand
// there.
var keys = map[string]struct {
	whose            int
	label, finalizer bool
}{
	"berth.dev/placed-by": {whose: berthAlone},
	"berth.dev/policy":    {whose: berthAlone},
	"berth.dev/cluster":   {whose: berthAlone},
	"berth.dev/seat":      {whose: berthAlone},
	"berth.dev/charged":   {whose: berthAlone},
	"berth.dev/grantee":   {whose: berthAlone},
	"berth.dev/settled":   {whose: berthAlone},
	clusterLabel:          {whose: berthAlone, label: true},

	"groupingpolicy.kubeedge.io":                     {whose: users},
	"controller.kubernetes.io/pod-deletion-cost":     {whose: users},
	"cluster-autoscaler.kubernetes.io/safe-to-evict": {whose: users},
	"pod.alpha.kubernetes.io/cluster-resource-NAME":  {whose: users},
	"berth.dev/geo-location":                         {whose: users},
	"berth.dev/cluster-label-constraint":             {whose: users},
	"berth.dev/cluster-metric-constraint":            {whose: users},
	"berth.dev/cluster-resource-constraint":          {whose: users},
	"berth.dev/cluster-ranking":                      {whose: users},
	"berth.dev/rebalance":                            {whose: users},
	"berth.dev/divided":                              {whose: users},
	"berth.dev/made-from":                            {whose: users},
	"berth.dev/cluster-resource-in-use":              {whose: users, finalizer: true},
	"berth.dev/drain-scheduler":                      {whose: users, finalizer: true},
	"berth.dev/leave-home-scheduler":                 {whose: users, finalizer: true},
	"berth.dev/component":                            {whose: users, label: true},
	"berth.dev/home-scheduler":                       {whose: users, label: true},
	"berth.dev/scheduler":                            {whose: users, label: true},
	"berth.dev/settled-by":                           {whose: users, label: true},
	"berth.dev/open-for":                             {whose: users, label: true},
	"berth.dev/application":                          {whose: users, label: true},
	"berth.dev/copy-of":                              {whose: users, label: true},
	"berth.dev/copy-cluster":                         {whose: users, label: true},
	"berth.dev/aggregate-to-feed-reader":             {whose: users, label: true},
	"berth.dev/aggregate-to-owner-reader":            {whose: users, label: true},
	"berth.dev/aggregate-to-application-writer":      {whose: users, label: true},
}

// clusterLabel is the row of a key that is documented twice: as an annotation, and as a label.
const clusterLabel = "berth.dev/cluster as a label"

// mark writes a key into metadata.
func mark(meta *metav1.ObjectMeta, key string) {
	switch {
	case keys[key].finalizer:
		meta.Finalizers = append(meta.Finalizers, key)
	case keys[key].label:
		metav1.SetMetaDataLabel(meta, writable(key), hostileValue)
	default:
		metav1.SetMetaDataAnnotation(meta, writable(key), hostileValue)
	}
}

// writable is a key as users write it.
func writable(key string) string {
	return strings.NewReplacer("NAME", "licences", " as a label", "").Replace(key)
}

// marked reports whether a pod has what the tenant wrote.
func marked(p *corev1.Pod, key string) bool {
	return p.Annotations[writable(key)] == hostileValue || p.Labels[writable(key)] == hostileValue || slices.Contains(p.Finalizers, key)
}

// patchOf is a merge patch that writes a key.
func patchOf(key string) []byte {
	GinkgoHelper()
	var meta metav1.ObjectMeta
	mark(&meta, key)
	raw, err := json.Marshal(map[string]any{"metadata": meta})
	Expect(err).NotTo(HaveOccurred())
	return raw
}

// path is a way in which something gets onto a pod. It tries to write a key onto the target, or
// onto a new pod of its namespace.
type path func(ctx context.Context, target *corev1.Pod, key string) error

func patching(subresources ...string) path {
	return func(ctx context.Context, target *corev1.Pod, key string) error {
		_, err := mallory.CoreV1().Pods(target.Namespace).Patch(ctx, target.Name, types.MergePatchType, patchOf(key),
			metav1.PatchOptions{}, subresources...)
		return err
	}
}

var paths = map[string]path{
	"create": func(ctx context.Context, target *corev1.Pod, key string) error {
		p := pod("hostile")
		p.Name, p.GenerateName, p.Spec.SchedulerName = "", "hostile-", target.Spec.SchedulerName
		mark(&p.ObjectMeta, key)
		_, err := mallory.CoreV1().Pods(target.Namespace).Create(ctx, p, metav1.CreateOptions{})
		return err
	},
	"template": func(ctx context.Context, target *corev1.Pod, key string) error {
		d := deployment("hostile")
		d.Name, d.GenerateName, d.Spec.Replicas = "", "hostile-", new(int32(1))
		mark(&d.Spec.Template.ObjectMeta, key)
		_, err := mallory.AppsV1().Deployments(target.Namespace).Create(ctx, d, metav1.CreateOptions{})
		return err
	},
	"update":               patching(),
	"status":               patching("status"),
	"ephemeral containers": patching("ephemeralcontainers"),
	"resize":               patching("resize"),
	"binding": func(ctx context.Context, target *corev1.Pod, key string) error {
		b := bindingOf(target, key)
		return mallory.CoreV1().Pods(target.Namespace).Bind(ctx, b, metav1.CreateOptions{})
	},
	"binding in the older way": func(ctx context.Context, target *corev1.Pod, key string) error {
		return mallory.CoreV1().RESTClient().Post().Namespace(target.Namespace).Resource("bindings").Body(bindingOf(target, key)).
			Do(ctx).Error()
	},
	"eviction": func(ctx context.Context, target *corev1.Pod, key string) error {
		e := &policyv1.Eviction{
			ObjectMeta:    metav1.ObjectMeta{Namespace: target.Namespace, Name: target.Name},
			DeleteOptions: &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}},
		}
		mark(&e.ObjectMeta, key)
		return mallory.CoreV1().Pods(target.Namespace).EvictV1(ctx, e)
	},
}

func bindingOf(target *corev1.Pod, key string) *corev1.Binding {
	b := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: target.Namespace, Name: target.Name, UID: target.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: "east-0"},
	}
	mark(&b.ObjectMeta, key)
	return b
}

// documented returns the keys in the tables of the reference.
func documented() []string {
	GinkgoHelper()
	text, err := os.ReadFile(installation.Path("docs", "reference", "labels-and-annotations.md"))
	Expect(err).NotTo(HaveOccurred())
	found := []string{clusterLabel}
	for _, match := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		if !slices.Contains(found, match[1]) {
			found = append(found, match[1])
		}
	}
	return found
}

var _ = Describe("A key of Berth", func() {
	It("has a row here, if it is documented", func() {
		for _, key := range documented() {
			Expect(keys).To(HaveKey(key))
		}
		Expect(keys).To(HaveLen(len(documented())), "keys that are documented nowhere")
	})

	for name, write := range paths {
		It("reaches no pod of another namespace: "+name, func(ctx SpecContext) {
			for key := range keys {
				Expect(write(ctx, victim, key)).To(Satisfy(apierrors.IsForbidden), key)
			}
			for _, p := range placed(ctx) {
				for key := range keys {
					Expect(marked(&p, key) && keys[key].whose == users).To(BeFalse(), "%s on %s", key, p.Name)
				}
			}
		})

		It("reaches no pod of the tenant himself if it is Berth's: "+name, func(ctx SpecContext) {
			waiting := waitingPod(ctx)
			for key, row := range keys {
				if row.whose != berthAlone {
					continue
				}
				err := write(ctx, waiting, key)
				if name != "eviction" && name != "template" && name != "ephemeral containers" && name != "resize" {
					Expect(err).To(HaveOccurred(), key)
				}
				expectUnmarked(ctx, key)
			}
		})
	}

	It("changes nothing for another on pods of the tenant if it is the users'", func(ctx SpecContext) {
		before := uidsOf(placed(ctx))
		for key, row := range keys {
			if row.whose != users {
				continue
			}
			waiting := waitingPod(ctx)
			for name, write := range paths {
				if name != "template" { // its pods are made as "create" makes them
					_ = write(ctx, waiting, key) // whether it is refused makes no difference
				}
			}
		}
		Expect(uidsOf(placed(ctx))).To(Equal(before))
	})

	It("can be written by the tenant on his own pods if it is the users'", func(ctx SpecContext) {
		waiting := waitingPod(ctx)
		for _, key := range []string{"groupingpolicy.kubeedge.io", "controller.kubernetes.io/pod-deletion-cost", "berth.dev/application"} {
			Expect(paths["update"](ctx, waiting, key)).To(Succeed(), key)
			after, err := admin.CoreV1().Pods(own).Get(ctx, waiting.Name, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(marked(after, key)).To(BeTrue(), key)
		}
	})
})

// uidsOf returns the pods as a set.
func uidsOf(pods []corev1.Pod) map[types.UID]bool {
	found := map[types.UID]bool{}
	for i := range pods {
		found[pods[i].UID] = true
	}
	return found
}

// waitingPod makes a pod of the tenant that no scheduler looks for.
func waitingPod(ctx context.Context) *corev1.Pod {
	GinkgoHelper()
	p := pod("waiting")
	p.Name, p.GenerateName, p.Spec.SchedulerName = "", "waiting-", "nobody"
	made, err := mallory.CoreV1().Pods(own).Create(ctx, p, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return made
}

// expectUnmarked expects that no pod of the tenant carries what he wrote under a key of Berth's.
// What a template makes is refused when the pod is made, so that has to have been tried.
func expectUnmarked(ctx context.Context, key string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega, ctx context.Context) {
		sets, err := admin.AppsV1().ReplicaSets(own).List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		deployments, err := admin.AppsV1().Deployments(own).List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(len(sets.Items)).To(BeNumerically(">=", len(deployments.Items)))
		for i := range sets.Items {
			if set := &sets.Items[i]; strings.HasPrefix(set.Name, "hostile-") {
				g.Expect(set.Status.Conditions).To(ContainElement(HaveField("Reason", "FailedCreate")), set.Name)
			}
		}
	}).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
	pods, err := admin.CoreV1().Pods(own).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	for i := range pods.Items {
		Expect(marked(&pods.Items[i], key)).To(BeFalse(), "%s on %s", key, pods.Items[i].Name)
	}
}
