// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/generated/clientset/versioned"
	"berth.dev/berth/pkg/localplane"
)

// Suite is the specs of a package, which share a control plane.
type Suite struct {
	// Title names the suite.
	Title string
	// Options changes how the control plane is started. It may be nil.
	Options func(*localplane.Options)
	// Begin prepares what all specs share. The control plane has nothing of Berth yet.
	Begin func(ginkgo.SpecContext, Plane)
	// End checks, after the last spec, what must hold for all of them, and ends what Begin started.
	// It may be nil.
	End func(ginkgo.SpecContext)
	// Provoked are the rights, as "get secrets", that specs have the programs try in vain. The suite
	// fails if one of Berth's programs tried anything else that manifests/base does not allow it.
	Provoked []string
}

// Plane is a control plane, with the clients of its administrator.
type Plane struct {
	*localplane.ControlPlane
	Client kubernetes.Interface
	Berth  versioned.Interface
}

// Run runs the specs. At the end it looks for panics in the logs of all programs. If a spec fails,
// the logs and the state at that moment stay in a folder that the last line of the test names; it
// is made where the environment variable BERTH_TEST_LOGS says, else among the temporary files.
func (s Suite) Run(t *testing.T) {
	t.Helper()
	gomega.RegisterFailHandler(ginkgo.Fail)
	var plane *Plane
	kept := &evidence{title: s.Title}
	begun, failed := false, false
	used := &audit{title: s.Title, provoked: s.Provoked}
	ginkgo.BeforeSuite(func(ctx ginkgo.SpecContext) {
		plane = s.start(ctx, used)
		s.Begin(ctx, *plane)
		begun = true
	})
	ginkgo.JustAfterEach(func(ctx ginkgo.SpecContext) {
		if report := ginkgo.CurrentSpecReport(); report.Failed() {
			failed = true
			kept.saveState(ctx, plane, report.FullText())
		}
	})
	ginkgo.AfterSuite(func(ctx ginkgo.SpecContext) {
		if plane == nil {
			return // the start failed, and said why
		}
		ginkgo.DeferCleanup(func() { gomega.Expect(plane.Stop()).To(gomega.Succeed()) })
		sound := false
		defer func() {
			if !sound {
				kept.saveLogs(plane.LogDir())
			}
		}()
		if s.End != nil {
			s.End(ctx)
		}
		expectNoPanics(plane.LogDir())
		used.check(ctx, plane.Client)
		sound = begun && !failed
	})
	ginkgo.RunSpecs(t, s.Title)
	if kept.folder != "" {
		t.Logf("the logs and the last state are in %s", kept.folder)
	}
}

// start starts a control plane without Berth.
func (s Suite) start(ctx ginkgo.SpecContext, used *audit) *Plane {
	binDir, err := localplane.FindBinDir()
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	options := localplane.Options{BinDir: binDir}
	if s.Options != nil {
		s.Options(&options)
	}
	used.record(&options)
	plane := &Plane{}
	plane.ControlPlane, err = localplane.Start(ctx, options)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	plane.Client, err = kubernetes.NewForConfig(plane.Config())
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	plane.Berth, err = versioned.NewForConfig(plane.Config())
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return plane
}

func expectNoPanics(logDir string) {
	ginkgo.GinkgoHelper()
	logs, err := filepath.Glob(filepath.Join(logDir, "*.log"))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	for _, path := range logs {
		text, err := os.ReadFile(path)
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
		gomega.Expect(string(crash.Find(text))).To(gomega.BeEmpty(), path)
	}
}

// crash finds a panic in a log, whether it ended the process or was survived. The word alone is not
// one: the API server writes "panicked: false" of every request whose client has gone, and specs
// kill clients.
var crash = regexp.MustCompile(`(?m)^panic: .*|^.*Observed a panic.*`)
