// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/schedulerproc"
)

// stockLease is the lease of the default scheduler, which a build has that stands in for it.
const stockLease = "kube-scheduler"

// otherVersion returns a version that the program might have been built as.
func otherVersion(ctx context.Context) string {
	GinkgoHelper()
	bin, err := localplane.FindBinDir()
	Expect(err).NotTo(HaveOccurred())
	told, err := exec.CommandContext(ctx, filepath.Join(bin, schedulerproc.Name), "--version").Output()
	Expect(err).NotTo(HaveOccurred())
	version := strings.TrimPrefix(strings.TrimSpace(string(told)), "Kubernetes ")
	kubernetes, _, _ := strings.Cut(version, "+")
	return kubernetes + "+berth.9.9.9-other"
}

// allowStockLease gives the scheduler the rights of one that stands in for the default scheduler.
func allowStockLease(ctx context.Context) {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "berth-scheduler-instead"}
	_, err := client.RbacV1().Roles(meta.Namespace).Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"}, Verbs: []string{"create", "get", "update"},
	}}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = client.RbacV1().RoleBindings(meta.Namespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: localplane.BerthNamespace, Name: schedulerproc.Name}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// startOtherBuild starts a process that says that it is of another version, and stands in for the
// default scheduler.
func startOtherBuild(ctx context.Context) *replica {
	GinkgoHelper()
	version := otherVersion(ctx)
	other := start(ctx, "other-build", "--version="+version,
		"--leader-elect-resource-name="+stockLease, "--leader-elect-resource-namespace="+metav1.NamespaceSystem)
	Eventually(stockHolder).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
	log, err := os.ReadFile(other.LogPath())
	Expect(err).NotTo(HaveOccurred())
	Expect(string(log)).To(ContainSubstring("Starting Kubernetes Scheduler\" version=%q", version))
	return other
}

// stockHolder returns who has the lease of the default scheduler, empty if nobody does.
func stockHolder(ctx context.Context) string {
	lease, err := client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, stockLease, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// waitsFor returns the messages of events at the usual lease about those who wait for it.
func waitsFor(ctx context.Context, g Gomega) (messages []string) {
	events, err := client.CoreV1().Events(localplane.BerthNamespace).List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	for i := range events.Items {
		e := &events.Items[i]
		if e.InvolvedObject.Kind == "Lease" && e.InvolvedObject.Name == schedulerproc.Name && strings.Contains(e.Message, "waits") {
			messages = append(messages, e.Message)
		}
	}
	return messages
}

// playBuilds lets two builds that lead by different leases run beside each other, then ends the one
// that gives things out.
func playBuilds(ctx context.Context, namespace string, w *witness) {
	GinkgoHelper()
	this := start(ctx, "this-build")
	Eventually(leader).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).ShouldNot(BeEmpty())
	this.UntilKnows(ctx, berth)
	allowStockLease(ctx)
	other := startOtherBuild(ctx)
	want := fmt.Sprintf("%s has lease kube-system/kube-scheduler and waits for this one, which %s holds", stockHolder(ctx), leader(ctx))
	Eventually(func(g Gomega) { g.Expect(waitsFor(ctx, g)).To(Equal([]string{want})) }).WithTimeout(timeout).WithPolling(poll).Should(Succeed())

	for i, ends := range []bool{false, true} {
		r := &round{
			Rand: rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), uint64(i))), name: fmt.Sprint("builds", i), namespace: namespace,
			units: int(w.units), way: killed,
		}
		r.create(ctx)
		if ends {
			r.strike(ctx, this, leader)
			Expect(leader(ctx)).To(Equal(stockHolder(ctx)))
		}
		r.expectAllGiven(w)
		r.clear(ctx, w)
	}
	Expect(w.found()).To(BeEmpty())
	Expect(this.proxy.Stop()).To(Succeed())
	other.End()
	Expect(other.proxy.Stop()).To(Succeed())
}
