// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package allow holds the command by which a namespace lets Berth write what its Applications and
// Subscriptions list.
package allow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/objects"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/model/rights"
)

const long = `Let Berth write what the Applications and Subscriptions of a namespace list.

Berth writes that as a ServiceAccount of the namespace. The command makes a Role and a RoleBinding by which
berth-controller-manager may impersonate this one account, and a RoleBinding that gives the account the rights of the
ClusterRole berth-application-writer in the namespace. Other namespaces and other accounts are not touched.

Pods that run with the account have these rights too, so an account of its own is better than the one named default where
not all pods of a namespace are trusted: name it in spec.serviceAccountName as well.

Whoever has the role admin in the namespace may do this. With --dry-run=client -o yaml the objects are printed, for Git.`

const example = `  # The account that Berth uses unless something else is set
  berthctl allow namespace shop

  # For Git
  berthctl allow namespace shop --service-account deployer --dry-run=client -o yaml`

// The values of --dry-run.
const (
	dryRunNone, dryRunClient, dryRunServer = "none", "client", "server"
)

// options are the flags of allow namespace.
type options struct {
	streams        genericiooptions.IOStreams
	factory        *client.Factory
	serviceAccount string
	dryRun         string
	output         *output.Flag
}

// NewCommand returns the command allow.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "allow",
		Short: "Let Berth write what a namespace lists",
		Long:  "Let Berth write what the Applications and Subscriptions of a namespace list.",
	}
	cmd.AddCommand(newNamespace(streams, factory))
	return cmd
}

func newNamespace(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &options{streams: streams, factory: factory, output: output.NewFlag(output.Text, output.JSON, output.YAML)}
	cmd := &cobra.Command{
		Use:               "namespace NAME",
		Short:             "Let Berth write what a namespace lists",
		Long:              long,
		Example:           example,
		ValidArgsFunction: factory.Complete(namespaces),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name the namespace: allow namespace NAME")
			}
			return o.run(cmd.Context(), args[0])
		},
	}
	cmd.Flags().StringVar(&o.serviceAccount, "service-account", rights.DefaultServiceAccount,
		"the ServiceAccount of the namespace that Berth writes as")
	cmd.Flags().StringVar(&o.dryRun, "dry-run", dryRunNone, "none, client (send nothing) or server (send everything, keep nothing)")
	complete := cobra.FixedCompletions([]string{dryRunNone, dryRunClient, dryRunServer}, cobra.ShellCompDirectiveNoFileComp)
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("dry-run", complete)
	o.output.AddTo(cmd)
	return cmd
}

func namespaces(ctx context.Context, clients client.Clients, _ string) ([]string, error) {
	list, err := clients.Kubernetes.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return client.NamesOf(list.Items), nil
}

func (o *options) run(ctx context.Context, namespace string) error {
	if err := values.CheckName("namespace", namespace); err != nil {
		return err
	}
	if wrong := validation.IsDNS1123Subdomain(o.serviceAccount); len(wrong) > 0 {
		return fmt.Errorf("--service-account: %.64q is no name of a ServiceAccount: %s", o.serviceAccount, wrong[0])
	}
	role, bindings := rights.Objects(namespace, o.serviceAccount)
	switch o.dryRun {
	case dryRunClient:
		return o.print(role, bindings, "allowed (dry run)")
	case dryRunNone, dryRunServer:
	default:
		return fmt.Errorf("--dry-run: unknown value %.64q, use none, client or server", o.dryRun)
	}
	clients, err := o.factory.Clients()
	if err != nil {
		return err
	}
	if err := o.apply(ctx, clients.Kubernetes, role, bindings); err != nil {
		return err
	}
	if o.dryRun == dryRunServer {
		return o.print(role, bindings, "allowed (server dry run)")
	}
	if err := o.print(role, bindings, "allowed"); err != nil {
		return err
	}
	return o.warnOfMissing(ctx, clients.Kubernetes, namespace)
}

// warnOfMissing tells of an account that is not there: its name may be misspelt. Kubernetes makes
// the default one of each namespace. Who may not read accounts is not told.
func (o *options) warnOfMissing(ctx context.Context, client kubernetes.Interface, namespace string) error {
	if o.serviceAccount == rights.DefaultServiceAccount {
		return nil
	}
	_, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, o.serviceAccount, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return nil
	}
	_, err = fmt.Fprintf(o.streams.ErrOut, "warning: namespace %s has no ServiceAccount %s yet: until it has, Berth writes nothing as it\n",
		namespace, o.serviceAccount)
	return err
}

// apply makes the objects, or brings them back to what they should be.
func (o *options) apply(ctx context.Context, client kubernetes.Interface, role *rbacv1.Role, bindings []*rbacv1.RoleBinding) error {
	force := true
	how := metav1.PatchOptions{FieldManager: objects.FieldManager, Force: &force}
	if o.dryRun == dryRunServer {
		how.DryRun = []string{metav1.DryRunAll}
	}
	content, err := json.Marshal(role)
	if err != nil {
		return fmt.Errorf("encoding role %q: %w", role.Name, err)
	}
	_, err = client.RbacV1().Roles(role.Namespace).Patch(ctx, role.Name, types.ApplyPatchType, content, how)
	if err != nil {
		return objects.Describe(fmt.Sprintf("making role %q", role.Name), err)
	}
	for _, binding := range bindings {
		content, err := json.Marshal(binding)
		if err != nil {
			return fmt.Errorf("encoding role binding %q: %w", binding.Name, err)
		}
		_, err = client.RbacV1().RoleBindings(binding.Namespace).Patch(ctx, binding.Name, types.ApplyPatchType, content, how)
		if err != nil {
			return objects.Describe(fmt.Sprintf("making role binding %q", binding.Name), err)
		}
	}
	return nil
}

// list is what the objects are printed as: kubectl applies it.
type list struct {
	metav1.TypeMeta `json:",inline"`
	Items           []any `json:"items"`
}

func (o *options) print(role *rbacv1.Role, bindings []*rbacv1.RoleBinding, done string) error {
	all := list{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "List"}, Items: []any{role}}
	for _, binding := range bindings {
		all.Items = append(all.Items, binding)
	}
	return o.output.Print(o.streams.Out, all, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "namespace %s %s: Berth writes as ServiceAccount %s\n", role.Namespace, done, o.serviceAccount)
		return err
	})
}
