// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/auth/rbac/validation"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// providersNamespace holds the credentials of providers of metrics.
const providersNamespace = "berth-credentials"

// insteadName is what the chart calls the role and its binding that give the lease of the default
// scheduler, where Berth stands in for it.
const insteadName = schedulerProgram + "-instead"

// role is a ClusterRole, or a Role in its namespace.
type role struct {
	name  string
	rules []rbacv1.PolicyRule
}

// binding is a ClusterRoleBinding, or a RoleBinding in its namespace.
type binding struct {
	namespace string
	ref       rbacv1.RoleRef
	subjects  []rbacv1.Subject
}

func ofClusterRole(r *rbacv1.ClusterRole) role {
	return role{name: "ClusterRole " + r.Name, rules: r.Rules}
}

func ofRole(r *rbacv1.Role) role {
	return role{name: "Role " + r.Namespace + "/" + r.Name, rules: r.Rules}
}

func ofClusterBinding(b *rbacv1.ClusterRoleBinding) binding {
	return binding{ref: b.RoleRef, subjects: b.Subjects}
}

func ofBinding(b *rbacv1.RoleBinding) binding {
	return binding{namespace: b.Namespace, ref: b.RoleRef, subjects: b.Subjects}
}

// neededRoles returns the roles of an installation, without those that it works without: those of
// the gateway, which need not run, and those that give Applications and feeds their kinds, which
// may be deleted.
func (s *state) neededRoles() ([]role, error) {
	wide, err := shipped[rbacv1.ClusterRole]("ClusterRole")
	if err != nil {
		return nil, err
	}
	wide = slices.DeleteFunc(wide, func(r rbacv1.ClusterRole) bool { return !s.runs(r.Name) })
	narrow, err := shipped[rbacv1.Role]("Role")
	if s.standsIn() {
		narrow = append(narrow, rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Namespace: stockNamespace, Name: insteadName},
			Rules: []rbacv1.PolicyRule{{
				APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{stockLease},
				Verbs: []string{"get", "update"},
			}},
		})
	}
	return append(each(wide, ofClusterRole), each(narrow, ofRole)...), err
}

// runs reports whether a name is that of a program which must run, or does: the gateway need not.
func (s *state) runs(program string) bool {
	return program == schedulerProgram || program == controllersProgram || program == gatewayProgram && s.deployment(program) != nil
}

func permissions(s *state) []error {
	want, err := s.neededRoles()
	if err := errors.Join(err, s.roles.err); err != nil {
		return one(err)
	}
	var found []error
	for _, w := range want {
		at := slices.IndexFunc(s.roles.items, func(r role) bool { return r.name == w.name })
		if at < 0 {
			found = append(found, fmt.Errorf("there is no %s", w.name))
			continue
		}
		covers, missing := validation.Covers(s.roles.items[at].rules, w.rules)
		if !covers {
			found = append(found, fmt.Errorf("%s does not allow %s", w.name, describeRule(&missing[0])))
		}
	}
	return found
}

// describeRule writes what a rule allows.
func describeRule(rule *rbacv1.PolicyRule) string {
	resources := strings.Join(rule.Resources, ",") + "." + strings.Join(rule.APIGroups, ",")
	return strings.Join(rule.Verbs, "/") + " " + strings.Trim(resources, ".")
}

// neededBindings returns what gives the ServiceAccounts of programs that run their roles.
func (s *state) neededBindings() ([]binding, error) {
	wide, err := shipped[rbacv1.ClusterRoleBinding]("ClusterRoleBinding")
	if err != nil {
		return nil, err
	}
	wide = slices.DeleteFunc(wide, func(b rbacv1.ClusterRoleBinding) bool { return !s.runs(b.RoleRef.Name) })
	narrow, err := shipped[rbacv1.RoleBinding]("RoleBinding")
	narrow = slices.DeleteFunc(narrow, func(b rbacv1.RoleBinding) bool { return !s.runs(b.Subjects[0].Name) })
	want := append(each(wide, ofClusterBinding), each(narrow, ofBinding)...)
	if s.standsIn() {
		want = append(want, binding{
			namespace: stockNamespace, ref: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: insteadName},
			subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: berthv1alpha1.SystemNamespace, Name: schedulerProgram}},
		})
	}
	return want, err
}

func bindings(s *state) []error {
	want, err := s.neededBindings()
	if err := errors.Join(err, s.roleBindings.err, s.accounts.err); err != nil {
		return one(err)
	}
	found := s.missingAccounts()
	for i := range want {
		for _, subject := range want[i].subjects {
			if !s.bound(&want[i], subject) {
				found = append(found, want[i].missing(subject))
			}
		}
	}
	return found
}

// bound reports whether a subject has been given what a binding gives, by that one or another.
func (s *state) bound(want *binding, subject rbacv1.Subject) bool {
	return slices.ContainsFunc(s.roleBindings.items, func(b binding) bool {
		return b.namespace == want.namespace && b.ref == want.ref && slices.Contains(b.subjects, subject)
	})
}

// missing tells that a subject lacks what the binding gives.
func (b *binding) missing(subject rbacv1.Subject) error {
	kind := "ClusterRoleBinding"
	if b.namespace != "" {
		kind = "RoleBinding in " + b.namespace
	}
	return fmt.Errorf("no %s gives ServiceAccount %s/%s the %s %s", kind, subject.Namespace, subject.Name, b.ref.Kind, b.ref.Name)
}

// missingAccounts tells of ServiceAccounts as which programs should run, without which there are no
// pods.
func (s *state) missingAccounts() []error {
	var found []error
	for i := range s.deployments.items {
		d := &s.deployments.items[i]
		account := d.Spec.Template.Spec.ServiceAccountName
		there := slices.ContainsFunc(s.accounts.items, func(a corev1.ServiceAccount) bool { return a.Name == account })
		if ours(d) && account != "" && !there {
			found = append(found, fmt.Errorf("there is no ServiceAccount %s/%s, as which %s is to run", d.Namespace, account, d.Name))
		}
	}
	return found
}
