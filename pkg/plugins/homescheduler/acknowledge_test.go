// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package homescheduler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/generated/clientset/versioned/fake"
	"berth.dev/berth/pkg/plugins/homescheduler"
	"berth.dev/berth/pkg/plugins/internal/catalog"
	"berth.dev/berth/pkg/plugins/internal/takeover"
	"berth.dev/berth/pkg/plugins/internal/view"
	"berth.dev/berth/pkg/plugintest"
)

type nowhere struct{}

func (nowhere) ClusterOf(string, map[string]string) (string, bool) { return "", false }

// complaints are the errors that a process has logged.
type complaints struct {
	mu    sync.Mutex
	texts []string
}

// about returns how many contain a text.
func (c *complaints) about(text string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.texts {
		if strings.Contains(one, text) {
			n++
		}
	}
	return n
}

// runs lets a process be scheduler a of the Schedulers and Clusters of an API server.
func runs(t *testing.T, client *fake.Clientset, pods *kubefake.Clientset) *complaints {
	t.Helper()
	shared := homescheduler.NewShared("a", clock.RealClock{})
	var err error
	shared.Catalog, err = catalog.NewHomeCatalog(client, "a", clock.RealClock{}, time.Minute, func(_, _ *catalog.Homes) {})
	if err != nil {
		t.Fatal(err)
	}
	shared.Membership = func() view.Membership { return nowhere{} }
	shared.Late = takeover.NewLate()
	shared.Late.Skip()
	leader := fence.New()
	leader.KeepOpen()
	c := &complaints{}
	logger := funcr.New(func(_, text string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.texts = append(c.texts, text)
	}, funcr.Options{})
	ctx, stop := context.WithCancel(klog.NewContext(t.Context(), logger))
	done := make(chan struct{})
	go func() {
		defer close(done)
		shared.Run(ctx, &homescheduler.Background{
			Client: pods, Berth: client, Fence: leader,
			Node: func(string) *corev1.Node { return nil }, Waiting: func() []*corev1.Pod { return nil }, Wake: func([]*corev1.Pod) {},
		})
	}()
	t.Cleanup(func() { stop(); <-done })
	return c
}

const (
	cannotAcknowledge = "Cannot acknowledge that clusters are drained"
	cannotRead        = "Cannot read what runs on clusters that came to this scheduler"
)

func acknowledged(t *testing.T, client *fake.Clientset) []string {
	t.Helper()
	a, err := client.BerthV1alpha1().Schedulers().Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range a.Status.Drained {
		names = append(names, d.Cluster)
	}
	return names
}

// In another order it would be another acknowledgement, written time and again.
func TestWhatIsGivenUpIsAcknowledgedInOrder(t *testing.T) {
	objects, want := []runtime.Object{shard("a", nil), shard("b", nil)}, []string{}
	for i := range 8 {
		c := bound(fmt.Sprint("cluster-", i), "a", 2)
		c.Status.HomeTransfer = &berthv1alpha1.HomeTransfer{To: "b"}
		objects, want = append(objects, c), append(want, c.Name)
	}
	client := fake.NewSimpleClientset(objects...)
	c := runs(t, client, kubefake.NewClientset())
	plugintest.WaitFor(t, "the acknowledgements", func() bool { return len(acknowledged(t, client)) == len(want) })
	if diff := cmp.Diff(want, acknowledged(t, client)); diff != "" {
		t.Errorf("acknowledged (-want +got):\n%s", diff)
	}
	if n := c.about(cannotAcknowledge); n > 0 {
		t.Errorf("it complained %d times", n)
	}
}

func TestAnAcknowledgementThatFailsIsToldAndTriedAgain(t *testing.T) {
	drain := bound("cluster", "a", 2)
	drain.Status.HomeTransfer = &berthv1alpha1.HomeTransfer{To: "b"}
	client := fake.NewSimpleClientset(shard("a", nil), shard("b", nil), drain)
	var up atomic.Bool
	client.PrependReactor("patch", "schedulers", func(clienttesting.Action) (bool, runtime.Object, error) {
		return !up.Load(), nil, errors.New("unreachable")
	})
	c := runs(t, client, kubefake.NewClientset())
	plugintest.WaitFor(t, "two complaints", func() bool { return c.about(cannotAcknowledge) > 1 })
	up.Store(true)
	plugintest.WaitFor(t, "the acknowledgement", func() bool { return len(acknowledged(t, client)) == 1 })
}

// Who reads all pods of a large installation in vain must not do so all the time.
func TestPodsThatCannotBeReadAreToldOfOnceASecond(t *testing.T) {
	client, pods := fake.NewSimpleClientset(shard("a", nil), shard("b", nil), bound("cluster", "a", 2)), kubefake.NewClientset()
	var read atomic.Int64
	pods.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		read.Add(1)
		return true, nil, errors.New("unreachable")
	})
	began := time.Now()
	c := runs(t, client, pods)
	plugintest.WaitFor(t, "two attempts", func() bool { return read.Load() > 1 })
	if took := time.Since(began); took < time.Second {
		t.Errorf("two attempts within %v", took)
	}
	plugintest.WaitFor(t, "two complaints", func() bool { return c.about(cannotRead) > 1 })
}

// To read all pods of a large installation takes minutes, and who is alone knows what runs there.
func TestAsLongAsASchedulerIsAloneItReadsNoPods(t *testing.T) {
	gives := &berthv1alpha1.Commons{Draining: true, Revision: 5}
	client, pods := fake.NewSimpleClientset(shard("a", gives), bound("cluster", "a", 2)), kubefake.NewClientset()
	runs(t, client, pods)
	acknowledges := func(count int) {
		t.Helper()
		plugintest.WaitFor(t, "the acknowledgement", func() bool { return len(acknowledged(t, client)) == count })
	}
	for revision := int64(6); revision < 10; revision += 2 { // each step waits for a round or more
		acknowledges(1)
		setCommons(t, client, &berthv1alpha1.Commons{Revision: revision})
		acknowledges(0)
		setCommons(t, client, &berthv1alpha1.Commons{Draining: true, Revision: revision + 1})
	}
	acknowledges(1)
	if n := lists(pods.Actions(), "pods"); n > 0 {
		t.Errorf("pods were read %d times", n)
	}
	if _, err := client.BerthV1alpha1().Schedulers().Create(t.Context(), shard("b", nil), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	plugintest.WaitFor(t, "pods to be read beside another one", func() bool { return lists(pods.Actions(), "pods") > 0 })
}

// setCommons writes what scheduler a has of what belongs to no cluster.
func setCommons(t *testing.T, client *fake.Clientset, commons *berthv1alpha1.Commons) {
	t.Helper()
	schedulers := client.BerthV1alpha1().Schedulers()
	a, err := schedulers.Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a.Status.Commons = commons
	if _, err := schedulers.UpdateStatus(t.Context(), a, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}
