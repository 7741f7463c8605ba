"""Elements of Office: the same names in two namespaces, and properties that are on or off."""

from numerate.documents.xml import Element


def switch(properties: Element, name: str) -> bool | None:
    """Whether a property is on; None where nothing is said of it."""
    found = child(properties, name)
    return None if found is None else value(found) not in ("0", "false", "off")


def child(element: Element, name: str) -> Element | None:
    """The first child of that name. Of Office's two namespaces, either may be used."""
    return element.find(f"{{*}}{name}")


def value(element: Element, name: str = "val") -> str:
    """Of an attribute, whatever its namespace."""
    for key, written in element.attrib.items():
        if str(key).rpartition("}")[2] == name:
            return str(written)
    return ""
