// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"net/http"
	"time"
)

const (
	// heartbeat is how often a stream says that it is alive.
	heartbeat = 5 * time.Second

	// streamTime is how long a stream lasts. The browser asks for the next one with its credentials,
	// so that a stream does not outlive a token for long. What may be read is for the API server to
	// say whenever a watch begins: a kind disappears when its watch has ended, after ten minutes at
	// most, and the right to the next one is gone.
	streamTime = 5 * time.Minute

	// reconnect is after how many milliseconds a browser asks for the next stream.
	reconnect = 1000
)

// stream tells a browser whenever something has changed, in the form of server-sent events: what
// tells the versions apart, and nothing else.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request, source *Source) {
	connection := http.NewResponseController(w)
	// Not all writers have deadlines; those of real connections do, which would end the stream.
	_ = connection.SetWriteDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	version, changed := source.next()
	_, err := fmt.Fprintf(w, "retry: %d\n\n", reconnect)
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	end := time.NewTimer(streamTime)
	defer end.Stop()
	for err == nil {
		if _, err = fmt.Fprintf(w, "event: version\ndata: %s\n\n", version); err == nil {
			err = connection.Flush()
		}
		if err != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-h.Done:
			return
		case <-source.ended:
			return
		case <-end.C:
			return
		case <-changed:
		case <-ticker.C:
		}
		version, changed = source.next()
	}
}
