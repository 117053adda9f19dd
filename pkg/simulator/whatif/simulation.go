// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
	"berth.dev/berth/pkg/simulator"
	"berth.dev/berth/pkg/simulator/defaults"
)

// maxPods is how many pods a Simulation makes at most.
const maxPods = 50_000

// Options are what a Simulation needs beside objects.
type Options struct {
	// Profile is that of Berth's scheduler.
	Profile *simulator.Profile
	// Schedulers are the names of the schedulers that Berth's plugins run in, the default one
	// first.
	Schedulers []string
	// Adopt reports whether the pods of a workload count as Berth's though they name another
	// scheduler; nil for none.
	Adopt func(namespace, name string) bool
}

// Simulation is a cluster in which nothing happens but what Settle does. It is not safe for
// concurrent use.
type Simulation struct {
	options  Options
	snapshot *simulator.Snapshot
	server   *defaults.Server
	quotas   *quotas

	// objects are all that is not a pod. Berth's own are given to the snapshot when some of them
	// have changed.
	objects map[id]object
	stale   bool
	// pods are those that have not finished, by name and by the UID of their controller.
	pods    map[types.NamespacedName]*corev1.Pod
	byOwner map[types.UID]map[string]*corev1.Pod
	// serial is when a pod was made, and made how many were.
	serial map[types.UID]int
	made   int

	// version counts the changes, tried when a pod was last tried in vain, and classes when the
	// pods of a class were.
	version int
	tried   map[types.UID]verdict
	classes map[class]verdict
	// refused are the pods that the API server did not let be made, by their controller.
	refused map[types.UID]refusal
	evicted []Eviction
	// draining are the pods to be evicted from nodes, by UID, until they are gone.
	draining map[types.UID]bool
	// budgets are the PodDisruptionBudgets.
	budgets map[types.NamespacedName]*budget
	// priorities count the pods by priority.
	priorities map[int32]int
	// attached are the VolumeAttachments of each node, by name.
	attached map[string]map[string]*storagev1.VolumeAttachment
	// policies are compiled.
	policies modelpolicy.Set
	// owners look up owners of operators' kinds; nil takes references to them at their word.
	owners workload.FurtherSource
	// nowhere are the Applications that no cluster suits.
	nowhere []nowhere
	// held are the reasons why misplaced pods stay, by the UID of their workload.
	held map[types.UID]string
	// stuck is how many of their pods found no node before any was moved.
	stuck map[types.UID]int
}

// id is what no two objects have in common.
type id struct {
	schema.GroupKind
	types.NamespacedName
}

func (i id) String() string {
	if i.Namespace == "" {
		return fmt.Sprintf("%s %s", i.Kind, i.Name)
	}
	return fmt.Sprintf("%s %s/%s", i.Kind, i.Namespace, i.Name)
}

func compare(a, b id) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Group, b.Group),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// verdict is what came of an attempt to schedule a pod.
type verdict struct {
	version int
	reasons string
}

// refusal is a pod that was not made.
type refusal struct {
	missing int
	reason  string
}

// New returns an empty Simulation. Close ends it.
func New(options Options) (*Simulation, error) {
	if !options.Profile.Enables(nodegrouppolicy.Name) {
		return nil, fmt.Errorf("the scheduler's configuration has no profile of Berth: that of %s does not enable %s",
			strings.Join(options.Schedulers, " or "), nodegrouppolicy.Name)
	}
	snapshot, err := simulator.New(options.Profile, clock.RealClock{})
	if err != nil {
		return nil, err
	}
	server, err := defaults.New()
	if err != nil {
		snapshot.Close()
		return nil, err
	}
	return &Simulation{
		options: options, snapshot: snapshot, server: server, quotas: newQuotas(), objects: map[id]object{},
		pods: map[types.NamespacedName]*corev1.Pod{}, byOwner: map[types.UID]map[string]*corev1.Pod{},
		serial: map[types.UID]int{}, tried: map[types.UID]verdict{}, classes: map[class]verdict{},
		refused: map[types.UID]refusal{}, held: map[types.UID]string{}, stuck: map[types.UID]int{}, stale: true,
		draining: map[types.UID]bool{}, priorities: map[int32]int{}, budgets: map[types.NamespacedName]*budget{},
		attached: map[string]map[string]*storagev1.VolumeAttachment{},
	}, nil
}

// Close ends what the plugins may have begun.
func (s *Simulation) Close() { s.snapshot.Close() }

// maxRounds bounds how often those who decide take turns. A round moves a pod at least, so that
// many do for any cluster that comes to rest.
const maxRounds = 10_000

// Settle lets everybody decide until nothing changes.
func (s *Simulation) Settle(ctx context.Context) error {
	turns := []func(context.Context) error{
		s.spread, s.weigh, s.follow, s.place, s.runControllers, s.divide, s.schedule, s.overflow, s.rebalance, s.drain,
	}
	for range maxRounds {
		before := s.version
		for _, turn := range turns {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := turn(ctx); err != nil {
				return err
			}
			if err := s.refresh(); err != nil {
				return err
			}
		}
		if s.version == before {
			return nil
		}
	}
	return fmt.Errorf("it does not come to rest: something still changes after %d rounds", maxRounds)
}

// kept returns the objects of a Go type, in the order of their names.
func kept[T object](s *Simulation) []T {
	var ids []id
	for i, o := range s.objects {
		if _, is := o.(T); is {
			ids = append(ids, i)
		}
	}
	slices.SortFunc(ids, compare)
	found := make([]T, len(ids))
	for i := range ids {
		found[i], _ = s.objects[ids[i]].(T)
	}
	return found
}
