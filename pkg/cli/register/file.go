// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package register

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/serializer"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/feeds/manifest"
	"berth.dev/berth/pkg/generated/clientset/versioned/scheme"
	"berth.dev/berth/pkg/registration"
)

// profileKey begins a document of the registration API.
const profileKey = "cluster_profile"

// wanted is a cluster to be registered.
type wanted struct {
	*berthv1alpha1.Cluster
	warnings []string
}

// read reads the clusters of a file. JSON of the registration API is read as it is, so that errors
// tell line and column.
func read(raw []byte) ([]wanted, error) {
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) && bytes.Contains(bytes.ToLower(raw), []byte(profileKey)) {
		cluster, err := fromProfile(raw)
		return []wanted{cluster}, err
	}
	documents, err := manifest.ReadAll(raw)
	if err != nil {
		return nil, err
	}
	if len(documents) == 0 {
		return nil, errors.New("there is no cluster in it")
	}
	all := make([]wanted, 0, len(documents))
	for _, document := range documents {
		cluster, err := readDocument(document.Raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", document.Place, err)
		}
		all = append(all, cluster)
	}
	return all, nil
}

func readDocument(raw []byte) (wanted, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return wanted{}, err
	}
	for key := range keys {
		if strings.EqualFold(strings.TrimSpace(key), profileKey) {
			return withoutPlace(raw)
		}
	}
	return fromObject(raw, keys)
}

// withoutPlace reads a profile that was YAML, so that lines and columns mean nothing to the user.
func withoutPlace(raw []byte) (wanted, error) {
	cluster, err := fromProfile(raw)
	var wrong *registration.InputError
	if errors.As(err, &wrong) {
		return wanted{}, fmt.Errorf("%s: %s", wrong.Field, wrong.Reason)
	}
	return cluster, err
}

func fromProfile(raw []byte) (wanted, error) {
	profile, err := registration.Decode(raw)
	if err != nil {
		return wanted{}, err
	}
	if profile.ID != "" {
		return wanted{}, errors.New("cluster_id must be left out: Berth gives it")
	}
	return wanted{Cluster: profile.Cluster(), warnings: profile.Warnings()}, registration.CheckNewName(profile.Name)
}

// correctSpelling rewrites an object whose spec has keys as published examples misspell them.
func correctSpelling(raw []byte, keys map[string]json.RawMessage) ([]byte, error) {
	var spec map[string]json.RawMessage
	if err := json.Unmarshal(keys["spec"], &spec); err != nil || spec == nil {
		return raw, nil //nolint:nilerr // what is wrong with it is said by whoever reads all of it
	}
	if err := registration.CorrectSpelling(spec); err != nil {
		return nil, err
	}
	var err error
	if keys["spec"], err = json.Marshal(spec); err != nil {
		return nil, err
	}
	return json.Marshal(keys)
}

// strict refuses fields that the kind does not have.
var strict = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

func fromObject(raw []byte, keys map[string]json.RawMessage) (wanted, error) {
	raw, err := correctSpelling(raw, keys)
	if err != nil {
		return wanted{}, err
	}
	object, kind, err := strict.Decode(raw, nil, nil)
	if err != nil {
		return wanted{}, fmt.Errorf("neither a %s nor a Cluster: %w", profileKey, err)
	}
	cluster, ok := object.(*berthv1alpha1.Cluster)
	if !ok {
		return wanted{}, fmt.Errorf("a %s cannot be registered, only a Cluster", kind.Kind)
	}
	return wanted{Cluster: cluster}, registration.CheckNewName(cluster.Name)
}
