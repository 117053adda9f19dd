// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/simulator/whatif"
)

// maxInput bounds a file, in bytes: 10,000 pods as kubectl writes them are about half of it.
const maxInput = 128 << 20

// reader reads the objects of files.
type reader struct {
	in        io.Reader
	namespace string
}

// read returns the objects of a file, of all files of a directory, or of standard input. No two of
// them are the same.
func (r *reader) read(name string) ([]runtime.Object, error) {
	files, err := filesOf(name)
	if err != nil {
		return nil, err
	}
	var found []runtime.Object
	origins := map[string]string{}
	for _, file := range files {
		objects, err := values.Read(file, r.in, maxInput, r.parse)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			identity := whatif.Identity(o)
			first, twice := origins[identity]
			origins[identity] = values.Title(file)
			switch {
			case twice && first == origins[identity]:
				return nil, fmt.Errorf("%s is there twice, in %s", identity, first)
			case twice:
				return nil, fmt.Errorf("%s is there twice, in %s and in %s", identity, first, origins[identity])
			}
			found = append(found, o)
		}
	}
	return found, nil
}

// filesOf returns the file, or those of a directory that have manifests.
func filesOf(name string) ([]string, error) {
	if name == values.Stdin {
		return []string{values.Stdin}, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		if !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) {
			files = append(files, filepath.Join(name, entry.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: there is no file in it that ends in .yaml, .yml or .json", name)
	}
	return files, nil
}

// parse returns the objects of a file, in order.
func (r *reader) parse(raw []byte) ([]runtime.Object, error) {
	if len(raw) > maxInput {
		return nil, fmt.Errorf("it is larger than %d MiB", maxInput>>20)
	}
	var found []runtime.Object
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw)))
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err == nil {
			found, err = r.decode(found, document)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
	}
}

// decode appends the object of a document, or those of a list.
func (r *reader) decode(found []runtime.Object, document []byte) ([]runtime.Object, error) {
	content, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, err
	}
	switch {
	case string(content) == "null":
		return found, nil
	case content[0] != '{':
		return nil, errors.New("this is no object: a map with apiVersion and kind is expected")
	}
	var list struct {
		Kind  string                 `json:"kind"`
		Items []runtime.RawExtension `json:"items"`
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(content, &list); err == nil && list.Kind == "List" {
		for i := range list.Items {
			o, err := whatif.Decode(list.Items[i].Raw, r.namespace)
			if err != nil {
				return nil, fmt.Errorf("items[%d]: %w", i, err)
			}
			found = append(found, o)
		}
		return found, nil
	}
	o, err := whatif.Decode(content, r.namespace)
	if err != nil {
		return nil, err
	}
	return append(found, o), nil
}
