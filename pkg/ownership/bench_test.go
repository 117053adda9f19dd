// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// BenchmarkFurther looks up an object of an operator that is known: one that an informer follows,
// and one that was asked for by its name.
func BenchmarkFurther(b *testing.B) {
	for name, kind := range map[string]string{"followed": "Ring", "single": "Fleet"} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b, kinds{}, object("Ring", "a", nil), object("Fleet", "a", nil))
			known := make(chan struct{}, 1)
			w.Listen(func(string, types.UID) {
				select {
				case known <- struct{}{}:
				default:
				}
			})
			reference := ref(groupVersion, kind, "a", "a")
			for {
				if _, err := w.Further(namespace, reference); err == nil {
					break
				}
				<-known
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.Further(namespace, reference); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
