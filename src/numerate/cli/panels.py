"""Options grouped by purpose, the same in every command; flags are shown as flags."""

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

PANELS = {
    "Reading": "input_format keep text field split_names decimal documents tables follow_links "
    "strict timeout",
    "Data": "table source dataset split limit oov_set verify",
    "Model": "suite model members models backbone layers heads inputs hidden dropout vocabulary "
    "vectors sight truncate plain_mixture",
    "Training": "epochs batch_size learning_rate halve_after patience clip seed seeds "
    "mixed_precision resume",
    "Pretrained models": "finetune cache trust_remote_code",
    "Answers": "select ignore alarms min_probability baseline write_baseline fix "
    "everything "
    "top interval uncalibrated by context metrics confidence compare softmax signed",
    "Output": "out force format plot colour tensorboard",
    "Server": "host port token workers stdio",
    "Machine": "engine address processes gpus device threads",
}
_REPEATED = re.compile(r"\{(.*…)\}\.\.\.|\{(\[RUN\].*)\}\.\.\.")
PANEL_OF = {name: panel for panel, names in PANELS.items() for name in names.split()}


class _Shown:
    """How a command's options appear in its help."""

    def get_params(self, ctx: Any) -> list[Any]:
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for option in found:
            if getattr(option, "is_flag", False):
                option.metavar = ""
            if option.name in PANEL_OF and option.param_type_name == "option":
                option.rich_help_panel = PANEL_OF[option.name]
        return found

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """[RUN] FILE… as it is, without the braces of one argument that is repeated."""
        pieces: list[str] = super().collect_usage_pieces(ctx)  # type: ignore[misc]
        return [_REPEATED.sub(r"\1", piece) for piece in pieces]


class Command(_Shown, TyperCommand):
    pass


class Group(_Shown, TyperGroup):
    pass
