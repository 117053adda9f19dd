// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package accounts

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"berth.dev/berth/pkg/model/rights"
)

// Account is a ServiceAccount that Berth reads and writes as.
type Account struct {
	// Client reads and writes with the rights of the account, and without a cache.
	client.Client
	// Namespace and Name are those of the ServiceAccount.
	Namespace, Name string

	// refused takes note that Berth may not impersonate the account; nil if nobody wants to know.
	refused func(*Refusal)
}

// Explain turns an answer that tells of a right which the account lacks, or Berth to act as the
// account, into a *Refusal. Other errors, and nil, stay what they are.
func (a *Account) Explain(err error) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	denial, found := rights.ParseDenial(err.Error())
	command := rights.Command(a.Namespace, a.Name)
	switch {
	case !found:
		return err
	case denial.Verb == "impersonate":
		refusal := &Refusal{Text: fmt.Sprintf("Berth may not impersonate serviceaccounts %q in namespace %s: "+
			"whoever administers the namespace allows it with %q", a.Name, a.Namespace, command), err: err}
		if a.refused != nil {
			a.refused(refusal)
		}
		return refusal
	case denial.User == rights.Username(a.Namespace, a.Name):
		return &Refusal{Text: fmt.Sprintf("ServiceAccount %s may not %s %s in namespace %s: "+
			"%q gives it the rights of the ClusterRole %s, a Role of the namespace any others",
			a.Name, denial.Verb, denial.Resource, a.Namespace, command, rights.WriterRole), err: err}
	}
	return err
}

// Refusal says in words for the user why Berth cannot write as an account. It lasts until somebody
// changes the rights, or makes the account.
type Refusal struct {
	// Text is what the user reads.
	Text string
	err  error
}

func (r *Refusal) Error() string { return r.Text }

func (r *Refusal) Unwrap() error { return r.err }
