"""Which arguments of commands and environments of LaTeX are no text.

`s` is a star, `o` stands in brackets, `m` in braces, `p` in parentheses. What comes after them is
text, as far as it is a command that prints some.
"""

ARGUMENTS = {
    "label": "m", "vspace": "sm", "hspace": "sm", "includegraphics": "som",
    "bibliography": "m", "bibliographystyle": "m", "addbibresource": "om", "usepackage": "omo",
    "documentclass": "omo", "RequirePackage": "omo", "PassOptionsToPackage": "mm",
    "pagestyle": "m", "thispagestyle": "m", "pagenumbering": "m", "setlength": "mm",
    "addtolength": "mm", "setcounter": "mm", "addtocounter": "mm", "stepcounter": "m",
    "refstepcounter": "m", "newcounter": "mo", "newlength": "m", "color": "om", "textcolor": "om",
    "colorbox": "om", "fcolorbox": "omm", "definecolor": "mmm", "colorlet": "mm", "fontsize": "mm",
    "hypersetup": "m", "newtheorem": "smomo", "theoremstyle": "m", "newcolumntype": "mom",
    "graphicspath": "m", "geometry": "m", "title": "om", "author": "om", "date": "m", "thanks": "m",
    "affiliation": "om", "affil": "om", "email": "m", "address": "om", "institute": "m",
    "keywords": "m", "orcid": "m", "institution": "m", "city": "m", "country": "m",
    "parbox": "ooom", "pbox": "om", "raisebox": "moo", "resizebox": "smm", "scalebox": "mo",
    "makebox": "oo", "framebox": "oo", "rotatebox": "om", "hypertarget": "m",
    "footnotemark": "o", "index": "om", "glossary": "m", "todo": "om",
    "lstset": "m", "lstinputlisting": "om", "verbatiminput": "m", "inputminted": "omm",
    "phantom": "m", "hphantom": "m", "vphantom": "m", "rule": "omm", "captionsetup": "om",
    "renewenvironment": "smoomm", "newenvironment": "smoomm", "allowdisplaybreaks": "o",
    "numberwithin": "omm", "foreignlanguage": "m", "selectlanguage": "m", "bibitem": "om",
    "addcontentsline": "mmm", "markboth": "mm", "markright": "m", "includepdf": "om",
    "definecolorset": "mmmm", "setmainfont": "om", "setmathfont": "om", "titleformat": "smommmmo",
    "titlespacing": "smmmm", "fancyhf": "om", "fancyhead": "om", "fancyfoot": "om", "lhead": "m",
    "rhead": "m", "chead": "m", "lfoot": "m", "rfoot": "m", "cfoot": "m", 
    "tikz": "om", "usetikzlibrary": "m", "pgfplotsset": "m", "crefname": "mmm", "Crefname": "mmm",
    "setlist": "om", "newlist": "mmm", "adjustbox": "m", "includesvg": "om", "cellcolor": "om",
    "rowcolor": "omoo", "columncolor": "om", "rowcolors": "ommm", "arrayrulecolor": "om",
    "addlinespace": "o", "noalign": "m", "nocite": "m", "linespread": "m", "pdfbookmark": "omm",
    "vadjust": "m", "discretionary": "mmm", "hyphenation": "m", "DeclareUnicodeCharacter": "mm",
    "AtBeginDocument": "m", "AtEndDocument": "m", "patchcmd": "mmmmm",
    "fontfamily": "m", "fontseries": "m", "fontshape": "m", "linebreak": "o",
    "pagebreak": "o", "nopagebreak": "o", "nolinebreak": "o", "cline": "m", "cmidrule": "opm",
    "hhline": "m", "DTLloaddb": "mm",
}  # fmt: skip

ENVIRONMENT_ARGUMENTS = {
    "minipage": "ooom", "multicols": "mo", "adjustbox": "m", "wrapfigure": "omom",
    "wraptable": "omom", "adjustwidth": "smm", "spacing": "m", "table": "o", "table*": "o",
    "figure": "o", "figure*": "o", "sidewaystable": "o", "threeparttable": "o", "tablenotes": "o",
    "itemize": "o", "enumerate": "o", "list": "mm", "tabbing": "", "varwidth": "om",
    "subtable": "om", "subfigure": "om", "otherlanguage": "m", "tcolorbox": "o", "mdframed": "o",
    "SCfigure": "oo", "SCtable": "oo", "turn": "m", "rotate": "m", "scriptsize": "",
}  # fmt: skip
