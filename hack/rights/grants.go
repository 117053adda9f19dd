// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// role is a Role or a ClusterRole.
type role struct {
	object *unstructured.Unstructured
	// ClusterRole has the fields of a Role too.
	rules rbacv1.ClusterRole
}

// grantsIn returns what the bindings among objects give to ServiceAccounts, each right once, as
// "berth-scheduler create pods/binding", and with " in NAMESPACE" where a Role gives it. Roles that
// are not among the objects belong to Kubernetes and are left out.
func grantsIn(objects []*unstructured.Unstructured) ([]string, error) {
	var roles []role
	for _, object := range objects {
		if kind := object.GetKind(); kind == "Role" || kind == "ClusterRole" {
			found := role{object: object}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &found.rules); err != nil {
				return nil, fmt.Errorf("reading %s %s: %w", kind, object.GetName(), err)
			}
			roles = append(roles, found)
		}
	}
	var granted []string
	for _, object := range objects {
		if kind := object.GetKind(); kind != "RoleBinding" && kind != "ClusterRoleBinding" {
			continue
		}
		binding := &rbacv1.RoleBinding{} // a ClusterRoleBinding has the same fields
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, binding); err != nil {
			return nil, fmt.Errorf("reading %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		rights, err := rightsOf(binding, roles)
		if err != nil {
			return nil, err
		}
		granted = append(granted, rights...)
	}
	slices.Sort(granted)
	return slices.Compact(granted), nil
}

// rightsOf returns what one binding gives.
func rightsOf(binding *rbacv1.RoleBinding, roles []role) ([]string, error) {
	var granted []string
	for i := range roles {
		object := roles[i].object
		if object.GetKind() != binding.RoleRef.Kind || object.GetName() != binding.RoleRef.Name || object.GetNamespace() != binding.Namespace {
			continue
		}
		rules, err := rulesOf(&roles[i], roles)
		if err != nil {
			return nil, err
		}
		for _, subject := range binding.Subjects {
			for _, right := range spellOut(rules) {
				if binding.Namespace != "" {
					right += " in " + binding.Namespace
				}
				granted = append(granted, subject.Name+" "+right)
			}
		}
	}
	return granted, nil
}

// rulesOf returns the rules of a role, those too that are aggregated to it.
func rulesOf(r *role, roles []role) ([]rbacv1.PolicyRule, error) {
	rules := r.rules.Rules
	if r.rules.AggregationRule == nil {
		return rules, nil
	}
	for i := range r.rules.AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&r.rules.AggregationRule.ClusterRoleSelectors[i])
		if err != nil {
			return nil, fmt.Errorf("reading ClusterRole %s: %w", r.rules.Name, err)
		}
		for j := range roles {
			if roles[j].object.GetKind() == "ClusterRole" && selector.Matches(labels.Set(roles[j].rules.Labels)) {
				rules = append(rules, roles[j].rules.Rules...)
			}
		}
	}
	return rules, nil
}

// spellOut lists what rules allow, as "patch deployments.apps/scale". Names that limit a rule are
// left out.
func spellOut(rules []rbacv1.PolicyRule) []string {
	var rights []string
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					rights = append(rights, verb+" "+inGroup(resource, group))
				}
			}
		}
	}
	return rights
}

// inGroup writes a resource with its group, and the subresource last.
func inGroup(resource, group string) string {
	if group == "" {
		return resource
	}
	resource, subresource, nested := strings.Cut(resource, "/")
	if nested {
		return resource + "." + group + "/" + subresource
	}
	return resource + "." + group
}
