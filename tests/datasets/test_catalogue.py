"""Known data sets: found where they are, fetched where they are not."""

from __future__ import annotations

import hashlib
import http.server
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plurule import data as io
from plurule.datasets import catalogue
from plurule.datasets.catalogue import KnownSet, RemoteFile
from plurule.errors import DataError

TRAIN = b"@relation t\n@attribute a numeric\n@attribute l {0,1}\n@attribute m {0,1}\n@data\n" + b"1,0,1\n2,1,0\n" * 2000
TEST = TRAIN.split(b"@data")[0] + b"@data\n3,1,1\n"


class Server:
    """A small web server that can break off, and that remembers what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.break_after: int | None = None
        self.knows_ranges = True
        self.ranges: list[str | None] = []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self.httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.httpd.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.httpd.server_port}"

    def answer(self, request: http.server.BaseHTTPRequestHandler) -> None:
        path = self.folder / request.path.lstrip("/")
        if not path.is_file():
            request.send_error(404, "Not Found")
            return
        content, start = path.read_bytes(), 0
        wanted = request.headers.get("Range")
        self.ranges.append(wanted)
        if wanted and self.knows_ranges:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
        request.send_response(206 if start else 200)
        request.send_header("Content-Length", str(len(content) - start))
        request.end_headers()
        end = len(content) if self.break_after is None else start + self.break_after
        request.wfile.write(content[start:end])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "web").mkdir()
    server = Server(tmp_path / "web")
    yield server
    server.httpd.shutdown()
    server.httpd.server_close()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("PLURULE_DATA", raising=False)
    monkeypatch.delenv("PLURULE_MIRROR", raising=False)
    return tmp_path / "cache" / "plurule"


@pytest.fixture
def toys(server: Server) -> KnownSet:
    """A data set that the server offers."""
    files = []
    for name, content in (("toys-train.arff", TRAIN), ("toys-test.arff", TEST)):
        (server.folder / name).write_bytes(content)
        sha256 = hashlib.sha256(content).hexdigest()
        files.append(RemoteFile(name, f"{server.url}/{name}", sha256, len(content)))
    return KnownSet("toys", "a toy", 4001, 1, 2, 1.0, tuple(files))


def test_a_data_set_is_fetched_once(toys: KnownSet, cache: Path, server: Server) -> None:
    seen: list[tuple[str, int, int]] = []
    folder = catalogue.fetch(toys, progress=lambda *step: seen.append(step))
    assert folder == cache / "toys"
    assert sorted(path.name for path in folder.iterdir()) == ["toys-test.arff", "toys-train.arff", "toys.xml"]
    assert seen[-1] == ("toys-test.arff", len(TEST), len(TEST))
    data = io.read(folder)
    assert data.label_names == ("l", "m")
    assert len(data) == 4001
    asked = len(server.ranges)
    assert catalogue.fetch(toys) == folder
    assert len(server.ranges) == asked


def test_a_fetched_data_set_is_known_by_its_name(toys: KnownSet, cache: Path) -> None:
    catalogue.fetch(toys)
    assert "toys" in catalogue.known_names()
    assert catalogue.where("TOYS") == cache / "toys"
    np.testing.assert_array_equal(io.read("toys", split="test").Y, [[1, 1]])


def test_a_download_that_broke_off_is_taken_up_where_it_ended(toys: KnownSet, cache: Path, server: Server) -> None:
    server.break_after = 9000
    with pytest.raises(
        DataError, match=r"the connection ended after 9000 of \d+ bytes; try again, what is there is kept"
    ):
        catalogue.fetch(toys)
    assert (cache / "toys" / "toys-train.arff.part").stat().st_size == 9000
    assert catalogue.where("toys") is None
    server.break_after = None
    catalogue.fetch(toys)
    assert server.ranges == [None, "bytes=9000-", None]
    assert (cache / "toys" / "toys-train.arff").read_bytes() == TRAIN


def test_a_server_that_knows_no_ranges_sends_the_whole_file_again(toys: KnownSet, cache: Path, server: Server) -> None:
    server.break_after = 9000
    with pytest.raises(DataError):
        catalogue.fetch(toys)
    server.break_after, server.knows_ranges = None, False
    catalogue.fetch(toys)
    assert (cache / "toys" / "toys-train.arff").read_bytes() == TRAIN


def test_a_fetch_that_broke_off_between_files_is_completed(toys: KnownSet, cache: Path, server: Server) -> None:
    (server.folder / "toys-test.arff").unlink()
    with pytest.raises(DataError, match="the server answered 404 Not Found; Try again later"):
        catalogue.fetch(toys)
    (server.folder / "toys-test.arff").write_bytes(TEST)
    catalogue.fetch(toys)
    assert len(io.read(cache / "toys")) == 4001
    assert server.ranges == [None, None]


def test_a_file_with_another_checksum_is_refused_and_not_kept(toys: KnownSet, cache: Path, server: Server) -> None:
    (server.folder / "toys-train.arff").write_bytes(TRAIN.replace(b"1,0,1", b"9,0,1"))
    with pytest.raises(DataError, match=r"is not the file that was expected \(SHA-256 .*\. Nothing was kept"):
        catalogue.fetch(toys)
    assert list((cache / "toys").iterdir()) == []


def test_a_file_that_is_too_large_is_not_fetched_to_its_end(toys: KnownSet, cache: Path, server: Server) -> None:
    (server.folder / "toys-train.arff").write_bytes(TRAIN + b"1,0,1\n" * 100_000)
    with pytest.raises(DataError, match="is larger than the"):
        catalogue.fetch(toys)


def test_offline_the_message_says_what_to_do(toys: KnownSet, cache: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/toys-train.arff"
    offline = KnownSet("toys", "a toy", labels=2, files=(RemoteFile("toys-train.arff", url, "0" * 64, 10),))
    with pytest.raises(
        DataError, match=r"cannot be reached \(.*\)\. Are you offline\? Try again later .* PLURULE_DATA"
    ):
        catalogue.fetch(offline)


def test_a_mirror_is_asked_instead(
    toys: KnownSet, cache: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tuple(RemoteFile(f.name, "https://nowhere.invalid/x", f.sha256, f.size) for f in toys.files)
    (server.folder / "toys").mkdir()
    for file in toys.files:
        (server.folder / file.name).rename(server.folder / "toys" / file.name)
    monkeypatch.setenv("PLURULE_MIRROR", f"{server.url}/")
    catalogue.fetch(KnownSet("toys", "a toy", labels=2, files=elsewhere))
    assert (cache / "toys" / "toys-test.arff").read_bytes() == TEST


def test_only_web_addresses_are_fetched(cache: Path, tmp_path: Path) -> None:
    local = KnownSet("toys", "a toy", labels=2, files=(RemoteFile("x", f"file://{tmp_path}/x", "0" * 64, 1),))
    with pytest.raises(DataError, match="expected an address that begins with https:// or http://"):
        catalogue.fetch(local)


def test_a_local_folder_comes_before_the_cache(toys: KnownSet, cache: Path, tmp_path: Path, monkeypatch: Any) -> None:
    folder = tmp_path / "mine" / "Toys"
    folder.mkdir(parents=True)
    (folder / "Toys-train.arff").write_bytes(TEST)
    monkeypatch.setenv("PLURULE_DATA", str(tmp_path / "mine"))
    assert catalogue.fetch("toys") == folder
    assert catalogue.info("toys").topic == "in a local folder"
    assert "Toys" in catalogue.known_names()


def test_what_cannot_be_fetched_says_how_to_get_it(cache: Path) -> None:
    with pytest.raises(DataError, match=r"medical is not offered for download .* put its files into a folder medical"):
        catalogue.fetch("medical")


def test_an_unknown_name_gets_the_nearest_ones(cache: Path) -> None:
    with pytest.raises(DataError, match="no data set is called 'emotion'; did you mean 'emotions'"):
        catalogue.info("emotion")


def test_openml_sets_come_through_scikit_learn(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas as pd
    import sklearn.datasets
    from sklearn.utils import Bunch

    frame = pd.DataFrame({"x": [1.5, 2.5], "kind": pd.Categorical(["a", "b"]), "l": pd.Categorical(["FALSE", "TRUE"])})

    def fetch_openml(data_id: int, **_: Any) -> Bunch:
        assert data_id == 40592
        return Bunch(frame=frame, target_names=["l"])

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    data = io.read(catalogue.fetch("image"))
    assert data.attribute_names == ("x", "kind")
    assert data.Y.tolist() == [[0], [1]]


def test_checksums_are_those_of_the_local_copies(shared_data: Path) -> None:
    for known in catalogue.KNOWN.values():
        for file in known.files:
            path = shared_data / known.name / file.name
            if path.is_file():
                assert hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256
                assert path.stat().st_size == file.size


def test_two_who_fetch_at_once_fetch_each_file_once(toys: KnownSet, cache: Path, server: Server) -> None:
    answer = server.answer

    def slowly(request: http.server.BaseHTTPRequestHandler) -> None:
        time.sleep(0.2)
        answer(request)

    server.answer = slowly  # type: ignore[method-assign]
    with ThreadPoolExecutor(4) as several:
        folders = set(several.map(lambda _: catalogue.fetch(toys), range(4)))
    assert folders == {cache / "toys"}
    assert server.ranges == [None, None]
    assert (cache / "toys" / "toys-train.arff").read_bytes() == TRAIN
    assert sorted(path.name for path in (cache / "toys").iterdir()) == ["toys-test.arff", "toys-train.arff", "toys.xml"]


def test_a_download_that_never_began_leaves_nothing(toys: KnownSet, cache: Path, server: Server) -> None:
    (server.folder / "toys-train.arff").unlink()
    with pytest.raises(DataError, match="the server answered 404"):
        catalogue.fetch(toys)
    assert list((cache / "toys").iterdir()) == []
