// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/plugintest"
)

const (
	// offers is how many sets of volumes and devices there are: as pools, they travel through
	// informers.
	offers = 20
	// mostClaims is the number of claims in each set, and of copies that are counted.
	mostClaims = 6
)

// offer is a set of volumes, or of devices, for some nodes of beijing.
type offer struct {
	name    string
	devices bool
	// local are for one node each, zonal for the nodes of a zone.
	local, zonal int
	objects      []runtime.Object
}

// drawOffer draws a set. Its claims are those that pods of the scheduler name; the snapshot makes
// its own.
func drawOffer(t *rapid.T, number int) *offer {
	o := &offer{devices: number%2 == 0}
	if o.name = fmt.Sprint("disk", number); o.devices {
		o.name = fmt.Sprint("gpu", number)
	}
	for i := range rapid.IntRange(1, 8).Draw(t, "places") {
		zone := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "zone")
		at, node := on(corev1.LabelTopologyZone, zone), ""
		if o.zonal++; number%3 == 0 || number%3 == 1 && rapid.Bool().Draw(t, "local") {
			o.zonal--
			o.local++
			node = fmt.Sprint("beijing-", rapid.IntRange(0, 5).Draw(t, "node"))
			at = on(corev1.LabelHostname, node)
		}
		name := fmt.Sprintf("%s-%d", o.name, i)
		if o.devices {
			o.objects = append(o.objects, gpus(o.name, name, at, 1))
		} else {
			o.objects = append(o.objects, volume(name, o.name, at))
		}
	}
	return o
}

// claims are those of a set by number.
func (o *offer) claims() (list []runtime.Object) {
	for i := range mostClaims {
		if name := o.claim(i); o.devices {
			list = append(list, deviceClaim(name, o.name))
		} else {
			list = append(list, volumeClaim(name, o.name))
		}
	}
	return list
}

func (o *offer) claim(number int) string { return fmt.Sprintf("%s-claim-%d", o.name, number) }

// class is what the claims are made by.
func (o *offer) class() []runtime.Object {
	if o.devices {
		return []runtime.Object{deviceClass(o.name), claimTemplate(o.name)}
	}
	return []runtime.Object{delayed(o.name)}
}

// sample is a pod whose copies have claims of their own.
func (o *offer) sample(pod *corev1.Pod) *corev1.Pod {
	if o.devices {
		return withDevice(pod, corev1.PodResourceClaim{ResourceClaimTemplateName: &o.name})
	}
	return withEphemeral(pod, &o.name)
}

// using is the pod with a claim that is there.
func (o *offer) using(pod *corev1.Pod, claim string) *corev1.Pod {
	if o.devices {
		return withDevice(pod, corev1.PodResourceClaim{ResourceClaimName: &claim})
	}
	return withVolume(pod, claim)
}

// newClaimArena makes an arena with sets of volumes and devices.
func newClaimArena(t *testing.T) (*arena, []*offer) {
	t.Helper()
	common := []runtime.Object{delayed("probe"), volumeClaim("probe", "probe")}
	var list []*offer
	var claims []runtime.Object
	for number := range offers {
		o := rapid.Custom(func(rt *rapid.T) *offer { return drawOffer(rt, number) }).Example(number)
		list = append(list, o)
		common = append(common, slices.Concat(o.class(), o.objects)...)
		claims = append(claims, o.claims()...)
	}
	site := plugintest.Site("beijing")
	a := &arena{t: t, snapshot: snapshot(t, append(slices.Clone(common), site)...)}
	for _, claim := range claims {
		if err := a.snapshot.Put(claim); err != nil {
			t.Fatal(err)
		}
	}
	a.Scheduler = plugintest.New(t, []runtime.Object{site}, plugintest.WithKube(slices.Concat(common, claims)...))
	a.waitForClaims(len(claims) / 2)
	return a, list
}

// waitForClaims waits until the plugins know everything that there was at the start.
func (a *arena) waitForClaims(ofDevices int) {
	a.t.Helper()
	devices := a.Framework.SharedDRAManager()
	a.WaitFor("the devices", func() bool {
		claims, err := devices.ResourceClaims().List()
		return err == nil && len(claims) == ofDevices
	})
	// Volumes come in order: once one is known that was made later, all are.
	a.Add(plugintest.MakeNode("beijing", 0).Obj())
	pod, number := withVolume(plugintest.MakePod("probe").Obj(), "probe"), 0
	binder := a.volumeBinder()
	a.WaitFor("the volumes", func() bool {
		number++
		if err := a.Kube.Tracker().Add(volume(fmt.Sprint("probe-", number), "probe", on(corev1.LabelHostname, "beijing-0"))); err != nil {
			a.t.Fatal(err)
		}
		claims, err := binder.GetPodVolumeClaims(logr.Discard(), pod)
		if err != nil {
			return false
		}
		found, reasons, err := binder.FindPodVolumes(logr.Discard(), pod, claims, plugintest.MakeNode("beijing", 0).Obj())
		return err == nil && len(reasons) == 0 && len(found.StaticBindings) > 0
	})
	a.Remove(plugintest.MakeNode("beijing", 0).Obj())
}

func (a *arena) volumeBinder() volumebinding.SchedulerVolumeBinder {
	plugin, ok := a.plugin(volumebinding.Name).(*volumebinding.VolumeBinding)
	if !ok {
		a.t.Fatal("the profile has no VolumeBinding")
	}
	return plugin.Binder
}

func (a *arena) plugin(name string) fwk.Plugin {
	for _, plugin := range a.Framework.EnqueueExtensions() {
		if plugin.Name() == name {
			return plugin
		}
	}
	return nil
}

// TestTheSchedulerBindsWhatRoomPromisesOfClaims has the scheduler bind copies of pods that have
// claims of their own, of volumes or of devices. It binds as many as Room says, or more: where some
// places have what is for them alone, and others share, a node may use up what another one needs.
// Otherwise Room says exactly how many.
func TestTheSchedulerBindsWhatRoomPromisesOfClaims(t *testing.T) {
	a, list := newClaimArena(t)
	rapid.Check(t, func(rt *rapid.T) {
		a.worlds++
		nodes, o := drawZonedNodes(rt), rapid.SampledFrom(list).Draw(rt, "offer")
		cpus := strconv.Itoa(rapid.IntRange(1, 4).Draw(rt, "cpus"))
		pod := func(name string) *corev1.Pod {
			return plugintest.MakePod(name).Req(map[corev1.ResourceName]string{corev1.ResourceCPU: cpus}).Obj()
		}
		a.put(nodes...)
		defer a.forget(nodes, nodes)
		room, err := a.snapshot.Room(t.Context(), "beijing", o.sample(pod("sample")), mostClaims)
		if err != nil {
			rt.Fatal(err)
		}
		exact := o.local == 0 || o.zonal == 0
		for run := range runs {
			bound := a.hold(mostClaims, false, func(i int) *corev1.Pod {
				return o.using(pod(fmt.Sprintf("copy-%d-%d-%d", a.worlds, run, i)), o.claim(i))
			})
			if bound < room.Copies || exact && bound > room.Copies {
				rt.Fatalf("run %d of the scheduler binds %d copies, Room says %d: %s", run, bound, room.Copies, room.LimitedBy)
			}
		}
	})
}

// TestTheSchedulerBindsWhatRoomPromisesOfOneClaim has it bind copies that share one claim, which is
// bound to a place when the first of them gets a node. Of volumes or devices that suit alike the
// plugin takes any: where some serve one node and others several, it is luck whether there is room
// beyond that node, so Room counts on none.
func TestTheSchedulerBindsWhatRoomPromisesOfOneClaim(t *testing.T) {
	a, list := newClaimArena(t)
	rapid.Check(t, func(rt *rapid.T) {
		a.worlds++
		nodes, o := drawZonedNodes(rt), rapid.SampledFrom(list).Draw(rt, "offer")
		cpus := strconv.Itoa(rapid.IntRange(1, 4).Draw(rt, "cpus"))
		a.put(nodes...)
		defer a.forget(nodes, nodes)
		pod := func(name, claim string) *corev1.Pod {
			return o.using(plugintest.MakePod(name).Req(map[corev1.ResourceName]string{corev1.ResourceCPU: cpus}).Obj(), claim)
		}
		room, err := a.snapshot.Room(t.Context(), "beijing", pod("sample", o.claim(0)), mostClaims)
		if err != nil {
			rt.Fatal(err)
		}
		for run := range runs {
			claim := o.claim(0)
			if o.devices {
				claim = fmt.Sprintf("%s-%d-%d", o.name, a.worlds, run)
				a.claimDevice(deviceClaim(claim, o.name))
			}
			bound := a.hold(room.Copies, o.devices, func(i int) *corev1.Pod { return pod(fmt.Sprintf("copy-%d-%d-%d", a.worlds, run, i), claim) })
			if o.devices {
				a.releaseDevice(claim)
			}
			if bound < room.Copies {
				rt.Fatalf("run %d of the scheduler binds %d copies, Room says %d: %s", run, bound, room.Copies, room.LimitedBy)
			}
		}
	})
}

// hold has the scheduler reserve for copies of a pod until there are enough or one is refused, and
// give everything back. It returns how many there were. Of a claim of devices that they share the
// next one sees only what has been written.
func (a *arena) hold(enough int, write bool, copied func(number int) *corev1.Pod) int {
	a.t.Helper()
	writes, _ := a.plugin(dynamicresources.Name).(fwk.PreBindPlugin)
	var undo []func()
	for len(undo) < enough {
		pod := copied(len(undo))
		attempt := a.Try(pod)
		if attempt.Node == "" {
			a.Remove(pod)
			break
		}
		assumed := a.Assume(pod, attempt)
		if write {
			if status := writes.PreBind(a.Context(), attempt.State, assumed, attempt.Node); !status.IsSuccess() {
				a.t.Fatal(status.AsError())
			}
		}
		undo = append(undo, func() {
			a.Forget(assumed, attempt)
			a.Remove(pod)
		})
	}
	for _, step := range slices.Backward(undo) {
		step()
	}
	return len(undo)
}

// claimDevice makes a claim known to the scheduler.
func (a *arena) claimDevice(claim *resourcev1.ResourceClaim) {
	a.t.Helper()
	if err := a.Kube.Tracker().Add(claim); err != nil {
		a.t.Fatal(err)
	}
	a.WaitFor("a claim of devices", func() bool {
		_, err := a.Framework.SharedDRAManager().ResourceClaims().Get(claim.Namespace, claim.Name)
		return err == nil
	})
}

// releaseDevice deletes a claim, and waits until its devices are free.
func (a *arena) releaseDevice(name string) {
	a.t.Helper()
	err := a.Kube.Tracker().Delete(resourcev1.SchemeGroupVersion.WithResource("resourceclaims"), plugintest.Namespace, name, metav1.DeleteOptions{})
	if err != nil {
		a.t.Fatal(err)
	}
	claims := a.Framework.SharedDRAManager().ResourceClaims()
	a.WaitFor("the devices of a claim that is gone", func() bool {
		taken, err := claims.ListAllAllocatedDevices()
		return err == nil && taken.Len() == 0
	})
}
