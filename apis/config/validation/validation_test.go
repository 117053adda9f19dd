// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth.dev/berth/apis/config"
	"berth.dev/berth/apis/config/validation"
)

func TestNodeGroupPolicyArgs(t *testing.T) {
	tests := map[string]struct {
		timeout time.Duration
		wantErr bool
	}{
		"default":           {10 * time.Second, false},
		"smallest":          {1, false},
		"largest":           {10 * time.Minute, false},
		"zero":              {0, true},
		"negative":          {-time.Second, true},
		"over the largest":  {10*time.Minute + 1, true},
		"as long as can be": {1<<63 - 1, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			args := &config.NodeGroupPolicyArgs{FirstReadTimeout: metav1.Duration{Duration: tc.timeout}}
			err := validation.ValidateNodeGroupPolicyArgs(field.NewPath("profiles").Index(0).Child("args"), args)
			if gotErr := err != nil; gotErr != tc.wantErr {
				t.Fatalf("got error %v, want one: %t", err, tc.wantErr)
			}
			if err != nil && !strings.Contains(err.Error(), "profiles[0].args.firstReadTimeout") {
				t.Errorf("the error does not tell where: %v", err)
			}
		})
	}
}
