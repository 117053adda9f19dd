// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pages_test looks at Berth's pages in a real browser: those of berthctl ui and those of
// berth-gateway, against a real control plane. Nothing else of Berth runs there: the tests write
// the objects that are shown.
package pages_test

import (
	"context"
	"crypto/tls"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/integration/internal/installation"
	"berth.dev/berth/test/integration/internal/tool"
)

const (
	// timeout is for what takes a second or two on an idle machine.
	timeout = 150 * time.Second
	poll    = 50 * time.Millisecond

	// siteLabel says on a node to which Cluster it belongs.
	siteLabel = "test.berth.dev/site"
)

var (
	binDir   string
	chromium string
	plane    *localplane.ControlPlane
	client   kubernetes.Interface
	berth    versioned.Interface
)

func TestPages(t *testing.T) {
	chromium = tool.Require(t, "chromium", "chromium") // skips before a control plane is started
	installation.Suite{Title: "pages in a browser", Begin: begin, End: end}.Run(t)
}

func begin(ctx SpecContext, started installation.Plane) {
	var err error
	binDir, err = localplane.FindBinDir()
	Expect(err).NotTo(HaveOccurred())
	plane, client, berth = started.ControlPlane, started.Client, started.Berth
	installation.ApplyBase(ctx, plane)
	installation.ApplyCRDs(ctx, plane)
}

func end(_ SpecContext) {
	gexec.KillAndWait(timeout)
}

// server is a program that serves the pages, and ends with Kill.
type server struct {
	address string
	// token is what the pages ask for, empty if they ask for nothing.
	token string
	Kill  func()
	// pid is that of the process, 0 if nobody asks for it.
	pid int
}

var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+/ui/`)

// berthctlUI starts berthctl ui with a kubeconfig.
func berthctlUI(ctx context.Context, kubeconfig string, args ...string) *server {
	GinkgoHelper()
	command := exec.CommandContext(ctx, filepath.Join(binDir, "berthctl"), append([]string{"ui"}, args...)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	session, err := gexec.Start(command, GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	Eventually(session.Out).WithContext(ctx).WithTimeout(timeout).Should(gbytes.Say("Ctrl-C"))
	return &server{address: address.FindString(string(session.Out.Contents())), Kill: func() { session.Kill() }, pid: session.Command.Process.Pid}
}

// servers are the programs that serve the pages. What holds for one holds for the other.
var servers = map[string]func(ctx context.Context) *server{
	"berthctl ui": func(ctx context.Context) *server { return berthctlUI(ctx, plane.AdminKubeconfig()) },
	"berth-gateway": func(ctx context.Context) *server {
		process, host, err := plane.StartGateway(ctx, localplane.Component{Name: "berth-gateway"})
		Expect(err).NotTo(HaveOccurred())
		s := &server{address: "https://" + host + "/ui/", token: administrator(ctx), Kill: func() {
			process.ExpectEnd()
			Expect(process.Kill(syscall.SIGKILL)).To(Succeed())
		}}
		DeferCleanup(func() { Expect(process.Stop(timeout)).To(Succeed()) })
		// It signs its certificate itself.
		dial := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
		Eventually(func() error {
			connection, err := dial.DialContext(ctx, "tcp", host)
			if err == nil {
				err = connection.Close()
			}
			return err
		}).WithContext(ctx).WithTimeout(timeout).WithPolling(poll).Should(Succeed())
		return s
	},
}

// administrator returns a token of a ServiceAccount that may do everything.
func administrator(ctx context.Context) string {
	GinkgoHelper()
	token, err := localplane.NewToken(ctx, client, "looks-"+utilrand.String(5), "cluster-admin")
	Expect(err).NotTo(HaveOccurred())
	return token
}

// newSite makes a Cluster of two nodes.
func newSite(ctx context.Context, name string, edit func(*berthv1alpha1.Cluster)) {
	GinkgoHelper()
	Expect(localplane.CreateNodes(ctx, client, name, 2, map[string]string{siteLabel: name}, nil)).To(Succeed())
	site := &berthv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       berthv1alpha1.ClusterSpec{MatchLabels: map[string]string{siteLabel: name}},
	}
	if edit != nil {
		edit(site)
	}
	_, err := berth.BerthV1alpha1().Clusters().Create(ctx, site, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.CoreV1().Nodes().DeleteCollection(ctx, metav1.DeleteOptions{},
			metav1.ListOptions{LabelSelector: siteLabel + "=" + name})).To(Succeed())
		Expect(berth.BerthV1alpha1().Clusters().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	})
}
