"""What a run is called where a model is asked for: by its folder, or `RUN:MEMBER`.

Folders that are there tell which: nobody has to open a model, or load what opens one, to ask.
"""

from pathlib import Path

from numerate.lm.model.shipped.installed import is_shipped, language_model_of
from numerate.storage import exists, here, is_remote


def split_reference(reference: str | Path) -> tuple[Path, str | None]:
    """The folder of a run, or of an installed model, and the member that is asked for, if any."""
    if is_shipped(reference):
        return Path(language_model_of(reference)), None
    folder, colon, member = str(reference).rpartition(":")
    if is_remote(reference):
        is_member = "/" not in member and not exists(reference)
        return (here(folder), member) if is_member else (here(reference), None)
    if not colon or here(reference).exists() or not here(folder).is_dir():
        return here(reference), None
    return here(folder), member
