// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rank"
)

const (
	byLabel    = berthv1alpha1.ClusterLabelConstraintAnnotation
	byMetric   = berthv1alpha1.ClusterMetricConstraintAnnotation
	byResource = berthv1alpha1.ClusterResourceConstraintAnnotation
	byRanking  = berthv1alpha1.ClusterRankingAnnotation
)

// dryRun asks what the API server would answer.
var dryRun = metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}

func tryPod(ctx context.Context, changes ...change) error {
	_, err := tenant.CoreV1().Pods(metav1.NamespaceDefault).Create(ctx, pod(changes...), dryRun)
	return err
}

// template is a pod template with a constraint.
func template(constraint string) corev1.PodTemplateSpec {
	p := pod(annotated(byLabel, constraint))
	p.Labels = map[string]string{"app": "a"}
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: p.Labels, Annotations: p.Annotations}, Spec: p.Spec}
}

var _ = Describe("A pod with constraints on its cluster", func() {
	// What the scheduler understands and what the API server takes must be the same, with the same
	// words about a mistake.
	DescribeTable("is answered at once, as the scheduler would", func(ctx SpecContext, annotations ...string) {
		var changes []change
		written := map[string]string{}
		for i := 0; i < len(annotations); i += 2 {
			changes = append(changes, annotated(annotations[i], annotations[i+1]))
			written[annotations[i]] = annotations[i+1]
		}
		_, mistake := rank.ParseAnnotations(written)
		err := tryPod(ctx, changes...)
		if mistake == nil {
			Expect(err).NotTo(HaveOccurred())
			return
		}
		place, _, _ := strings.Cut(mistake.Error(), ", found ")
		Expect(err).To(refused(place))
	},
		Entry("a label", byLabel, "location is DE"),
		Entry("several", byLabel, "location in (DE, SK);\n tier not in (gold)\r\n;;", byMetric, "load<5;price >= .5", byRanking, "metrics"),
		Entry("a resource", byResource, "crontabs.stable.example.com\nb.c"),
		Entry("a resource without a group", byResource, "crontabs"),
		Entry("the second of several resources", byResource, "crontabs.stable.example.com;\n\t Crontabs.b \r\n"),
		Entry("words of the language", byLabel, "is is is; in in (in)"),
		Entry("a misspelt operator", byLabel, "location si DE"),
		Entry("the second of a list", byLabel, "location is DE; tier ~ 1"),
		Entry("one like the beginning of another", byLabel, "location is DE;location; tier is a"),
		Entry("one on a line of its own", byMetric, "load < 5\r\nload < five\r\nprice > 1"),
		Entry("characters of more than a byte before", byLabel, "location is DE;ü is b"),
		Entry("one that ends too early before a line break", byLabel, "location is\r\n"),
		Entry("unbalanced brackets", byLabel, "a in (b"),
		Entry("a list of a metric", byMetric, "load in (1)"),
		Entry("nothing", byLabel, ""),
		Entry("nothing but separators", byResource, " ;\n"),
		Entry("another ranking", byRanking, "best"),
		Entry("10 kB", byLabel, "a is "+strings.Repeat("b", 10_000)),
		Entry("21 kB", byMetric, strings.Repeat("load < 5                ;", 900)),
		Entry("21 kB of resources", byResource, strings.Repeat("x", 21_000)),
	)

	It("may not have more than twenty", func(ctx SpecContext) {
		Expect(tryPod(ctx, annotated(byLabel, strings.Repeat("a is b;", 20)))).To(Succeed())
		Expect(tryPod(ctx, annotated(byLabel, strings.Repeat("a is b;", 21)))).To(refused("there are more than 20 constraints"))
		Expect(tryPod(ctx, annotated(byResource, strings.Repeat("a.b\n", 21)))).To(refused("there are more than 20 constraints"))
	})

	It("may be of any length that is allowed", func(ctx SpecContext) {
		long := "a in (" + strings.Repeat(strings.Repeat("b", 60)+",", 16) + "c)"
		Expect(tryPod(ctx, annotated(byLabel, strings.Repeat(long+";", 19)+long))).To(Succeed())
		Expect(tryPod(ctx, annotated(byLabel, strings.Repeat(long+";", 19)+long+"x"))).To(refused("expected the end of the constraint"))
	})

	It("is refused where its author writes it, in a workload", func(ctx SpecContext) {
		const why = "annotation berth.dev/cluster-label-constraint: column 10: expected is, is not,"
		bad, good := template("location si DE"), template("location is DE")
		selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
		name := metav1.ObjectMeta{Name: "constraints", Namespace: metav1.NamespaceDefault}
		deployment := &appsv1.Deployment{ObjectMeta: name, Spec: appsv1.DeploymentSpec{Selector: selector, Template: bad}}
		_, err := tenant.AppsV1().Deployments(name.Namespace).Create(ctx, deployment, dryRun)
		Expect(err).To(refused(why))
		deployment.Spec.Template = good
		_, err = tenant.AppsV1().Deployments(name.Namespace).Create(ctx, deployment, dryRun)
		Expect(err).NotTo(HaveOccurred())

		bad.Spec.RestartPolicy = corev1.RestartPolicyNever
		job := batchv1.JobSpec{Template: bad}
		_, err = tenant.BatchV1().Jobs(name.Namespace).Create(ctx, &batchv1.Job{ObjectMeta: name, Spec: job}, dryRun)
		Expect(err).To(refused(why))
		cron := batchv1.CronJobSpec{Schedule: "* * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: job}}
		_, err = tenant.BatchV1().CronJobs(name.Namespace).Create(ctx, &batchv1.CronJob{ObjectMeta: name, Spec: cron}, dryRun)
		Expect(err).To(refused(why))
	})

	It("is checked when a constraint changes, and only then", func(ctx SpecContext) {
		created := mustCreate(ctx, pod(annotated(byLabel, "location is DE")))
		Expect(annotate(ctx, tenant, created, "", byLabel, "location is")).To(refused("column 12: expected a value"))
		Expect(annotate(ctx, tenant, created, "", "example.com/own", "1")).To(Succeed())
		Expect(annotate(ctx, tenant, created, "", byLabel, nil)).To(Succeed())
	})
})
