// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plugintest runs Berth's plugins in the real scheduler, without an API server and one step
// at a time. A test says which nodes, owners, Clusters and policies there are, sends pods through
// scheduling cycles in the order it likes, and looks at the result. Nothing happens in the
// background that a test did not ask for, except that Clusters and policies travel through the
// informers of a fake client.
package plugintest

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/apis/config/scheme"
	"berth.dev/berth/pkg/fence"
	berthfake "berth.dev/berth/pkg/generated/clientset/versioned/fake"
	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/minor"
	"berth.dev/berth/pkg/plugins"
	"berth.dev/berth/pkg/plugins/clusterresource"
	"berth.dev/berth/pkg/plugins/feedinventory"
	"berth.dev/berth/pkg/plugins/homescheduler"
	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
)

// Timeout is how long tests wait for what happens in the background, in milliseconds on an idle
// machine.
const Timeout = 30 * time.Second

// pollInterval is how often they look.
const pollInterval = 2 * time.Millisecond

// Profile is the name of the profile, and with it of the scheduler, in tests.
const Profile = "berth-scheduler"

// Configuration is the part of the shipped configuration that matters to the plugins.
const Configuration = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: berth-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: HomeScheduler
      - name: NodeGroupPolicy
        weight: 10
      - name: ClusterResource
      - name: ClusterMetrics
        weight: 20
      - name: FeedInventory
    preFilter:
      enabled:
      - name: HomeScheduler
      - name: NodeGroupPolicy
      - name: ClusterResource
      - name: ClusterMetrics
    filter:
      enabled:
      - name: HomeScheduler
      - name: NodeGroupPolicy
      - name: ClusterResource
      - name: ClusterMetrics
    postFilter:
      enabled:
      - name: HomeScheduler
      - name: NodeGroupPolicy
      - name: ClusterResource
    bind:
      disabled:
      - name: "*"
      enabled:
      - name: BerthBinder
  pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints: []
  - name: NodeResourcesFit
    args:
      ignoredResourceGroups: [cluster-resource.berth.dev]
`

// StockConfiguration is what the default scheduler uses.
const StockConfiguration = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: berth-scheduler
`

// Scheduler is a scheduler that schedules when it is told to.
type Scheduler struct {
	*scheduler.Scheduler

	// Framework runs the plugins of the profile.
	Framework framework.Framework
	// Kube is the API server as far as pods and owners go. Bindings are carried out, see Bindings.
	Kube *kubefake.Clientset
	// Berth is the API server as far as Clusters and policies go.
	Berth *berthfake.Clientset
	// State is what the plugins share.
	State *plugins.State
	// Fence is open from the start.
	Fence *fence.Fence
	// Informers are started and in sync. Tests may put objects straight into their indexers.
	Informers informers.SharedInformerFactory

	tb       testing.TB
	stop     context.CancelFunc
	watches  *watches
	bindings *bindings
	extra    frameworkruntime.Registry
	config   string
	held     bool
	standby  bool
	ring     *history.Ring

	kubeConfig *rest.Config
	name       string
}

// Option changes what New makes.
type Option func(*Scheduler)

// WithConfiguration takes another KubeSchedulerConfiguration, of which the first profile counts.
func WithConfiguration(yaml string) Option {
	return func(s *Scheduler) { s.config = yaml }
}

// WithPlugin adds a plugin that the configuration may enable.
func WithPlugin(name string, factory frameworkruntime.PluginFactory) Option {
	return func(s *Scheduler) { s.extra[name] = factory }
}

// WithBerth takes a client of Berth's kinds on which the test has put reactors. The objects of New
// go to it as well.
func WithBerth(client *berthfake.Clientset) Option {
	return func(s *Scheduler) { s.Berth = client }
}

// WithKube starts with objects at the API server, which the informers know from the start. Unlike
// what Add makes known, they reach the caches that the stock plugins keep of volumes and devices.
func WithKube(objects ...runtime.Object) Option {
	return func(s *Scheduler) { s.Kube = kubefake.NewSimpleClientset(objects...) }
}

// WithKubeConfig lets the plugins make the client of Berth's kinds from the scheduler's kubeconfig.
func WithKubeConfig(config *rest.Config) Option {
	return func(s *Scheduler) { s.kubeConfig = config }
}

// Named makes it one of several schedulers.
func Named(name string) Option {
	return func(s *Scheduler) { s.name = name }
}

// Remembering has the scheduler remember its decisions.
func Remembering(ring *history.Ring) Option {
	return func(s *Scheduler) { s.ring = ring }
}

// Held keeps Clusters and policies from being read until Release is called.
func Held() Option {
	return func(s *Scheduler) { s.held = true }
}

// Standby lets the process wait for its lease: a test that opens its Fence has it lead.
func Standby() Option {
	return func(s *Scheduler) { s.standby = true }
}

// New returns a scheduler that knows the objects: Clusters, policies, nodes, owners of pods, and
// pods, which must be bound. It stops at the end of the test.
func New(tb testing.TB, objects []runtime.Object, options ...Option) *Scheduler {
	tb.Helper()
	// The other kind of client parses the schemas of everything that there is for each scheduler.
	s := &Scheduler{
		Kube: kubefake.NewSimpleClientset(), Berth: berthfake.NewSimpleClientset(), Fence: fence.New(),
		tb: tb, watches: &watches{}, bindings: &bindings{}, extra: frameworkruntime.Registry{}, config: Configuration,
	}
	for _, option := range options {
		option(s)
	}
	s.Kube.PrependReactor("create", "pods", s.bindings.react)
	s.Kube.PrependWatchReactor("*", s.watches.reactor(s.Kube.Tracker()))
	s.Berth.PrependWatchReactor("*", s.watches.reactor(s.Berth.Tracker()))
	if !s.standby {
		s.Fence.KeepOpen()
	}
	if s.State = plugins.NewState(s.Fence, s.Berth); s.kubeConfig != nil {
		s.State = plugins.NewState(s.Fence, nil)
	}
	s.State.History = history.NewBackground(s.ring)
	s.State.ShareAs(s.name, berthv1alpha1.LeaseReference{Namespace: berthv1alpha1.DefaultLeaseNamespace, Name: berthv1alpha1.DefaultLeasePrefix + s.name})
	ctx, stop := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	s.stop = stop
	tb.Cleanup(stop)
	s.start(ctx)
	s.Add(objects...)
	if !s.held {
		s.Release()
	}
	return s
}

// Stop ends what runs in the background, before the end of the test.
func (s *Scheduler) Stop() {
	s.stop()
}

func (s *Scheduler) start(ctx context.Context) {
	s.tb.Helper()
	maps.Copy(s.extra, s.State.Registry())
	s.Informers = minor.NewInformerFactory(s.Kube)
	recorder := profile.NewRecorderFactory(events.NewBroadcaster(&events.EventSinkImpl{Interface: s.Kube.EventsV1()}))
	var err error
	s.Scheduler, err = scheduler.New(ctx, s.Kube, s.Informers, nil, recorder,
		scheduler.WithProfiles(Profiles(s.tb, s.config)...), scheduler.WithFrameworkOutOfTreeRegistry(s.extra),
		scheduler.WithParallelism(2), scheduler.WithKubeConfig(s.kubeConfig))
	if err != nil {
		s.tb.Fatalf("making the scheduler: %v", err)
	}
	s.State.Follow(s.Scheduler)
	s.Framework = s.Profiles[Profile]
	s.Informers.Start(ctx.Done())
	s.Informers.WaitForCacheSync(ctx.Done())
	if err := s.WaitForHandlersSync(ctx); err != nil {
		s.tb.Fatalf("waiting for the informers: %v", err)
	}
	s.WaitFor("the watches of pods and owners", s.watches.opened(s.informed()...))
}

// informed names the resources that the informers watch and tests change.
func (s *Scheduler) informed() []string {
	if !strings.Contains(s.config, nodegrouppolicy.Name) {
		return []string{"pods", "nodes"}
	}
	return []string{"pods", "nodes", "deployments", "replicasets", "statefulsets", "jobs", "cronjobs", "replicationcontrollers"}
}

// Release lets Clusters and policies be read, and waits until they have been.
func (s *Scheduler) Release() {
	s.tb.Helper()
	s.Watch()
	s.Ready()
}

// Ready waits until what Watch has begun has read everything.
func (s *Scheduler) Ready() {
	s.tb.Helper()
	s.WaitFor("the watches of Clusters and policies", s.watches.opened("clusters", "propagationpolicies"))
	if strings.Contains(s.config, feedinventory.Name) {
		s.WaitFor("the watch of Subscriptions", s.watches.opened("subscriptions"))
	}
	if strings.Contains(s.config, homescheduler.Name) {
		s.WaitFor("the watches of Schedulers and homes", s.watches.opened("schedulers", "clusters", "clusters"))
	}
	own := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Labels: map[string]string{berthv1alpha1.HomeSchedulerLabel: s.name}, Annotations: map[string]string{berthv1alpha1.PolicyAnnotation: "any"},
	}}
	s.WaitFor("Clusters and policies", func() bool { return s.PreEnqueue(own).IsSuccess() })
	if strings.Contains(s.config, clusterresource.Name) {
		s.WaitFor("the watch of ClusterResources", s.watches.opened("clusterresources"))
		asks := st.MakePod().Label(berthv1alpha1.HomeSchedulerLabel, s.name).Annotation("pod.alpha.kubernetes.io/cluster-resource-x", "1").Obj()
		s.WaitFor("ClusterResources", func() bool { return s.PreEnqueue(asks).IsSuccess() })
	}
}

// Watch lets Clusters and policies be read. It returns at once.
func (s *Scheduler) Watch() {
	s.tb.Helper()
	ctx, stop := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	s.tb.Cleanup(stop)
	old := s.stop
	s.stop = func() {
		stop()
		old()
	}
	go s.State.Run(ctx)
}

// WaitFor waits until the condition holds, and ends the test if it does not within Timeout.
func (s *Scheduler) WaitFor(what string, condition func() bool) {
	s.tb.Helper()
	WaitFor(s.tb, what, condition)
}

// WaitFor waits until the condition holds, and ends the test if it does not within Timeout.
func WaitFor(tb testing.TB, what string, condition func() bool) {
	tb.Helper()
	err := wait.PollUntilContextTimeout(context.Background(), pollInterval, Timeout, true,
		func(context.Context) (bool, error) { return condition(), nil })
	if err != nil {
		tb.Fatalf("still waiting for %s after %s", what, Timeout)
	}
}

// Profiles reads the profiles of a KubeSchedulerConfiguration as the scheduler does.
func Profiles(tb testing.TB, yaml string) []schedulerconfig.KubeSchedulerProfile {
	tb.Helper()
	object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(yaml), nil, nil)
	if err != nil {
		tb.Fatalf("decoding the configuration: %v", err)
	}
	configuration, ok := object.(*schedulerconfig.KubeSchedulerConfiguration)
	if !ok {
		tb.Fatalf("the configuration is a %T", object)
	}
	return configuration.Profiles
}
