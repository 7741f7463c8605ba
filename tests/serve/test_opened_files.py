"""Files that are sent to the server: of every format, bad ones, and large ones."""

import gzip
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.proofread.papers import PAPER, RIGHT, WRONG, FakeDetector

from numerate.serve.api import create_app
from numerate.serve.guard import Access, Guard
from numerate.serve.limits import Limits

FOLDER = Path(__file__).parents[1] / "data"
REPORTS = sorted((FOLDER / "report").glob("report*"))
ARTICLES = Path(__file__).parents[2] / "examples" / "articles"
BYTES = {"content-type": "application/octet-stream"}
WRITTEN = {".md", ".qmd", ".tex"}  # whose text can be changed


@pytest.fixture(scope="module")
def rules(serving: Any) -> Iterator[httpx.Client]:
    """A server without a model."""
    with serving(None, name=None) as client:
        yield client


def send(client: httpx.Client, name: str, data: bytes, path: str = "document") -> httpx.Response:
    return client.post(f"/v1/{path}", params={"name": name}, content=data, headers=BYTES)


def opened(client: httpx.Client, name: str, data: bytes) -> dict[str, Any]:
    answer = send(client, name, data)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def segments(block: dict[str, Any]) -> list[Any]:
    if block["kind"] != "table":
        return list(block["text"])
    cells = [cell for row in (*block["header"], *block["body"]) for cell in row]
    return [one for some in (block["caption"], *cells, block["notes"]) for one in some]


def marks(answer: dict[str, Any]) -> list[dict[str, Any]]:
    all_of_them = [one for block in answer["blocks"] for one in segments(block)]
    return [one for one in all_of_them if isinstance(one, dict)]


def text_of(some: list[Any]) -> str:
    return "".join(one if isinstance(one, str) else one["text"] for one in some)


def written(answer: dict[str, Any], data: bytes, index: int) -> bytes:
    """The file after a suggestion has been written into it."""
    change = answer["findings"][index]["change"]
    return data[: change["start"]] + b64decode(change["base64"]) + data[change["end"] :]


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.name)
def test_a_report_says_the_same_in_every_format(rules: httpx.Client, path: Path) -> None:
    answer = opened(rules, path.name, path.read_bytes())
    found = answer["findings"]
    assert [(one["code"], one["written"]) for one in found] == [
        ("NUM103", "26.5"),
        ("NUM101", "53"),
        ("NUM301", "0.099"),
    ]
    marked = marks(answer)
    for index, finding in enumerate(found):
        numerals = [one["text"] for one in marked if index in one["numeral_of"]]
        assert numerals == [finding["written"]]
        assert len([one for one in marked if index in one["evidence_of"]]) > 1
    tables = [block for block in answer["blocks"] if block["kind"] == "table"]
    assert tables[0]["label"] == ("Sheet1 1" if path.suffix == ".xlsx" else "Table 1")
    assert all((one["change"] is not None) == (path.suffix in WRITTEN) for one in found)


@pytest.mark.parametrize(
    "path",
    [ARTICLES / "heart.xml", ARTICLES / "baking.html", FOLDER / "office" / "dogs.xlsx"],
    ids=lambda path: path.name,
)
def test_other_formats_have_text_or_tables(rules: httpx.Client, path: Path) -> None:
    assert opened(rules, path.name, path.read_bytes())["blocks"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("notes.txt", WRONG.encode()),
        ("notes.txt", WRONG.encode("utf-16")),
        ("notes.md", b"\xef\xbb\xbf" + f"Für 🫀.\r\n\r\n{WRONG}\r\n".encode()),
        ("notes.rst", WRONG.encode()),
        ("old.tex", b"\\usepackage[latin1]{inputenc} \xfcber " + WRONG.encode()),
        ("tests.csv", b"Term,t,df,p\r\nAge,2.20,28,0.36\r\n"),
        ("tests.csv", "Gr\u00f6\u00dfe;t;df;p\nAge;2.20;28;0.36\n".encode("cp1252")),
        ("tests.tsv", b"Term\tt\tdf\tp\nAge\t2.20\t28\t0.36\n"),
    ],
)
def test_a_suggestion_is_written_into_the_bytes_of_a_file(
    rules: httpx.Client, name: str, data: bytes
) -> None:
    answer = opened(rules, name, data)
    (found,) = answer["findings"]
    assert (found["code"], found["suggestion"]["text"]) == ("NUM301", "0.04")
    new = written(answer, data, 0)
    encoding = "utf-16-le" if data.startswith(b"\xff\xfe") else "ascii"
    assert new == data.replace("0.36".encode(encoding), "0.04".encode(encoding))
    assert opened(rules, name, new)["findings"] == []


def test_what_cannot_be_written_as_it_is_is_not_offered(rules: httpx.Client) -> None:
    data = b"Term;t;df;p\nAge;2,20;28;0,36\n"  # decimal commas are read as points
    (found,) = opened(rules, "tests.csv", data)["findings"]
    assert (found["suggestion"]["text"], found["change"]) == ("0.04", None)


def test_blocks_stand_in_their_order(rules: httpx.Client) -> None:
    data = f"# Trial\n\n- an item\n\n{PAPER}\n\nThe end.".encode()
    blocks = opened(rules, "paper.md", data)["blocks"]
    assert [block["kind"] for block in blocks] == ["#", "item", "", "", "table", ""]
    assert text_of(blocks[0]["text"]) == "Trial"
    assert [text_of(cell) for cell in blocks[4]["header"][0]] == ["Term", "t", "df", "p"]


def test_several_documents_are_one(rules: httpx.Client) -> None:
    lines = ["5 of 10 (60 %) came.", WRONG, RIGHT]
    data = "\n".join(f'{{"text": "{line}"}}' for line in lines).encode()
    answer = opened(rules, "some.jsonl", data)
    marked = marks(answer)
    of_first = [one["text"] for one in marked if 0 in one["numeral_of"]]
    assert of_first == [answer["findings"][0]["written"]]
    probabilities = [one["probability"] for one in answer["findings"]]
    assert (len(probabilities), probabilities) == (2, sorted(probabilities, reverse=True))


def test_all_kinds_of_evidence(serving: Any) -> None:
    with serving(None, name=None, detectors=[FakeDetector(_28=3.0, _1999=3.0)]) as client:
        found = opened(client, "paper.md", PAPER.encode())["findings"]
    kinds = {one["kind"] for finding in found for one in finding["evidence"]}
    assert kinds == {"recomputed", "detected"}


def test_files_beside_it_are_not_looked_for(
    rules: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    (tmp_path / "secret.tex").write_text("A secret of 4711.", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    body = rf"5 men. \input{{secret}} \input{{{tmp_path}/secret}}"
    data = rf"\documentclass{{article}}\begin{{document}}{body}\end{{document}}"
    for name in ("../x.tex", str(tmp_path / "x.tex"), "..\\..\\x.tex"):
        answer = send(rules, name, data.encode())
        assert answer.json()["name"] == "x.tex"
        assert "4711" not in answer.text
        assert len(answer.json()["notices"]) == 2
        assert "is left out" in answer.json()["notices"][0]
    send(rules, "x.tex", data.encode(), "document/report")
    assert "secret" not in "".join(capfd.readouterr())  # the log has no text of anybody's


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("empty.md", b"", "empty.md: nothing in it that could be checked"),
        ("empty.csv", b"", "empty.csv: empty, expected a table"),
        ("a/b.docx", b"no archive", "b.docx: not a Word document (.docx): got no ZIP archive"),
        ("b.xlsx", b"PK\x03\x04broken", "b.xlsx: "),
        ("b.pdf", b"no pages", "b.pdf: "),
        ("b.ods", b"PK\x03\x04", "b.ods: got a ZIP archive, or a document that is one, expected"),
        ("b.md", b"\x81\xff", "b.md: not UTF-8: got byte 0x81 at offset 0"),
        ("b.txt", b"a\0b", "b.txt: not text: got a zero byte at offset 1"),
        ("b.ipynb", b"{}", "b.ipynb: "),
        ("b.txt.gz", b"\x1f\x8bbroken", "b.txt.gz: cannot be read: "),
        ("-", b"\0", "-: not text"),
        ("..", b"5", "name: got none, expected that of a file, such as paper.docx"),
        ("papers/", b"5", "name: got none, expected that of a file, such as paper.docx"),
        ("n" * 1001, b"5", "name: String should have at most 1000 characters"),
        ("\u202eb\n.pdf", b"5", "\\u202eb .pdf: "),
    ],
)
def test_a_bad_file_gets_one_clear_line(
    rules: httpx.Client, name: str, data: bytes, message: str
) -> None:
    for path in ("document", "document/report"):
        answer = send(rules, name, data, path)
        assert answer.status_code == 422, answer.text
        assert answer.json().keys() == {"error"}
        assert answer.json()["error"].startswith(message)


def test_a_file_without_a_name_or_in_disguise_is_refused(rules: httpx.Client) -> None:
    assert rules.post("/v1/document", content=b"5", headers=BYTES).status_code == 422
    for kind in ("text/plain", "multipart/form-data", "application/json"):
        # The first two can be sent by pages of other sites, unasked.
        headers = {"content-type": kind}
        answer = rules.post("/v1/document?name=a.md", content=b"5", headers=headers)
        assert answer.status_code == 415
        assert answer.json()["error"].startswith("got no file: expected its bytes as Content-Type")


def test_how_large_a_file_may_be(serving: Any) -> None:
    limits = Limits(body_bytes=100, file_bytes=2000, file_characters=1000)
    with serving(None, name=None, limits=limits) as client:
        shown = client.get("/v1/model").json()["limits"]
        assert (shown["file_bytes"], shown["file_characters"]) == (2000, 1000)
        assert send(client, "a.txt", b"5 " * 500).status_code == 200
        for data, message in (
            (b"5 " * 1001, "the request is too long: expected at most 2,000 bytes"),
            (b"5 " * 501, "too long: got 1,001 characters in the file, expected at most 1,000"),
            (b"5,5\n" * 400, ""),
        ):
            name = "a.txt" if message else "a.csv"
            answer = send(client, name, data)
            assert answer.status_code == (413 if message else 200)
            assert answer.json().get("error", "") == message
        assert client.post("/v1/check", json={"text": "5" * 200}).status_code == 413


def test_a_token_is_needed_before_a_file_is_kept(serving: Any) -> None:
    limits = Limits(body_bytes=100, file_bytes=2000)
    with serving(None, name=None, limits=limits, access=Access(token="abc")) as client:
        assert send(client, "a.txt", b"5").status_code == 401
        assert send(client, "a.txt", b"5" * 101).status_code == 413
        client.headers["authorization"] = "Bearer abc"
        assert send(client, "a.txt", b"5 " * 101).status_code == 200


@pytest.mark.parametrize("name", ["report.docx", "report.md"])
def test_the_report_of_a_file(rules: httpx.Client, name: str) -> None:
    data = (FOLDER / "report" / name).read_bytes()
    answer = send(rules, name, data, "document/report")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert "NUM103" in answer.text
    assert name in answer.text
    answer = rules.post(f"/v1/document/report?name={name}&format=json", content=data, headers=BYTES)
    assert [one["code"] for one in answer.json()["findings"]] == ["NUM103", "NUM101", "NUM301"]
    refused = rules.post(f"/v1/document/report?name={name}&format=pdf", content=data, headers=BYTES)
    assert refused.json()["error"] == "format: Input should be 'html' or 'json'"


def test_the_report_of_a_text(rules: httpx.Client) -> None:
    body = {"text": WRONG, "tables": ["Term,t,df,p\nAge,2.05,28,0.49"]}
    assert "does not follow from its test" in rules.post("/v1/report", json=body).text
    answer = rules.post("/v1/report", json=body | {"format": "json"})
    assert {one["written"] for one in answer.json()["findings"]} == {"0.36", "0.49"}


def test_the_log_knows_the_paths() -> None:
    app = create_app(None)
    assert isinstance(app, Guard)
    assert {"/v1/check", "/v1/document", "/v1/document/report", "/v1/report"} <= app.paths


def test_what_is_packed_small_and_large_inside_is_refused_before_it_is_read(serving: Any) -> None:
    data = gzip.compress(b'{"text": "It is 5."}\n' * 20_000)
    with serving(None, name=None, limits=Limits(file_bytes=100_000)) as client:
        answer = send(client, "lines.jsonl.gz", data)
    assert len(data) < 100_000
    assert answer.status_code == 413
    assert "bytes in the file" in answer.text
