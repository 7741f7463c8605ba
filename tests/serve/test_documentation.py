"""The examples of docs/server.md are answered, and look as shown."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import httpx
import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```bash\n(curl .*?)```(?:\s*```json\n(.*?)```)?", TEXT, re.DOTALL)
CALLS = [
    (shlex.split(line), shown)
    for commands, shown in EXAMPLES
    for line in commands.replace("\\\n", " ").splitlines()
]


def shape(value: Any) -> Any:
    """Names and kinds, without values; a list has the shape of its first item."""
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return float if isinstance(value, (int, float)) else type(value)


@pytest.mark.parametrize(("command", "shown"), CALLS, ids=[" ".join(c[1:]) for c, _ in CALLS])
def test_an_example_is_answered_as_shown(
    client: httpx.Client, seeing: httpx.Client, command: list[str], shown: str
) -> None:
    url = command[1].removeprefix("http://127.0.0.1:8000")
    client = seeing if '"tables"' in command[-1] else client
    if "-d" in command:
        headers = dict([command[command.index("-H") + 1].split(": ")])
        answer = client.post(url, content=command[command.index("-d") + 1], headers=headers)
    else:
        answer = client.get(url)
    assert answer.status_code == 200, answer.text
    if shown:
        assert shape(answer.json()) == shape(json.loads(shown))


def test_every_operation_has_an_example(client: httpx.Client) -> None:
    paths = client.get("/v1/openapi.json").json()["paths"].keys()
    called = {command[1].removeprefix("http://127.0.0.1:8000") for command, _ in CALLS}
    assert {path.partition("?")[0] for path in called} >= paths
