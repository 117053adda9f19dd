// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package allow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/cli"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

const printed = `apiVersion: v1
items:
- apiVersion: rbac.authorization.k8s.io/v1
  kind: Role
  metadata:
    name: berth-impersonate-ci
    namespace: team
  rules:
  - apiGroups:
    - ""
    resourceNames:
    - ci
    resources:
    - serviceaccounts
    verbs:
    - impersonate
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata:
    name: berth-impersonate-ci
    namespace: team
  roleRef:
    apiGroup: rbac.authorization.k8s.io
    kind: Role
    name: berth-impersonate-ci
  subjects:
  - kind: ServiceAccount
    name: berth-controller-manager
    namespace: berth-system
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata:
    name: berth-write-ci
    namespace: team
  roleRef:
    apiGroup: rbac.authorization.k8s.io
    kind: ClusterRole
    name: berth-application-writer
  subjects:
  - kind: ServiceAccount
    name: ci
    namespace: team
kind: List
`

// TestPrint checks that nothing but the command line is needed to print the objects.
func TestPrint(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent")
	clitest.Run(t.Context(), cli.Options{}, "allow", "namespace", "team", "--service-account=ci", "--dry-run=client", "-o", "yaml").
		CheckOutput(t, printed)
	clitest.Run(t.Context(), cli.Options{}, "allow", "namespace", "team", "--dry-run=client").
		CheckOutput(t, "namespace team allowed (dry run): Berth writes as ServiceAccount default\n")
}

func TestWrongInput(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no namespace":           {args: []string{"namespace"}, want: "name the namespace"},
		"two namespaces":         {args: []string{"namespace", "a", "b"}, want: "name the namespace"},
		"no name":                {args: []string{"namespace", "A b"}, want: "no name of a namespace"},
		"no name of an account":  {args: []string{"namespace", "a", "--service-account=a:b"}, want: "no name of a ServiceAccount"},
		"an unknown dry run":     {args: []string{"namespace", "a", "--dry-run=maybe"}, want: "use none, client or server"},
		"something else":         {args: []string{"cluster", "a"}, want: "unknown command"},
		"a dry run and no table": {args: []string{"namespace", "a", "-o", "table"}, want: "unknown output format"},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.Run(t.Context(), cli.Options{}, append([]string{"allow"}, tc.args...)...).CheckFailed(t, tc.want)
		})
	}
}

// TestAllow checks that the objects are made, and put right when somebody has changed them.
func TestAllow(t *testing.T) {
	w := clitest.NewWorld(t)
	run := func() {
		t.Helper()
		clitest.Run(t.Context(), w.Options(), "allow", "namespace", "team").
			CheckOutput(t, "namespace team allowed: Berth writes as ServiceAccount default\n")
	}
	run()
	roles := w.Clients.Kubernetes.RbacV1().Roles("team")
	role, err := roles.Get(t.Context(), "berth-impersonate-default", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := role.DeepCopy()
	role.Rules = nil
	if _, err := roles.Update(t.Context(), role, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	run()
	role, err = roles.Get(t.Context(), "berth-impersonate-default", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Rules, role.Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	bindings, err := w.Clients.Kubernetes.RbacV1().RoleBindings("team").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	subjects := map[string][]rbacv1.Subject{}
	for _, binding := range bindings.Items {
		subjects[binding.Name] = binding.Subjects
	}
	if diff := cmp.Diff(map[string][]rbacv1.Subject{
		"berth-impersonate-default": {{Kind: "ServiceAccount", Namespace: "berth-system", Name: "berth-controller-manager"}},
		"berth-write-default":       {{Kind: "ServiceAccount", Namespace: "team", Name: "default"}},
	}, subjects); diff != "" {
		t.Errorf("bindings (-want +got):\n%s", diff)
	}
}

// TestAccountThatIsNotThereYet checks that a misspelt name does not look as if all were well: only
// the conditions of Applications would tell.
func TestAccountThatIsNotThereYet(t *testing.T) {
	w := clitest.NewWorld(t)
	args := []string{"allow", "namespace", "team", "--service-account=ci"}
	got := clitest.Run(t.Context(), w.Options(), args...)
	want := "warning: namespace team has no ServiceAccount ci yet: until it has, Berth writes nothing as it\n"
	if got.Code != 0 || got.Err != want {
		t.Errorf("exit status %d, standard error %q, want %q", got.Code, got.Err, want)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "ci"}}
	if _, err := w.Clients.Kubernetes.CoreV1().ServiceAccounts("team").Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	clitest.Run(t.Context(), w.Options(), args...).CheckOutput(t, "namespace team allowed: Berth writes as ServiceAccount ci\n")
}
