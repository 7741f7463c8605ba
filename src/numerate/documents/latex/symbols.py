"""Commands of TeX that stand for a sign, in text or in mathematics."""

import unicodedata

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma "
    "tau upsilon phi chi psi omega"
)


def _greek() -> dict[str, str]:
    found = {}
    for name in _GREEK.split():
        called = {"lambda": "LAMDA"}.get(name, name.upper())
        small = unicodedata.lookup(f"GREEK SMALL LETTER {called}")
        found[name] = found[f"var{name}"] = found[f"up{name}"] = found[f"text{name}"] = small
        found[name.capitalize()] = unicodedata.lookup(f"GREEK CAPITAL LETTER {called}")
    return found


SYMBOLS = {
    **_greek(),
    # signs that TeX itself reads as something else
    "%": "%", "$": "$", "&": "&", "#": "#", "_": "_", "{": "{", "}": "}", "lbrace": "{",
    "rbrace": "}", "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^",
    "textunderscore": "_", "textbar": "|", "textless": "<", "textgreater": ">", "backslash": "\\",
    "percent": "%", "textpercent": "%", "textdollar": "$", "slash": "/", "vert": "|", "|": "‖",
    # spaces; thin ones may stand between thousands
    " ": " ", "\n": " ", "\t": " ", "\r": " ", ",": "\u2009", "thinspace": "\u2009", ":": " ",
    ";": " ", ">": " ", "quad": " ", "qquad": " ", "enspace": " ", "enskip": " ", "space": " ",
    "nobreakspace": " ", "hfill": " ", "hspace": " ", "newline": " ", "linebreak": " ",
    "allowbreak": "", "!": "", "-": "", "/": "", "@": "", "xspace": "",
    # relations and operations, which have space around them
    "times": " × ", "pm": " ± ", "mp": " ∓ ", "div": " ÷ ", "leq": " ≤ ", "le": " ≤ ",
    "leqslant": " ≤ ", "geq": " ≥ ", "ge": " ≥ ", "geqslant": " ≥ ", "neq": " ≠ ", "ne": " ≠ ",
    "approx": " ≈ ", "sim": " ∼ ", "simeq": " ≃ ", "cong": " ≅ ", "equiv": " ≡ ", "ll": " ≪ ",
    "gg": " ≫ ", "lt": " < ", "gt": " > ", "to": " → ", "rightarrow": " → ", "leftarrow": " ← ",
    "Rightarrow": " ⇒ ", "Leftarrow": " ⇐ ", "leftrightarrow": " ↔ ", "longrightarrow": " → ",
    "iff": " ⇔ ", "propto": " ∝ ", "in": " ∈ ", "notin": " ∉ ", "mid": " | ", "lesssim": " ≲ ",
    "gtrsim": " ≳ ", "lessapprox": " ⪅ ", "gtrapprox": " ⪆ ", "uparrow": "↑", "downarrow": "↓",
    "textuparrow": "↑", "textdownarrow": "↓", "cdot": "·", "bullet": "•", "ast": "*", "star": "⋆",
    "circ": "∘", "cup": " ∪ ", "cap": " ∩ ", "subset": " ⊂ ", "subseteq": " ⊆ ", "wedge": " ∧ ",
    "vee": " ∨ ", "land": " ∧ ", "lor": " ∨ ", "neg": "¬", "setminus": " ∖ ", "otimes": " ⊗ ",
    "oplus": " ⊕ ", "colon": ": ", "cdots": "⋯", "ldots": "…", "dots": "…", "textellipsis": "…",
    "infty": "∞", "partial": "∂", "nabla": "∇", "sum": "∑", "prod": "∏", "int": "∫", "forall": "∀",
    "exists": "∃", "emptyset": "∅", "ell": "ℓ", "hbar": "ℏ", "prime": "′", "angle": "∠",
    "lbrack": "[", "rbrack": "]", "lvert": "|", "rvert": "|", "langle": "⟨", "rangle": "⟩",
    "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "checkmark": "✓", "Vert": "‖",
    # text
    "textpm": "±", "texttimes": "×", "textdegree": "°", "degree": "°", "textmu": "µ",
    "micro": "µ", "textohm": "Ω", "textminus": "−", "textendash": "–", "textemdash": "—",
    "textperiodcentered": "·", "textonehalf": "½", "textonequarter": "¼", "textthreequarters": "¾",
    "textonesuperior": "¹", "texttwosuperior": "²", "textthreesuperior": "³", "textbullet": "•",
    "textregistered": "®", "texttrademark": "™", "textcopyright": "©", "copyright": "©",
    "textquotesingle": "'", "textquotedblleft": "“", "textquotedblright": "”", "textquoteleft": "‘",
    "textquoteright": "’", "lq": "‘", "rq": "’", "textasciigrave": "`", "textdagger": "†",
    "dagger": "†", "dag": "†", "textdaggerdbl": "‡", "ddagger": "‡", "ddag": "‡", "S": "§",
    "textsection": "§", "P": "¶", "textparagraph": "¶", "textdoublevert": "‖", "pounds": "£",
    "textsterling": "£", "euro": "€", "texteuro": "€", "EUR": "€", "textyen": "¥", "textcent": "¢",
    "textperthousand": "‰", "permil": "‰", "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "o": "ø", "O": "Ø", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł", "i": "i", "j": "j", "dh": "ð",
    "th": "þ", "TH": "Þ", "DH": "Ð", "textasteriskcentered": "*", "textsurd": "√", "surd": "√",
    "TeX": "TeX", "LaTeX": "LaTeX", "eg": "e.g.", "ie": "i.e.", "textnumero": "№",
    "guillemotleft": "«", "guillemotright": "»", "cent": "¢", "complement": "∁", "textmd": "",
}  # fmt: skip

ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328",
    "d": "\u0323", "b": "\u0331", "r": "\u030a",
}  # fmt: skip

FUNCTIONS = frozenset(
    (
        "log", "ln", "lg", "exp", "sin", "cos", "tan", "max", "min", "arg", "det", "dim", "sup",
        "inf", "lim", "gcd", "Pr", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh",
        "cosh", "tanh", "hom", "ker", "deg",
    )
)  # fmt: skip


def accented(letter: str, accent: str) -> str:
    return unicodedata.normalize("NFC", letter[:1] + ACCENTS[accent]) + letter[1:]
