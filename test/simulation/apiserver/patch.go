// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

var (
	errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")
	errOtherUID = errors.New("the UID in the precondition is not that of the object")
)

func (s *Server) patch(k *kind, r *Request) (*stored, error) {
	before, err := s.get(k, &Request{Namespace: r.Namespace, Name: r.Name})
	if err != nil {
		return nil, err
	}
	patched, err := k.patched(types.PatchType(strings.Split(r.contentType, ";")[0]), before.raw, r.body)
	if err != nil {
		return nil, err
	}
	wanted, err := decode(patched)
	if err != nil {
		return nil, err
	}
	return s.replace(k, r, before, wanted)
}

// patched applies a patch to the JSON of an object.
func (k *kind) patched(how types.PatchType, original, patch []byte) ([]byte, error) {
	var result []byte
	var err error
	switch how {
	case types.JSONPatchType:
		var steps jsonpatch.Patch
		if steps, err = jsonpatch.DecodePatch(patch); err == nil {
			result, err = steps.Apply(original)
		}
	case types.MergePatchType:
		result, err = jsonpatch.MergePatch(original, patch)
	case types.StrategicMergePatchType:
		result, err = strategic(k.GroupVersionKind, original, patch)
	default:
		err = fmt.Errorf("patches of type %s are not served", how)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return result, nil
}

func strategic(kind schema.GroupVersionKind, original, patch []byte) ([]byte, error) {
	typed, err := clientgoscheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	if !json.Valid(patch) {
		return nil, errors.New("the patch is no JSON")
	}
	return strategicpatch.StrategicMergePatch(original, patch, typed)
}
