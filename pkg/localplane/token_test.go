// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane_test

import (
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/localplane"
)

// A playground runs until somebody ends it, and prints the line with its token once.
func TestATokenLastsAsLongAsAPlaygroundMay(t *testing.T) {
	client := fake.NewClientset()
	var asked *authenticationv1.TokenRequest
	client.PrependReactor("create", "serviceaccounts", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() != "token" {
			return false, nil, nil
		}
		asked, _ = action.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenRequest)
		return true, &authenticationv1.TokenRequest{Status: authenticationv1.TokenRequestStatus{Token: "secret"}}, nil
	})
	token, err := localplane.NewToken(t.Context(), client, "registrar", "")
	if err != nil || token != "secret" {
		t.Fatalf("token %q, error %v", token, err)
	}
	const month = 30 * 24 * time.Hour
	// Without a duration the API server makes tokens that last an hour.
	if lasts := time.Duration(ptr.Deref(asked.Spec.ExpirationSeconds, 3600)) * time.Second; lasts < month {
		t.Errorf("asked for a token that lasts %v", lasts)
	}
}
