# Copyright 2026 The Berth Authors.
# SPDX-License-Identifier: Apache-2.0
"""Uses the registration API as any program can: with the standard library alone.

Arguments: the URL of a gateway, a token, and the number of clusters. They are named stranger-0000 and so on, and each names the
node that the first argument after these says. Prints what took how long.
"""
import http.client
import json
import ssl
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import local
from urllib.parse import urlsplit

URL, TOKEN, COUNT, NODE = urlsplit(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
BASE = "/globalscheduler/v1/clusters"
CONTEXT = ssl.create_default_context()
CONTEXT.check_hostname, CONTEXT.verify_mode = False, ssl.CERT_NONE
mine = local()


def send(method, path, body=None, headers=None):
    """Sends a request over the connection of this thread and returns the status, the headers and the JSON of the answer."""
    if not hasattr(mine, "connection"):
        mine.connection = http.client.HTTPSConnection(URL.hostname, URL.port, context=CONTEXT, timeout=120)
    sent = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json", **(headers or {})}
    mine.connection.request(method, BASE + path, json.dumps(body) if body is not None else None, sent)
    answer = mine.connection.getresponse()
    return answer.status, answer.headers, json.loads(answer.read())


def must(status, answer):
    assert answer[0] == status, answer
    return answer[2]


def profile(name):
    spec = {"Region": {"region": "odd" if int(name[-1]) % 2 else "even"}, "matchLables": {"site": name}, "nodes": [NODE],
            "labels": {"tier": "store"}}
    return {"cluster_profile": {"cluster_name": name, "cluster_spec": spec}}


names = ["stranger-%04d" % i for i in range(COUNT)]
times, start = {}, time.monotonic()


def lap(what):
    global start
    times[what] = round(time.monotonic() - start, 1)
    start = time.monotonic()


with ThreadPoolExecutor(8) as pool:
    for answer in pool.map(lambda name: send("POST", "", profile(name)), names):
        must(201, answer)
    lap("registering")

    listed = must(200, send("GET", ""))
    assert [c["cluster_name"] for c in listed["clusters"]] == names, len(listed["clusters"])
    assert "continue" not in listed and listed["resourceVersion"], listed.keys()
    page = must(200, send("GET", "?limit=7"))
    assert len(page["clusters"]) == 7 and page["continue"], page
    odd = must(200, send("GET", "?region=odd&labelSelector=tier%3Dstore"))
    assert [c["cluster_name"] for c in odd["clusters"]] == names[1::2], len(odd["clusters"])
    assert must(200, send("GET", "?labelSelector=tier%3Dnone"))["clusters"] == []
    even = must(200, send("GET", "?labelSelector=tier%3Dstore%2Cregion.region%3Deven"))
    assert [c["cluster_name"] for c in even["clusters"]] == names[::2], len(even["clusters"])
    lap("listing")

    shown = must(200, send("GET", "/name/" + names[0]))
    patch = {"cluster_profile": {"cluster_spec": {"ServerPrice": 11, "labels": {"tier": None}}}}
    changed = must(200, send("PATCH", "/name/" + names[0], patch, {"Content-Type": "application/merge-patch+json"}))
    spec = changed["cluster_profile"]["cluster_spec"]
    assert spec["ServerPrice"] == 11 and "labels" not in spec and spec["matchLabels"] == {"site": names[0]}, changed
    assert must(200, send("PUT", "/name/" + names[0], shown)) == shown
    lap("changing")

    for answer in pool.map(lambda name: send("DELETE", "/name/" + name), names):
        must(200, answer)
    lap("unregistering")
print(json.dumps(times))
