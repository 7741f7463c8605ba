"""`/health` and `/metrics`: what those who look after the server are told, and never more."""

import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client import values
from prometheus_client.parser import text_string_to_metric_families
from tests.serve.test_guard import Fake, check

import numerate
from numerate.proofread.selection import all_rules
from numerate.serve.guard import Access
from numerate.serve.limits import Limits
from numerate.serve.metrics import ServerMetrics

SECRET = "Mrs Miller's potassium"
WRONG = "Of 120 women, 42 of 120 (53 %) walked."


def samples(text: str) -> dict[tuple[str, ...], float]:
    """By name and values of labels, as Prometheus' own parser reads them."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def asked(client: httpx.Client) -> dict[tuple[str, ...], float]:
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return samples(answer.text)


def test_requests_checks_and_findings_are_counted(serving: Any) -> None:
    with serving(None) as client:
        for text in (WRONG, "7", WRONG):
            assert check(client, text).status_code == 200
        client.post("/v1/check", content=b"no JSON", headers={"content-type": "application/json"})
        client.get("/page/main.js")
        client.get("/page/style.css")
        client.post("/v2/check", data={"language": "en-US", "text": WRONG})
        client.post(
            "/v1/document?name=a.md",
            content=WRONG.encode(),
            headers={"content-type": "application/octet-stream"},
        )
        client.post("/v1/report", json={"text": WRONG, "format": "json"})
        found = asked(client)
    assert found["numerate_requests_total", "POST", "/v1/check", "200"] == 3
    assert found["numerate_requests_total", "POST", "/v1/check", "400"] == 1
    assert found["numerate_requests_total", "GET", "/page/{file}", "200"] == 2
    assert found["numerate_checks_total",] == 6
    assert found["numerate_findings_total", "NUM101", "recomputed"] == 5
    assert found["numerate_request_seconds_count", "/v1/check"] == 4
    assert found["numerate_request_seconds_bucket", "+Inf", "/v1/check"] == 4
    assert 0 < found["numerate_request_seconds_sum", "/v1/check"] < 60
    assert found["numerate_requests_in_flight",] == 1  # the one that asks
    assert found["numerate_resident_memory_bytes", "0"] > 1 << 20
    assert 0 < found["numerate_uptime_seconds",] < 600
    assert found["numerate_model_loaded_timestamp_seconds", "0"] > 0


def test_no_text_of_a_request_is_in_them(serving: Any) -> None:
    """Every label is one that the server has a name for, whatever clients make up."""
    with serving(None) as client:
        check(client, f"{SECRET} is 4.2, 42 of 120 (53 %)")
        client.get(f"/{SECRET}", params={"text": SECRET})
        client.request("MILLER", "/v1/check")
        client.post("/v1/check", json={"text": SECRET, SECRET: SECRET})
        client.get("/v1/model", headers={"host": "miller.example", "user-agent": SECRET})
        client.post(
            f"/v1/document?name={SECRET}.md",
            content=SECRET.encode(),
            headers={"content-type": "application/octet-stream"},
        )
        client.post("/v2/check", data={"language": "miller", "text": SECRET})
        text = client.get("/metrics").text
    assert not re.search(r"miller|potassium", text, re.IGNORECASE)
    found = samples(text)
    assert found["numerate_requests_total", "GET", "(other)", "404"] == 1
    assert found["numerate_requests_total", "(other)", "/v1/check", "405"] == 1
    assert found["numerate_refused_total", "foreign host"] == 1
    codes = {key[1] for key in found if key[0] == "numerate_findings_total"}
    assert codes
    assert codes <= set(all_rules())


def test_what_is_refused_is_counted_by_reason(serving: Any) -> None:
    access = Access(loopback=False, token="right")
    with serving(Fake(), access=access, limits=Limits(characters=5)) as client:
        assert client.get("/metrics").status_code == 401
        client.headers["authorization"] = "Bearer right"
        assert check(client, "x" * 6).status_code == 413
        found = asked(client)
    assert found["numerate_refused_total", "token"] >= 1
    assert found["numerate_refused_total", "too long"] == 1


def test_health_says_which_model_answers_and_since_when_to_those_who_may_know(
    serving: Any,
) -> None:
    before = datetime.now().astimezone().replace(microsecond=0)
    with serving(Fake()) as client:
        answer = client.get("/health")
        since = datetime.fromisoformat(answer.json()["since"])
        assert before <= since <= datetime.now().astimezone()
        assert (answer.status_code, answer.json()) == (
            200,
            {
                "status": "ok",
                "version": numerate.__version__,
                "models": ["run"],
                "since": since.isoformat(),
            },
        )
    with serving(Fake(), access=Access(loopback=False, token="right")) as client:
        assert client.get("/health").json() == {"status": "ok"}
        answer = client.get("/health", headers={"authorization": "Bearer right"})
        assert answer.json()["models"] == ["run"]


@pytest.fixture
def value_class(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """As it was after the test, in which workers count in files of a folder."""
    monkeypatch.setattr(values, "ValueClass", values.ValueClass)
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    return tmp_path


def test_counts_are_sums_over_workers_whoever_is_asked(value_class: Path) -> None:
    first, second = (ServerMetrics(worker, value_class, started=1.0) for worker in (0, 1))
    first.begun()
    for metrics, seconds in ((first, 0.02), (second, 0.3), (second, 3.0)):
        metrics.begun()
        metrics.ended("POST", "/v1/check", 200, seconds)
    told = [samples(one.written().decode()) for one in (first, second)]
    for found in told:
        assert found["numerate_requests_total", "POST", "/v1/check", "200"] == 3
        assert found["numerate_request_seconds_bucket", "0.25", "/v1/check"] == 1
        assert found["numerate_request_seconds_bucket", "0.5", "/v1/check"] == 2
        assert found["numerate_request_seconds_count", "/v1/check"] == 3
        assert found["numerate_request_seconds_sum", "/v1/check"] == pytest.approx(3.32)
        assert found["numerate_requests_in_flight",] == 1
        assert {key[1] for key in found if key[0] == "numerate_resident_memory_bytes"} == {"0", "1"}
    volatile = ("numerate_uptime_seconds", "numerate_resident_memory_bytes")
    assert len({str([p for p in one.items() if p[0][0] not in volatile]) for one in told}) == 1


def test_a_worker_that_is_started_anew_goes_on_counting(value_class: Path) -> None:
    dead = ServerMetrics(1, value_class)
    for _ in range(2):
        dead.begun()
    dead.ended("GET", "/health", 200, 0.1)  # the other was under way when it died
    files = sorted(value_class.iterdir())
    anew = ServerMetrics(1, value_class)
    anew.begun()
    anew.ended("GET", "/health", 200, 0.1)
    found = samples(anew.written().decode())
    assert found["numerate_requests_total", "GET", "/health", "200"] == 2
    assert found["numerate_requests_in_flight",] == 0
    assert sorted(value_class.iterdir()) == files


CLAIM = """
import sys
from pathlib import Path
from numerate.serve.metrics import ServerMetrics, claim_number
number = claim_number(Path(sys.argv[1]), 2)
ServerMetrics(number, Path(sys.argv[1])).begun()
print(number, flush=True)
sys.stdin.read()
"""


def test_workers_have_numbers_and_what_held_of_one_that_was_killed_is_removed(
    value_class: Path,
) -> None:
    def worker() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", CLAIM, str(value_class)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def said(one: subprocess.Popen[str]) -> str:
        assert one.stdout is not None
        return one.stdout.readline()

    def end(one: subprocess.Popen[str]) -> None:
        one.kill()
        one.communicate()

    numbers = []
    first = worker()
    numbers.append(said(first))
    second = worker()
    numbers.append(said(second))
    end(second)
    end(first)
    third = worker()
    numbers.append(said(third))
    found = samples(ServerMetrics(2, value_class).written().decode())
    end(third)
    assert numbers == ["0\n", "1\n", "0\n"]
    assert found["numerate_requests_in_flight",] == 1
    memory = {key[1] for key in found if key[0] == "numerate_resident_memory_bytes"}
    assert memory == {"0", "2"}


def test_a_worker_that_ends_leaves_its_counts_and_nothing_else(value_class: Path) -> None:
    ended, other = (ServerMetrics(worker, value_class) for worker in (0, 1))
    ended.checked([])
    ended.close()
    found = samples(other.written().decode())
    assert found["numerate_checks_total",] == 1
    assert {key[1] for key in found if key[0] == "numerate_resident_memory_bytes"} == {"1"}
