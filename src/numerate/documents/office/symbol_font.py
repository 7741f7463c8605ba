"""The font Symbol, whose characters Word keeps by their places in it: `±` is F0B1."""

_FROM_20 = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾"
    "αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
)
_FROM_A0 = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓"
    "◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
)
_PICTURES = {"wingdings", "wingdings 2", "wingdings 3", "webdings"}
_PRIVATE = range(0xF000, 0xF100)  # where fonts of symbols have their characters


def symbol(code: str, font: str) -> str:
    """The character that a code in hexadecimals stands for; a space where nobody knows."""
    try:
        number = int(code, 16)
    except ValueError:
        return " "
    if font.lower() == "symbol" or (number in _PRIVATE and font.lower() not in _PICTURES):
        for first, characters in ((0x20, _FROM_20), (0xA0, _FROM_A0)):
            if first <= number % 256 < first + len(characters):
                return characters[number % 256 - first]
        return " "
    is_known = number not in _PRIVATE and 0x20 <= number < 0x11_0000
    return chr(number) if is_known and not 0xD800 <= number < 0xE000 else " "
