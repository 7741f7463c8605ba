"""What others keep in a bucket stays there, whatever a training begins or gives up."""

import pytest
import s3fs

from numerate.errors import NumerateError
from numerate.lm.model.run_folder import CHECKPOINT, RUN
from numerate.lm.train import elsewhere
from numerate.storage import filesystem
from numerate.storage.publish import Upload


def test_what_others_keep_where_a_training_was_given_up_is_not_removed(
    bucket: str, s3: s3fs.S3FileSystem
) -> None:
    place = f"s3://{bucket}/runs/mog"
    theirs, ours = (f"{bucket}/runs/.mog.new/{name}" for name in ("notes.txt", CHECKPOINT))
    s3.pipe_file(ours, b"given up")
    s3.pipe_file(theirs, b"precious")
    message = r"/\.mog\.new: holds notes\.txt, which numerate did not write; move it away"
    with (
        pytest.raises(NumerateError, match=message),
        elsewhere._lead(place, resume=False, force=True),
    ):
        pass
    assert (s3.cat_file(theirs), s3.cat_file(ours)) == (b"precious", b"given up")
    s3.rm_file(theirs)
    with elsewhere._lead(place, resume=False, force=True):
        assert not s3.exists(ours)


def test_what_comes_while_a_run_is_published_is_not_removed(
    bucket: str, s3: s3fs.S3FileSystem
) -> None:
    place = f"s3://{bucket}/runs/.mog.new"
    system, root = filesystem(place)
    s3.pipe_file(f"{root}/notes.txt", b"precious")
    s3.pipe_file(f"{root}/{CHECKPOINT}", b"ours")
    Upload(system, root, place).clear(RUN)
    assert s3.find(root) == [f"{root}/notes.txt"]
