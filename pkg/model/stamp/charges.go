// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package stamp

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/pool"
)

// maxChargedLength bounds the annotation with the charges before it is read: room for as many as a
// pod can have.
const maxChargedLength = 64 << 10

// ChargesOf returns what Berth charged the pod of ClusterResources when it bound it. It is false
// for pods that carry no charges made for this pod on this node.
func ChargesOf(pod *corev1.Pod) ([]pool.Charge, bool) {
	text, found := pod.Annotations[berthv1alpha1.ChargedAnnotation]
	if !found || len(text) > maxChargedLength || !madeFor(pod) {
		return nil, false
	}
	grantee := pod.Annotations[berthv1alpha1.GranteeAnnotation]
	var charges []pool.Charge
	for item := range strings.SplitSeq(text, ",") {
		charge, ok := parseCharge(item)
		if !ok {
			return nil, false
		}
		charge.Grantee = grantee
		charges = append(charges, charge)
	}
	return charges, true
}

func parseCharge(text string) (pool.Charge, bool) {
	where, amount, _ := strings.Cut(text, "=")
	resource, name, _ := strings.Cut(where, "/")
	quantity, err := pool.ParseSum(amount)
	return pool.Charge{Resource: resource, Pool: name, Quantity: quantity}, err == nil && resource != "" && name != ""
}

// ChargeAnnotations returns what a Binding of the pod to the node must carry if the pod is charged
// something. All charges of a pod have the same grantee.
func ChargeAnnotations(pod *corev1.Pod, node string, charges []pool.Charge) map[string]string {
	items := make([]string, len(charges))
	for i, c := range charges {
		items[i] = c.Resource + "/" + c.Pool + "=" + c.Quantity.String()
	}
	annotations := map[string]string{
		berthv1alpha1.PlacedByAnnotation: placedBy(pod, node),
		berthv1alpha1.ChargedAnnotation:  strings.Join(items, ","),
	}
	if len(charges) > 0 && charges[0].Grantee != "" {
		annotations[berthv1alpha1.GranteeAnnotation] = charges[0].Grantee
	}
	return annotations
}
