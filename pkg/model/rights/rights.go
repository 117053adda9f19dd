// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rights knows whose rights the objects of Applications and the copies of Subscriptions are
// written with: those of a ServiceAccount of their namespace, which the namespace has allowed Berth
// to impersonate.
package rights

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/names"
)

const (
	// WriterRole is the ClusterRole with what Applications and Subscriptions can be made of.
	WriterRole = "berth-application-writer"
	// DefaultServiceAccount writes unless something else is set.
	DefaultServiceAccount = "default"

	// controllerManager is the ServiceAccount of berth-controller-manager.
	controllerManager = "berth-controller-manager"
)

// Username returns the user as whom a ServiceAccount speaks to the API server.
func Username(namespace, serviceAccount string) string {
	return "system:serviceaccount:" + namespace + ":" + serviceAccount
}

// Command returns the command that makes what Objects returns.
func Command(namespace, serviceAccount string) string {
	command := "berthctl allow namespace " + namespace
	if serviceAccount == DefaultServiceAccount {
		return command
	}
	return command + " --service-account " + serviceAccount
}

// Objects returns what lets Berth write as a ServiceAccount of a namespace: a Role to impersonate
// it, whose binding is to berth-controller-manager, and a binding that gives the account the rights
// of WriterRole in the namespace. They are complete, with apiVersion and kind.
func Objects(namespace, serviceAccount string) (*rbacv1.Role, []*rbacv1.RoleBinding) {
	impersonate := roleName.Shorten("berth-impersonate-" + serviceAccount)
	write := roleName.Shorten("berth-write-" + serviceAccount)
	role := &rbacv1.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: impersonate},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: []string{serviceAccount},
			Verbs: []string{"impersonate"},
		}},
	}
	return role, []*rbacv1.RoleBinding{
		binding(namespace, impersonate, "Role", impersonate, berthv1alpha1.SystemNamespace, controllerManager),
		binding(namespace, write, "ClusterRole", WriterRole, namespace, serviceAccount),
	}
}

// roleName keeps the names of Roles, which may be as long as those of ServiceAccounts, apart.
var roleName = names.Form{Max: 253, Keep: 230, Trim: "-.", Hash: names.SHA256}

func binding(namespace, name, kind, role, ofNamespace, serviceAccount string) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: ofNamespace, Name: serviceAccount}},
	}
}

// Denial is what the API server says that a user may not do.
type Denial struct {
	// User is the name of the user.
	User string
	// Verb and Resource are the right that is missing; the group of the resource follows after a
	// dot.
	Verb, Resource string
}

// ParseDenial finds a denial in the message with which the API server refuses a request. There is
// none if somebody else than RBAC refused it, such as a quota.
func ParseDenial(message string) (Denial, bool) {
	var d Denial
	var group string
	rest := message
	for _, part := range []struct {
		before, after string
		into          *string
	}{
		{`User "`, `" cannot `, &d.User},
		{"", ` resource "`, &d.Verb},
		{"", `" in API group "`, &d.Resource},
		{"", `"`, &group},
	} {
		_, tail, found := strings.Cut(rest, part.before)
		if !found {
			return Denial{}, false
		}
		if *part.into, rest, found = strings.Cut(tail, part.after); !found {
			return Denial{}, false
		}
	}
	if group != "" {
		d.Resource += "." + group
	}
	return d, true
}
