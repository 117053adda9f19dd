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

// podTemplate is what of a pod template says what a pod needs. It is decoded instead of
// corev1.PodTemplateSpec for two reasons: quantities are bounded before they are parsed, and fields
// of a Kubernetes that is newer than Berth do not matter.
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

// templateAt reads the template that a pointer leads to. A template that is missing needs nothing:
// whether an object is complete is for the API server to say.
func templateAt(object manifest.Object, at manifest.Pointer) (berthv1alpha1.ReplicaRequirements, error) {
	value, err := at.In(object)
	if err != nil || value == nil {
		return berthv1alpha1.ReplicaRequirements{}, err
	}
	requirements, err := Requirements(value)
	if err != nil {
		return berthv1alpha1.ReplicaRequirements{}, fmt.Errorf("%s: %w", at, err)
	}
	return requirements, nil
}

// Requirements returns what a pod of a template needs. The template is a value of a
// manifest.Object: a map that has a pod's spec in its field spec. It is for parsers of kinds that
// keep their templates in places of their own.
func Requirements(template any) (berthv1alpha1.ReplicaRequirements, error) {
	if _, isMap := template.(map[string]any); !isMap {
		return berthv1alpha1.ReplicaRequirements{}, errors.New("must be a pod template")
	}
	var read podTemplate
	if err := manifest.Into(template, &read); err != nil {
		return berthv1alpha1.ReplicaRequirements{}, err
	}
	resources, err := read.resources()
	if err != nil {
		return berthv1alpha1.ReplicaRequirements{}, err
	}
	spec := &read.Spec
	return berthv1alpha1.ReplicaRequirements{
		NodeSelector: spec.NodeSelector, Tolerations: spec.Tolerations, Affinity: spec.Affinity, Resources: resources,
	}, nil
}
