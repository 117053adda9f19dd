// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane_test

import (
	"os"
	"path/filepath"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"berth.dev/berth/pkg/localplane"
)

// alive tells whether a process with the ID exists.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

var _ = Describe("a control plane", func() {
	It("leaves no process and no directory behind", func(ctx SpecContext) {
		dir := filepath.Join(GinkgoT().TempDir(), "state")
		began := time.Now()
		plane := start(ctx, localplane.Options{StateDir: dir})
		AddReportEntry("one control plane ready after", time.Since(began).Round(time.Millisecond).String())
		info, err := os.Stat(dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(BeEquivalentTo(0o700))
		further, err := plane.StartProcess(ctx, "further", "/bin/sh", "-c", "echo started; exec sleep 600")
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() ([]byte, error) { return os.ReadFile(further.LogPath()) }, timeout, poll).Should(ContainSubstring("started"))

		processes := plane.Processes()
		names := make([]string, 0, len(processes))
		for _, p := range processes {
			names = append(names, p.Name())
			Expect(alive(p.PID())).To(BeTrue(), p.Name())
		}
		Expect(names).To(Equal([]string{"etcd", "kube-apiserver", "kube-controller-manager", "kwok", "further"}))

		began = time.Now()
		Expect(plane.Stop()).To(Succeed())
		AddReportEntry("stopped after", time.Since(began).Round(time.Millisecond).String())
		for _, p := range processes {
			Expect(alive(p.PID())).To(BeFalse(), p.Name())
		}
		Expect(dir).NotTo(BeADirectory())
		Expect(plane.Stop()).To(Succeed(), "a second Stop")
	})

	It("keeps its address and its data when the API server restarts", func(ctx SpecContext) {
		ns := newNamespace(ctx, secondClient)
		url := second.URL()
		before := len(second.Processes())
		Expect(second.RestartAPIServer(ctx)).To(Succeed())
		Expect(second.URL()).To(Equal(url))
		Expect(second.Processes()).To(HaveLen(before))
		_, err := secondClient.CoreV1().Namespaces().Get(ctx, ns, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())

		By("driving pods as before")
		Expect(localplane.CreateNodes(ctx, secondClient, "again", 1, nil, nil)).To(Succeed())
		_, err = secondClient.CoreV1().Pods(ns).Create(ctx,
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "bare"}, Spec: template("again-0").Spec}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() []corev1.Pod { return pods(ctx, secondClient, ns) }, timeout, poll).
			Should(And(HaveLen(1), HaveEach(beReady())))
	})

	It("reports a child that ends by itself, and not one that is stopped", func(ctx SpecContext) {
		plane := start(ctx, localplane.Options{})
		stopped, err := plane.StartProcess(ctx, "stopped", "/bin/sleep", "600")
		Expect(err).NotTo(HaveOccurred())
		Expect(stopped.Stop(timeout)).To(Succeed())
		_, err = plane.StartProcess(ctx, "broken", "/bin/sh", "-c", "echo cannot go on; exit 3")
		Expect(err).NotTo(HaveOccurred())
		saysWhy := MatchError(And(ContainSubstring("broken exited"), ContainSubstring("cannot go on")))
		Eventually(plane.Exited(), timeout, poll).Should(Receive(saysWhy))
		Expect(plane.Stop()).To(saysWhy)
		Expect(plane.StateDir()).NotTo(BeADirectory())
	})

	It("says which component failed to start, in its own words", func(ctx SpecContext) {
		binDir, err := localplane.FindBinDir()
		Expect(err).NotTo(HaveOccurred())
		dir := filepath.Join(GinkgoT().TempDir(), "state")
		_, err = localplane.Start(ctx, localplane.Options{
			BinDir: binDir, StateDir: dir, APIServerArgs: []string{"--no-such-flag"},
		})
		Expect(err).To(MatchError(And(
			ContainSubstring("kube-apiserver exited"), ContainSubstring("unknown flag: --no-such-flag"))))
		Expect(dir).NotTo(BeADirectory())
	})
})

var _ = Describe("identities", func() {
	It("have the permissions that RBAC gives them and no others", func(ctx SpecContext) {
		ns := newNamespace(ctx, firstClient)
		user, groups := localplane.ServiceAccountIdentity(ns, "reader")
		_, err := firstClient.RbacV1().RoleBindings(ns).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "reader"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:controller:replicaset-controller"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: ns, Name: "reader"}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())

		path, err := first.Kubeconfig(user, groups...)
		Expect(err).NotTo(HaveOccurred())
		config, err := clientcmd.BuildConfigFromFlags("", path)
		Expect(err).NotTo(HaveOccurred())
		client, err := kubernetes.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() error {
			_, err := client.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
			return err
		}, timeout, poll).Should(Succeed())
		_, err = client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		Expect(err).To(MatchError(apierrors.IsForbidden, "forbidden"))
	})

	It("do not trust a server of another control plane", func(ctx SpecContext) {
		config := first.Config()
		config.Host = second.URL()
		client, err := kubernetes.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		_, err = client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
		Expect(err).To(MatchError(ContainSubstring("certificate signed by unknown authority")))
	})
})

var _ = Describe("manifests", func() {
	It("are applied in an order that works, twice if need be", func(ctx SpecContext) {
		for range 2 {
			Expect(localplane.ApplyCRDs(ctx, first.Config(), "testdata/crds")).To(Succeed())
			Expect(localplane.ApplyManifests(ctx, first.Config(), "testdata/widgets.yaml")).To(Succeed())
		}
		client, err := dynamic.NewForConfig(first.Config())
		Expect(err).NotTo(HaveOccurred())
		widgets := client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"})
		widget, err := widgets.Namespace("widgets").Get(ctx, "small", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(widget.Object).To(HaveKeyWithValue("spec", HaveKeyWithValue("size", BeEquivalentTo(1))))
	})

	It("name the object that the API server refuses", func(ctx SpecContext) {
		path := filepath.Join(GinkgoT().TempDir(), "bad.yaml")
		Expect(os.WriteFile(path, []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: UPPER}\n"), 0o600)).To(Succeed())
		Expect(localplane.ApplyManifests(ctx, first.Config(), path)).To(MatchError(ContainSubstring("applying Namespace UPPER")))
	})
})
