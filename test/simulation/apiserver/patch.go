// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

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
	how := types.PatchType(strings.Split(r.contentType, ";")[0])
	if how == types.ApplyYAMLPatchType {
		return s.apply(k, r)
	}
	before, err := s.get(k, &Request{Namespace: r.Namespace, Name: r.Name})
	if err != nil {
		return nil, err
	}
	wanted, err := k.patched(how, before, r.body)
	if err != nil {
		return nil, err
	}
	return s.replace(k, r, before, wanted)
}

// apply makes an object, or merges what a client applies into it. Who applied what before is not
// remembered: a field that is not applied any more stays.
func (s *Server) apply(k *kind, r *Request) (*stored, error) {
	wanted, err := decode(r.body)
	if err != nil {
		return nil, err
	}
	before := k.objects[key(r.Namespace, r.Name)]
	switch {
	case before != nil:
		return s.replace(k, r, before, mergeInto(clone(before.object), wanted))
	case text(metaOf(wanted), "uid") != "":
		return nil, apierrors.NewConflict(k.groupResource(), r.Name, errOtherUID)
	}
	return s.create(k, r)
}

// patched returns what a patch makes of an object.
func (k *kind) patched(how types.PatchType, before *stored, patch []byte) (tree, error) {
	switch how {
	case types.MergePatchType: // RFC 7386
		changes, err := decode(patch)
		if err != nil {
			return nil, err
		}
		return mergeInto(clone(before.object), changes), nil
	case types.StrategicMergePatchType:
		patched, err := strategic(k.GroupVersionKind, before.raw, patch)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return decode(patched)
	}
	return nil, apierrors.NewBadRequest(fmt.Sprintf("patches of type %s are not served", how))
}

func mergeInto(target, changes tree) tree {
	if target == nil {
		target = tree{}
	}
	for field, value := range changes {
		inner, nested := value.(tree)
		switch {
		case value == nil:
			delete(target, field)
		case nested:
			known, _ := target[field].(tree)
			target[field] = mergeInto(known, inner)
		default:
			target[field] = value
		}
	}
	return target
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
