// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"berth.dev/berth/test/simulation/apiserver"
)

const (
	jsonType      = "application/json"
	protobufType  = runtime.ContentTypeProtobuf
	protobufWatch = protobufType + ";stream=watch"
)

// encoder makes the answers of the API server in memory, which are JSON, what a client takes: the
// kinds of Kubernetes are told in protobuf, as by a real one. To read JSON costs a client several
// times as much, the more schedulers there are that each hear of all pods.
type encoder struct{ serializer runtime.Serializer }

func newEncoder() encoder { return encoder{protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)} }

// takesProtobuf reports whether the answer of a request is to be in protobuf.
func takesProtobuf(r *http.Request, request *apiserver.Request) bool {
	return request.Resource.Resource != "" && scheme.Scheme.IsGroupRegistered(request.Resource.Group) &&
		strings.Contains(r.Header.Get("Accept"), protobufType)
}

// object encodes an object, or a list of them.
func (e encoder) object(body []byte) ([]byte, error) {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("reading an answer: %w", err)
	}
	encoded, err := runtime.Encode(e.serializer, object)
	if err != nil {
		return nil, fmt.Errorf("encoding an answer: %w", err)
	}
	return encoded, nil
}

// event encodes what a watch has to tell, with its length before it.
func (e encoder) event(line []byte) ([]byte, error) {
	var told metav1.WatchEvent
	if err := json.Unmarshal(line, &told); err != nil {
		return nil, fmt.Errorf("reading an event: %w", err)
	}
	encoded, err := e.object(told.Object.Raw)
	if err != nil {
		return nil, err
	}
	told.Object = runtime.RawExtension{Raw: encoded}
	frame, err := told.Marshal()
	if err != nil {
		return nil, fmt.Errorf("encoding an event: %w", err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...), nil
}
