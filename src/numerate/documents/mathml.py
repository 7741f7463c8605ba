"""MathML as one line of text: scripts marked, fractions with a slash, symbols apart."""

import re

from numerate.documents.flow import Flow
from numerate.documents.xml import Element, entity_text, local_name

_SPACED = set("=<>≤≥±×∼≈≃≡≠+−→∈")
_SIGN = re.compile(r"\A([+−±-]) ")  # before one number, and not between two
_IGNORED = {"annotation", "annotation-xml", "mspace", "none", "mprescripts", "mphantom"}


def write_mathml(flow: Flow, element: Element) -> None:
    name = local_name(element)
    if name == "&":
        flow.text(entity_text(element))
    elif name in _IGNORED:
        pass
    elif name == "math":
        flow.border()
        _write_children(flow, element)
        flow.border()
    elif name in {"mn", "mi", "mo", "mtext", "ms"}:
        _write_leaf(flow, element, name)
    elif name in _SCRIPTS and len(element) == 1 + len(_SCRIPTS[name]):
        write_mathml(flow, element[0])
        for script, raised in zip(list(element)[1:], _SCRIPTS[name], strict=True):
            _write_script(flow, _SIGN.sub(r"\1", mathml_text(script)), raised)
    elif name == "mfrac" and len(element) == 2:
        _write_group(flow, element[0])
        flow.text("/")
        _write_group(flow, element[1])
        flow.border()
    elif name in {"msqrt", "mroot"}:
        flow.text("√(")
        _write_children(flow, element)
        flow.text(")")
    elif name == "mfenced":
        flow.text(element.get("open", "("))
        separators = element.get("separators", ",").strip()[:1]
        for index, child in enumerate(element):
            if index:
                flow.text(separators + " ")
            write_mathml(flow, child)
        flow.text(element.get("close", ")"))
    else:
        _write_children(flow, element)


_SCRIPTS = {  # which children after the base stand above the line
    "msup": (True,),
    "msub": (False,),
    "msubsup": (False, True),
    "mover": (True,),
    "munder": (False,),
    "munderover": (False, True),
}


def mathml_text(element: Element) -> str:
    flow = Flow()
    write_mathml(flow, element)
    return flow.finish()


def _write_script(flow: Flow, text: str, raised: bool) -> None:
    if not any(character.isalnum() for character in text):
        flow.text(text)  # an accent (hat, bar), a prime or a star: part of the symbol
    elif raised:
        flow.superscript(text)
    else:
        flow.subscript(text)


def _write_leaf(flow: Flow, element: Element, name: str) -> None:
    text = "".join(str(part) for part in element.itertext()).strip()
    if text in {".", ","}:
        flow.join(text)  # of a number in three leaves: `1` `.` `5`
        return
    flow.text(f" {text} " if name == "mo" and text in _SPACED else text)
    flow.border()


def _write_group(flow: Flow, element: Element) -> None:
    text = mathml_text(element)
    flow.text(f"({text})" if " " in text else text)


def _write_children(flow: Flow, element: Element) -> None:
    flow.text(element.text and element.text.strip())
    for child in element:
        write_mathml(flow, child)
