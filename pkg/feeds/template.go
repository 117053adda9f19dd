// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feeds

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/manifest"
)

// podTemplate is what of a pod template says what a pod needs. It is decoded instead of corev1.PodTemplateSpec for two
// reasons: quantities are bounded before they are parsed, and fields of a Kubernetes that is newer than Berth do not matter.
type podTemplate struct {
	Spec struct {
		NodeSelector   map[string]string   `json:"nodeSelector"`
		Tolerations    []corev1.Toleration `json:"tolerations"`
		Affinity       *corev1.Affinity    `json:"affinity"`
		Containers     []container         `json:"containers"`
		InitContainers []container         `json:"initContainers"`
		Resources      *resources          `json:"resources"`
		Overhead       quantities          `json:"overhead"`
	} `json:"spec"`
}

type container struct {
	RestartPolicy *corev1.ContainerRestartPolicy `json:"restartPolicy"`
	Resources     resources                      `json:"resources"`
}

type resources struct {
	Requests quantities `json:"requests"`
	Limits   quantities `json:"limits"`
}

// templateAt reads the template that a pointer leads to. A template that is missing needs nothing: whether an object is
// complete is for the API server to say.
func templateAt(object manifest.Object, at manifest.Pointer) (berthv1alpha1.ReplicaRequirements, error) {
	value, err := at.In(object)
	if err != nil || value == nil {
		return berthv1alpha1.ReplicaRequirements{}, err
	}
	requirements, err := requirementsOf(value)
	if err != nil {
		return berthv1alpha1.ReplicaRequirements{}, fmt.Errorf("%s: %w", at, err)
	}
	return requirements, nil
}

// requirementsOf reads a pod template.
func requirementsOf(value any) (berthv1alpha1.ReplicaRequirements, error) {
	if _, isMap := value.(map[string]any); !isMap {
		return berthv1alpha1.ReplicaRequirements{}, errors.New("must be a pod template")
	}
	var template podTemplate
	if err := manifest.Into(value, &template); err != nil {
		return berthv1alpha1.ReplicaRequirements{}, err
	}
	resources, err := template.resources()
	if err != nil {
		return berthv1alpha1.ReplicaRequirements{}, err
	}
	spec := &template.Spec
	return berthv1alpha1.ReplicaRequirements{
		NodeSelector: spec.NodeSelector, Tolerations: spec.Tolerations, Affinity: spec.Affinity, Resources: resources,
	}, nil
}
