"""Formulas of Word as one line of text, as those in MathML are written."""

import re

from numerate.documents.flow import Flow
from numerate.documents.xml import Element, local_name

_SPACED = re.compile(r"\s*([=<>≤≥±×∼≈≃≡≠+−→∈]+)\s*")
_SIGN = re.compile(r"\A([+−±-]) ")  # before one number, and not between two
_PROPERTIES = re.compile(r"\w+Pr")


def write_omml(flow: Flow, element: Element) -> None:
    name = local_name(element)
    if name in ("oMath", "oMathPara"):
        flow.border()
        _write_children(flow, element)
        flow.border()
    elif name == "t":
        flow.text(_SPACED.sub(r" \1 ", element.text or ""))
        flow.border()
    elif name in _SCRIPTED:
        _write_child(flow, element, "e")
        _write_scripts(flow, element, *_SCRIPTED[name])
    elif name == "f":
        _write_group(flow, element.find("{*}num"))
        flow.text("/")
        _write_group(flow, element.find("{*}den"))
        flow.border()
    elif name == "rad":
        flow.text("√(")
        _write_child(flow, element, "e")
        flow.text(")")
    elif name == "d":
        _write_fenced(flow, element)
    elif name == "nary":
        flow.text(f" {_sign(element, 'naryPr', 'chr', '∫')}")
        _write_scripts(flow, element, "sub", "sup")
        flow.space()
        _write_child(flow, element, "e")
    elif name in ("mr", "eqArr"):
        for part in element:
            write_omml(flow, part)
            flow.space()
    elif name in ("del", "moveFrom", "phant") or _PROPERTIES.fullmatch(name):
        pass
    else:
        _write_children(flow, element)


_SCRIPTED = {  # which parts stand below and above the first
    "sSub": ("sub", None),
    "sSup": (None, "sup"),
    "sSubSup": ("sub", "sup"),
    "sPre": ("sub", "sup"),
    "limLow": ("lim", None),
    "limUpp": (None, "lim"),
}


def omml_text(element: Element) -> str:
    flow = Flow()
    write_omml(flow, element)
    return flow.finish()


def _write_children(flow: Flow, element: Element) -> None:
    for part in element:
        write_omml(flow, part)


def _write_child(flow: Flow, element: Element, name: str) -> None:
    for part in element.iterfind(f"{{*}}{name}"):
        write_omml(flow, part)


def _write_scripts(flow: Flow, element: Element, below: str | None, above: str | None) -> None:
    for name, write in ((below, flow.subscript), (above, flow.superscript)):
        script = None if name is None else element.find(f"{{*}}{name}")
        text = "" if script is None else _SIGN.sub(r"\1", omml_text(script))
        if any(character.isalnum() for character in text):
            write(text)
        else:
            flow.text(text)  # a prime or a star: part of the symbol


def _write_group(flow: Flow, element: Element | None) -> None:
    text = "" if element is None else omml_text(element)
    flow.text(f"({text})" if " " in text else text)


def _write_fenced(flow: Flow, element: Element) -> None:
    flow.text(_sign(element, "dPr", "begChr", "("))
    for index, part in enumerate(element.iterfind("{*}e")):
        if index:
            flow.text(_sign(element, "dPr", "sepChr", "|") + " ")
        write_omml(flow, part)
    flow.text(_sign(element, "dPr", "endChr", ")"))


def _sign(element: Element, properties: str, name: str, usual: str) -> str:
    found = element.find(f"{{*}}{properties}/{{*}}{name}")
    if found is None:
        return usual
    return next((str(v) for k, v in found.attrib.items() if str(k).endswith("val")), usual)
