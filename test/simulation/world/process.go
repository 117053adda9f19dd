// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/apis/config/scheme"
	manager "berth.dev/berth/cmd/controller-manager/app"
	scheduling "berth.dev/berth/cmd/scheduler/app"
	"berth.dev/berth/manifests"
	"berth.dev/berth/pkg/fence"
	"berth.dev/berth/pkg/minor"
)

// program is one that is to run in a world, one process after the other.
type program struct {
	// Name is that of the program and of its processes.
	Name string

	run runner
	// scheduler is true for those that end when they are told to.
	scheduler bool
	// starts is how many processes there have been, sent how often they have sent which request.
	starts  int
	sent    map[string]int
	current *process
	// held is until when nothing reaches the program, and nothing that it sends goes out; unrenewed
	// until when that is so of its lease.
	held, unrenewed time.Time
	// lags are how it hears of resources.
	lags map[string]lag
}

// runner is what a program does until its context ends.
type runner func(context.Context, *process) error

// process is a program that runs.
type process struct {
	world   *World
	program *program
	number  int
	stop    context.CancelFunc
	alive   bool
	began   time.Time
	// lease is the name of that which it needs to do anything.
	lease string
	// never is what the requests of a process wait for that is no more, so that nothing of it goes on.
	never chan struct{}
}

// The times of leases, those that the programs have by default.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// config returns how the process reaches the API server.
func (p *process) config(qps float32, burst int) *rest.Config {
	return &rest.Config{
		Host: "http://127.0.0.1:6443", Transport: &transport{p}, QPS: qps, Burst: burst,
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON, AcceptContentTypes: runtime.ContentTypeJSON},
	}
}

// start starts a program. If it ends by itself it is started anew.
func (w *World) start(program *program) {
	if program.current != nil && program.current.alive {
		return
	}
	ctx, stop := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	program.starts++
	p := &process{world: w, program: program, number: program.starts, stop: stop, alive: true, never: make(chan struct{}), began: time.Now()}
	program.current = p
	w.notef("%s starts", program.Name)
	go func() {
		err := program.run(ctx, p)
		w.mu.Lock()
		defer w.mu.Unlock()
		if p.alive {
			w.notef("%s ends: %v", program.Name, err)
			if w.fuzzed {
				w.violatef("%s has ended: %v", program.Name, err)
			}
			w.end(p)
			w.after(restartPause, func() { w.start(program) })
		}
	}()
}

// controllersName is that of the program that runs the controllers.
const controllersName = "controllers"

// restartPause is how long it takes to start a program again.
const restartPause = time.Second

// end cuts a process off from the world, as a SIGKILL does.
func (w *World) end(p *process) {
	p.alive = false
	if p.program.scheduler || w.fleet != nil {
		p.stop()
	}
	for _, c := range w.calls {
		if c.process == p {
			w.cut(c)
		}
	}
	for _, o := range w.streams {
		if o.call.process == p {
			o.body.Close()
		}
	}
}

// runScheduler is a berth-scheduler: what the program does, without what an operating system is
// needed for.
func runScheduler(name string) runner {
	return func(ctx context.Context, p *process) error {
		configuration, err := schedulerConfiguration()
		if err != nil {
			return err
		}
		kubeConfig := p.config(configuration.ClientConnection.QPS, int(configuration.ClientConnection.Burst))
		client, err := kubernetes.NewForConfig(kubeConfig)
		if err != nil {
			return err
		}
		lease, leaseNamespace := "berth-scheduler", berthv1alpha1.SystemNamespace
		own := scheduling.NewProcess(name)
		if name != "" {
			lease, leaseNamespace = berthv1alpha1.DefaultLeasePrefix+name, berthv1alpha1.DefaultLeaseNamespace
			own.State.ShareAs(name, berthv1alpha1.LeaseReference{Namespace: leaseNamespace, Name: lease})
		}
		informers := minor.NewInformerFactory(client)
		broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
		broadcaster.StartRecordingToSink(ctx.Done())
		defer broadcaster.Shutdown()
		sched, err := scheduler.New(ctx, client, informers, nil, profile.NewRecorderFactory(broadcaster),
			scheduler.WithKubeConfig(kubeConfig), scheduler.WithProfiles(configuration.Profiles...),
			scheduler.WithFrameworkOutOfTreeRegistry(own.State.Registry()),
			scheduler.WithPodMaxBackoffSeconds(configuration.PodMaxBackoffSeconds),
			scheduler.WithPodInitialBackoffSeconds(configuration.PodInitialBackoffSeconds),
			scheduler.WithParallelism(1))
		if err != nil {
			return fmt.Errorf("making the scheduler: %w", err)
		}
		election, err := p.election(lease, leaseNamespace)
		if err != nil {
			return err
		}
		own.Guard(election)
		own.Start(ctx, sched)
		p.count(sched)
		informers.Start(ctx.Done())
		informers.WaitForCacheSync(ctx.Done())
		if err := sched.WaitForHandlersSync(ctx); err != nil {
			return err
		}
		return p.lead(ctx, election, sched.Run)
	}
}

func schedulerConfiguration() (*schedulerconfig.KubeSchedulerConfiguration, error) {
	object, _, err := scheme.Codecs.UniversalDecoder().Decode(manifests.SchedulerConfiguration, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration of the scheduler: %w", err)
	}
	configuration, ok := object.(*schedulerconfig.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("the configuration of the scheduler is a %T", object)
	}
	return configuration, nil
}

// election returns that of a lease.
func (p *process) election(lease, namespace string) (*leaderelection.LeaderElectionConfig, error) {
	config := p.config(0, 0)
	config.Timeout = renewDeadline / 2
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	p.lease = lease
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, namespace, lease,
		client.CoreV1(), client.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: p.identity()})
	if err != nil {
		return nil, fmt.Errorf("making the lock: %w", err)
	}
	return &leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		ReleaseOnCancel: true, Name: lease,
	}, nil
}

// identity is what the process calls itself in its lease.
func (p *process) identity() string {
	return fmt.Sprintf("%s_00000000-0000-4000-8000-%012d", p.program.Name, p.number)
}

// lead runs what only the leader may until the lease is lost, as kube-scheduler does.
func (p *process) lead(ctx context.Context, election *leaderelection.LeaderElectionConfig, run func(context.Context)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	election.Callbacks = leaderelection.LeaderCallbacks{
		OnStartedLeading: run, OnStoppedLeading: func() {},
		OnNewLeader: func(string) {},
	}
	elector, err := leaderelection.NewLeaderElector(*election)
	if err != nil {
		return fmt.Errorf("making the election: %w", err)
	}
	elector.Run(ctx)
	return errLeaseLost
}

const errLeaseLost = connectionError("the lease is lost")

// runControllers is a berth-controller-manager. The lease is kept from outside: the manager of
// controller-runtime can be told to end only once it has started, and the program exits anyway.
func runControllers(ctx context.Context, p *process) error {
	election, err := p.election("berth-controller-manager", berthv1alpha1.SystemNamespace)
	if err != nil {
		return err
	}
	election.Lock = fence.NewLasting(election.Lock)
	options := manager.NewOptions()
	options.LeaderElect, options.MetricsBindAddress, options.HealthProbeBindAddress = false, "0", "0"
	if p.world.fleet != nil {
		options.Metrics.Interval = measured
	}
	ended := make(chan error, 1)
	lost := make(chan error, 1)
	go func() {
		lost <- p.lead(ctx, election, func(ctx context.Context) {
			if p.world.fleet == nil { // which runs for so long that what has ended must not stay in memory
				ctx = context.WithoutCancel(ctx)
			}
			ended <- manager.Run(ctx, options, p.config(options.KubeAPIQPS, options.KubeAPIBurst))
		})
	}()
	select {
	case err := <-ended:
		return err
	case err := <-lost:
		return err
	}
}
