// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// tokenSeconds is how long a token lasts: a year. Without it an API server gives an hour.
const tokenSeconds = int64(365 * 24 * 60 * 60)

// NewToken makes a ServiceAccount of that name in the namespace default, lets it do in the whole
// cluster what a ClusterRole allows, and returns a token of it, which lasts a year: nobody
// would know why a playground of yesterday refuses it. An empty role allows nothing.
func NewToken(ctx context.Context, client kubernetes.Interface, name, role string) (string, error) {
	accounts := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault)
	_, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("creating service account %s: %w", name, err)
	}
	if role != "" {
		_, err = client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceDefault, Name: name}},
		}, metav1.CreateOptions{})
		if err != nil {
			return "", fmt.Errorf("binding cluster role %s to service account %s: %w", role, name, err)
		}
	}
	token, err := accounts.CreateToken(ctx, name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(tokenSeconds)},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("making a token of service account %s: %w", name, err)
	}
	return token.Status.Token, nil
}
