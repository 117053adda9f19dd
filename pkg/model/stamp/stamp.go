// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package stamp reads and writes what Berth notes on a pod when it binds it: that it did and, if a
// policy placed the pod, which one, in which cluster, on which seat, and what that makes its
// deletion cost.
package stamp

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rebalance"
)

// NoSeat is the seat of a pod that was placed beyond the share of its cluster.
const NoSeat = -1

// Stamp is what Berth notes on a pod that a policy placed.
type Stamp struct {
	// Policy is the name of the PropagationPolicy, in the namespace of the pod.
	Policy string
	// Cluster is the name of the Cluster; empty if the pod runs in none, which ScheduleAnyway allows.
	Cluster string
	// Seat is the number in the seat order of the workload, from 0, that the pod was given, or
	// NoSeat. The number that belongs to the pod can be another one since, because others came or
	// went; the order of the pods is as it should be all the same.
	Seat int32
	// Beyond, from 0 to 999, puts the pod between those with this seat and the next one: so many
	// thousandths of the way.
	Beyond int32
}

// At returns the stamp with another place.
func (s Stamp) At(place rebalance.Place) Stamp {
	if s.Seat, s.Beyond = NoSeat, 0; place != rebalance.NoPlace {
		s.Seat, s.Beyond = int32(place/rebalance.Spacing), int32(place%rebalance.Spacing)
	}
	return s
}

// place returns the place that the seat gives the pod.
func (s Stamp) place() rebalance.Place {
	place := rebalance.PlaceOf(s.Seat)
	if place == rebalance.NoPlace {
		return place
	}
	return place + min(rebalance.Place(s.Beyond), rebalance.MaxPlace-place)
}

// PlaceOf returns the place of the stamped pod by its deletion cost. Unless that is Berth's own, it
// is the one that belongs to the seat.
func (s Stamp) PlaceOf(pod *corev1.Pod) rebalance.Place {
	if s.dense(pod) {
		return rebalance.Place(s.Seat)
	}
	return s.place()
}

// dense reports whether the deletion cost of a stamped pod is minus the seat, as versions of Berth
// wrote it that knew no places between two seats.
func (s Stamp) dense(pod *corev1.Pod) bool {
	return s.Seat != NoSeat && s.Beyond == 0 && pod.Annotations[corev1.PodDeletionCost] == strconv.Itoa(-int(s.Seat))
}

// Of returns the stamp of a pod. It is false unless a policy placed the pod and it carries a stamp
// that was made for this pod on this node, so a copied stamp is none.
func Of(pod *corev1.Pod) (Stamp, bool) {
	policy := pod.Annotations[berthv1alpha1.PlacedPolicyAnnotation]
	if policy == "" || !madeFor(pod) {
		return Stamp{}, false
	}
	s := Stamp{Policy: policy, Cluster: pod.Annotations[berthv1alpha1.PlacedClusterAnnotation]}
	s.Seat, s.Beyond = parseSeat(pod.Annotations[berthv1alpha1.SeatAnnotation])
	return s, true
}

// Blank reports whether a stamp can be written on a bound pod that carries none: it would make what
// somebody has copied onto the pod count, such as charges.
func Blank(pod *corev1.Pod) bool {
	_, charged := pod.Annotations[berthv1alpha1.ChargedAnnotation]
	_, granted := pod.Annotations[berthv1alpha1.GranteeAnnotation]
	return madeFor(pod) || !charged && !granted
}

// madeFor reports whether what Berth noted on the pod was noted for this pod on its node.
func madeFor(pod *corev1.Pod) bool {
	uid, node, found := strings.Cut(pod.Annotations[berthv1alpha1.PlacedByAnnotation], "/")
	return found && types.UID(uid) == pod.UID && node == pod.Spec.NodeName && node != ""
}

// IsBerths reports whether a pod is Berth's: it carries a stamp, or asks for one of Berth's
// schedulers.
func IsBerths(pod *corev1.Pod, schedulers []string) bool {
	if slices.Contains(schedulers, pod.Spec.SchedulerName) {
		return true
	}
	_, stamped := Of(pod)
	return stamped
}

// Mark returns what the Binding of a pod to the node must carry that was given nothing: that Berth
// bound it, so that a policy which comes later can take the pod over.
func Mark(pod *corev1.Pod, node string) map[string]string {
	return map[string]string{berthv1alpha1.PlacedByAnnotation: placedBy(pod, node)}
}

func placedBy(pod *corev1.Pod, node string) string {
	return string(pod.UID) + "/" + node
}

// Annotations returns what a Binding of the pod to the node must carry. The deletion cost is among
// them unless the pod template set one of its own.
func (s Stamp) Annotations(pod *corev1.Pod, node string) map[string]string {
	annotations := map[string]string{
		berthv1alpha1.PlacedByAnnotation:     placedBy(pod, node),
		berthv1alpha1.PlacedPolicyAnnotation: s.Policy,
		berthv1alpha1.PolicyAnnotation:       s.Policy,
	}
	if s.Cluster != "" {
		annotations[berthv1alpha1.PlacedClusterAnnotation] = s.Cluster
	}
	if s.Seat != NoSeat {
		annotations[berthv1alpha1.SeatAnnotation] = s.SeatText()
	}
	if _, own := pod.Annotations[corev1.PodDeletionCost]; !own {
		annotations[corev1.PodDeletionCost] = s.DeletionCost()
	}
	return annotations
}

// Labels returns the labels of a pod that go with the annotations of its stamp, nil if there are
// none. A name of a Cluster that is too long for a label makes none.
func Labels(annotations map[string]string) map[string]string {
	cluster := annotations[berthv1alpha1.PlacedClusterAnnotation]
	if cluster == "" || len(cluster) > validation.LabelValueMaxLength {
		return nil
	}
	return map[string]string{berthv1alpha1.ClusterLabel: cluster}
}

// Relabelled returns the labels of a pod that are not as they should be once the changes are made
// to its annotations; nil stands for an annotation, or a label, to be removed.
func Relabelled(pod *corev1.Pod, changes map[string]any) map[string]any {
	after := map[string]string{berthv1alpha1.PlacedClusterAnnotation: pod.Annotations[berthv1alpha1.PlacedClusterAnnotation]}
	if change, changed := changes[berthv1alpha1.PlacedClusterAnnotation]; changed {
		after[berthv1alpha1.PlacedClusterAnnotation], _ = change.(string)
	}
	value, want := Labels(after)[berthv1alpha1.ClusterLabel]
	got, found := pod.Labels[berthv1alpha1.ClusterLabel]
	switch {
	case got == value && found == want:
		return nil
	case !want:
		return map[string]any{berthv1alpha1.ClusterLabel: nil}
	}
	return map[string]any{berthv1alpha1.ClusterLabel: value}
}

// DeletionCost is the value of the annotation controller.kubernetes.io/pod-deletion-cost that
// belongs to the seat: minus its thousandfold, so that a ReplicaSet that shrinks deletes the
// highest seats first, and there are costs for pods that come between two seats. A pod without a
// seat goes before all others.
func (s Stamp) DeletionCost() string {
	if s.Seat == NoSeat {
		return strconv.Itoa(math.MinInt32)
	}
	return strconv.Itoa(-int(s.place()))
}

// OwnsDeletionCost reports whether the deletion cost of a stamped pod is the one Berth wrote, in
// this version or an earlier one. A cost that differs from the seat's was set by the user and is
// left alone.
func (s Stamp) OwnsDeletionCost(pod *corev1.Pod) bool {
	return pod.Annotations[corev1.PodDeletionCost] == s.DeletionCost() || s.dense(pod)
}

// DenseCost returns the deletion cost that versions of Berth which knew no places between two seats
// gave a pod for its seat. Between two seats they read no seat. It is false unless the pod has
// another cost, and has that from Berth.
func (s Stamp) DenseCost(pod *corev1.Pod) (string, bool) {
	dense := Stamp{Seat: NoSeat}.DeletionCost()
	if s.Seat != NoSeat && s.Beyond == 0 {
		dense = strconv.Itoa(-int(s.Seat))
	}
	return dense, s.OwnsDeletionCost(pod) && pod.Annotations[corev1.PodDeletionCost] != dense
}

// ParseDeletionCost reads the value of a pod's deletion cost as the ReplicaSet controller does:
// what is not a 32-bit number counts as 0.
func ParseDeletionCost(text string) int64 {
	cost, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return cost
}

// SeatText is the value of the annotation berth.dev/seat: the seat, with up to three decimals if
// the pod stands between two seats; empty without a seat.
func (s Stamp) SeatText() string {
	switch {
	case s.Seat == NoSeat:
		return ""
	case s.Beyond == 0:
		return strconv.Itoa(int(s.Seat))
	}
	return strings.TrimRight(fmt.Sprintf("%d.%03d", s.Seat, s.Beyond), "0")
}

// parseSeat reads what SeatText writes. What is anything else is no seat.
func parseSeat(text string) (seat, beyond int32) {
	whole, decimals, split := strings.Cut(text, ".")
	seat, ok := parseDigits(whole, len("2147483647"))
	if !ok {
		return NoSeat, 0
	}
	if !split {
		return seat, 0
	}
	if beyond, ok = parseDigits(decimals, 3); !ok {
		return NoSeat, 0
	}
	for range 3 - len(decimals) {
		beyond *= 10
	}
	return seat, beyond
}

// parseDigits reads a number that is not negative, of so many digits at most.
func parseDigits(text string, most int) (int32, bool) {
	if text == "" || len(text) > most || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	number, err := strconv.ParseInt(text, 10, 32)
	return int32(number), err == nil
}

// Settlement is a merge patch that changes a pod, so that no Binding can land any more that carries
// the version of the pod from before. The value must be one that was never used: a patch that
// changes nothing does not move the version.
func Settlement(pod types.UID, value string) []byte {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": pod, "annotations": map[string]string{berthv1alpha1.SettledAnnotation: value},
	}})
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return patch
}

// Written reports whether the annotation is one that only Berth writes on pods.
func Written(key string) bool {
	switch key {
	case berthv1alpha1.PlacedByAnnotation, berthv1alpha1.PlacedPolicyAnnotation, berthv1alpha1.PlacedClusterAnnotation,
		berthv1alpha1.SeatAnnotation, berthv1alpha1.ChargedAnnotation, berthv1alpha1.GranteeAnnotation,
		berthv1alpha1.SettledAnnotation:
		return true
	}
	return false
}
