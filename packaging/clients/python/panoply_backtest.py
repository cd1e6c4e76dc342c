"""Streams the events of a backtest to a running `panoply http`, while the strategy runs.

    with Run("http://127.0.0.1:8642", strategyName="EMA cross", parameters={"fast": 8}) as run:
        bar = run.event("MarketDataEvent", time, {"SecuritySymbol": "EURUSD", "Data": {"Close": 1.1}})
        run.event("TradeExecution", time, {...}, parent=bar)

Needs nothing but Python. Every event has a number of its producer, from 1; the server skips numbers
that it has on disk and refuses gaps. So a batch that was interrupted is sent again from the first
number that is not on disk, and each event is stored once. Leaving the block seals the run, unless an
exception ends it: then the run stays open, and `Run(url, run_id=...)` continues it.
"""

import datetime
import http.client
import json
import time
import urllib.parse
import uuid


class Refused(Exception):
    """The server refused a request; trying again will not help."""


class Run:
    """An open run. Events are sent in batches; `flush` returns once they are on disk."""

    def __init__(self, url, run_id=None, token=None, batch=1000, attempts=8, timeout=60, **header):
        self.run_id = str(run_id or uuid.uuid4())
        self.token, self.batch, self.attempts, self.timeout = token, batch, attempts, timeout
        self.url = urllib.parse.urlsplit(url)
        self.pending = []
        self.rejected = []
        self._request("PUT", "", json.dumps(header).encode())
        self.sent = self._state()["lastSequence"] or 0

    def event(self, event_type, time, properties, parent=None, severity=None, category=None, event_id=None):
        """Adds an event and returns its id. `time` is a datetime (UTC unless it has a zone) or ISO 8601."""
        if isinstance(time, datetime.datetime):
            aware = time if time.tzinfo else time.replace(tzinfo=datetime.timezone.utc)
            time = aware.astimezone(datetime.timezone.utc).isoformat().replace("+00:00", "Z")
        event_id = str(event_id or uuid.uuid4())
        event = {
            "eventId": event_id, "runId": self.run_id, "timestamp": time, "eventType": event_type, "severity": severity,
            "category": category, "properties": properties, "parentEventId": parent and str(parent),
        }
        self.pending.append(json.dumps({name: value for name, value in event.items() if value is not None}))
        if len(self.pending) >= self.batch:
            self.flush()
        return event_id

    def flush(self):
        """Sends what is pending until it is on disk."""
        failures = 0
        while self.pending:
            try:
                self._send()
                failures = 0
            except (OSError, http.client.HTTPException) as error:
                failures += 1
                if failures >= self.attempts:
                    raise
                time.sleep(min(2**failures * 0.05, 5))
                self._resume(error)

    def seal(self):
        """Sends the rest and completes the run; returns the report."""
        self.flush()
        return json.loads(self._request("POST", "/seal"))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.report = self.seal()

    def _send(self):
        body = ("\n".join(self.pending) + "\n").encode()
        reply = self._request("POST", f"/events?sequence={self.sent + 1}", body, "application/x-ndjson")
        last = json.loads(reply.strip().splitlines()[-1])
        if not last.get("complete"):
            raise http.client.HTTPException(f"the server ended the stream early: {last}")
        self.rejected += last.get("rejectedLines", [])
        self._advance(last["lastSequence"])

    def _resume(self, cause):
        """Drops what is on disk after an interruption."""
        try:
            self._advance(self._state()["lastSequence"] or 0)
        except (OSError, http.client.HTTPException):
            pass  # The next attempt asks again; `cause` is raised if there is none.

    def _advance(self, last):
        if last > self.sent:
            del self.pending[: last - self.sent]
            self.sent = last

    def _state(self):
        return json.loads(self._request("GET", ""))

    def _request(self, method, path, body=None, content_type="application/json"):
        secure = self.url.scheme == "https"
        make = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = make(self.url.hostname, self.url.port, timeout=self.timeout)
        headers = {"Content-Type": content_type}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        try:
            run = urllib.parse.quote(self.run_id, safe="")
            connection.request(method, f"{self.url.path.rstrip('/')}/backtest/runs/{run}{path}", body, headers)
            reply = connection.getresponse()
            text = reply.read().decode()
        finally:
            connection.close()
        # A busy run, too many requests and failures of the server pass.
        if reply.status in (429, 502, 503, 504) or reply.status == 409 and "RUN_BUSY" in text:
            raise http.client.HTTPException(f"{reply.status}: {text[:300]}")
        if reply.status >= 400:
            raise Refused(f"{method} {path or '/'}: {reply.status}: {text[:1000]}")
        return text
