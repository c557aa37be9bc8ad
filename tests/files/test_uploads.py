"""What killed processes left of outputs is listed with the output's name, in folders and in stores. See test_stores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from convcli.files import uploads


class Store:
    """A store that lists one upload at a time, as the package s3fs shows it."""

    def __init__(self, keys: list[str], *, has_rights: bool = True) -> None:
        self.keys, self.has_rights, self.aborted = keys, has_rights, list[dict[str, str]]()

    def split_path(self, path: str) -> tuple[str, str, None]:
        bucket, _, key = path.partition("/")
        return bucket, key, None

    def call_s3(self, method: str, **how: str) -> dict[str, Any]:
        if not self.has_rights:
            raise PermissionError("403")
        if method == "abort_multipart_upload":
            self.aborted.append(how)
            return {}
        keys = [key for key in self.keys if key.startswith(how["Prefix"])]
        at = keys.index(how["KeyMarker"]) + 1 if "KeyMarker" in how else 0
        more = {"NextKeyMarker": keys[at], "NextUploadIdMarker": f"id of {keys[at]}"} if at < len(keys) else {}
        page = [{"Key": key, "UploadId": f"id of {key}"} for key in keys[at : at + 1]]
        return {"Uploads": page, "IsTruncated": at + 1 < len(keys), **more}


def test_uploads_below_a_path_are_listed_and_aborted() -> None:
    store = Store(["out/_done/00001.json", "out/part-00000.jsonl", "outer/part-00000.jsonl"])
    left = list(uploads.in_store(store, "bucket/out"))
    assert [each.name for each in left] == ["_done/00001.json", "part-00000.jsonl"]
    left[1].remove()
    key = "out/part-00000.jsonl"
    assert store.aborted == [{"Bucket": "bucket", "Key": key, "UploadId": f"id of {key}"}]


def test_without_rights_or_such_a_store_nothing_is_listed() -> None:
    assert list(uploads.in_store(Store(["out/x"], has_rights=False), "bucket/out")) == []
    assert list(uploads.in_store(object(), "bucket/out")) == []


def test_an_upload_that_may_not_be_aborted_stays() -> None:
    store = Store(["out/x"])
    (left,) = uploads.in_store(store, "bucket/out")
    store.has_rights = False
    left.remove()
    assert store.aborted == []


def test_hidden_files_of_outputs_are_listed_and_removed(tmp_path: Path) -> None:
    (tmp_path / "_done").mkdir()
    for name in (f"_done/.00001.json.{'a' * 16}.tmp", ".mine.tmp", "part-00000.jsonl"):
        (tmp_path / name).touch()
    (left,) = uploads.in_folder(str(tmp_path))
    assert left.name == "_done/00001.json"
    left.remove()
    left.remove()
    assert list(uploads.in_folder(str(tmp_path))) == []
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [".mine.tmp", "part-00000.jsonl"]
