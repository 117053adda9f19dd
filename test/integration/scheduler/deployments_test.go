// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// strategicMerge finds containers by their names.
const strategicMerge = types.StrategicMergePatchType

// deployment returns a Deployment whose pods berth-scheduler is to place.
func (s *site) deployment(name string, replicas int) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(int32(replicas)),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Template: template(name),
		},
	}
}

func (s *site) createDeployment(ctx context.Context, deployment *appsv1.Deployment) {
	GinkgoHelper()
	_, err := client.AppsV1().Deployments(s.namespace).Create(ctx, deployment, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func (s *site) patchDeployment(ctx context.Context, name, patch string) {
	GinkgoHelper()
	_, err := client.AppsV1().Deployments(s.namespace).Patch(ctx, name, strategicMerge, []byte(patch), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func (s *site) scale(ctx context.Context, name string, replicas int) {
	GinkgoHelper()
	s.patchDeployment(ctx, name, fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas))
}
