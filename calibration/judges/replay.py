"""A client that plays stored replies. No network."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from calibration.criteria import criterion_named
from calibration.errors import InputError
from calibration.judges.request import Request, Response, request_digest
from calibration.records import Judge, Prompt, Sample


class ReplayClient:
    """Answers each request with the stored body of its digest; a missing one is an error that names the digest."""

    def __init__(self, replies: Mapping[str, Mapping[str, Any]]) -> None:
        self.replies = replies

    @classmethod
    def for_samples(
        cls, judge: Judge, prompt: Prompt, samples: Iterable[Sample], bodies: Mapping[str, Mapping[str, Any]]
    ) -> ReplayClient:
        """The client for bodies that are known by the id of their sample."""
        criterion = criterion_named(prompt.criterion)
        return cls({request_digest(judge, criterion.inputs(s)): bodies[s.id] for s in samples if s.id in bodies})

    async def complete(self, request: Request) -> Response:
        """The stored reply. Raises InputError when there is none."""
        if request.digest not in self.replies:
            raise InputError(f"no stored reply for request {request.digest}; record it, or ask a model")
        return Response(200, json.dumps(self.replies[request.digest], ensure_ascii=False))

    async def close(self) -> None:
        """Nothing to give back."""
