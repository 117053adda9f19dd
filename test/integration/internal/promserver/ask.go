// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package promserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Ask reads the data of an answer of the server's HTTP API, below /api/v1/.
func (s *Server) Ask(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/api/v1/"+path, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer := struct {
		Status, Error string
		Data          any
	}{Data: into}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s: %s", path, answer.Error)
	}
	return nil
}
