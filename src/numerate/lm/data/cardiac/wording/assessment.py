"""The right ventricle, the atria, the valves and the aorta, in any order."""

from numerate.lm.data.cardiac.grammar import AnyOrder, ByDiagnosis, Graded, Rule

RULES: dict[str, Rule] = {
    # The rest, in any order; the right ventricle and the aorta are never left out.
    "other_findings": AnyOrder(
        frozenset({"right_ventricle", "atria", "valves", "aorta"}),
        required=frozenset({"right_ventricle", "aorta"}),
        stop={1: 0.25, 2: 0.1},
    ),
    "rv": "[2*right ventricular|3*RV]",
    "right_ventricle": (
        "[5*|[right ventricle|RV|right heart]: ] [2*<rv_numbers>|3*<rv_fraction>] "
        "[<septal_flattening>|5*]"
    ),
    "rv_numbers": (
        "[[the|2*] <rv> <edv> [is|was|2*] {rv_edv} mL|[the|] [right ventricle|RV] measures "
        "{rv_edv} mL][ and [the|] <esv> [is|was|] {rv_esv} mL[2*|[, giving an|, with an] <ef> of "
        "{rv_ef}%|, <ef> {rv_ef}%]|[, | with ] <ef> {rv_ef_measured}%][;|, that is,|:] <rv_size>[, "
        "with| and|,] <rv_function> function."
    ),
    "rv_fraction": (
        "[[the|2*] [right ventricle|RV] [has|shows] an <ef> of|[the|] <rv> <ef> [is|was|]] "
        "{rv_ef_measured}%[4*| on [visual|planimetric] [assessment|analysis]][[,|] [indicating|"
        "consistent with|in keeping with] <rv_function> [systolic|] function| (<rv_function>)]."
    ),
    "rv_size": Graded(
        "rv_size",
        {
            "normal": "[normal in size|2*normal size|not dilated]",
            "mild": "[2*mildly dilated|slightly enlarged]",
            "severe": "[2*dilated|markedly dilated|severely enlarged]",
        },
    ),
    "rv_function": Graded(
        "rv_function",
        {
            "severe": "[2*severely impaired|severely reduced|poor]",
            "moderate": "[2*moderately impaired|moderately reduced]",
            "mild": "[2*mildly impaired|mildly reduced|slightly reduced]",
            "normal": "[3*normal|2*preserved|good]",
        },
    ),
    "septal_flattening": (
        "[[no|there is no] [septal flattening|evidence of a shunt|septal bounce]|TAPSE is [normal|"
        "adequate]]."
    ),
    "atria": "[5*|atria: ] [<left_atrium>|<both_atria>] [4*|<appendage>]",
    "left_atrium": (
        "[[the|2*] [left atrium|LA] [measures|is|has an area of]|[left atrial|LA] area [is|was|]] "
        "{la_area} cm2[, which is| and is|, that is,| and appears|: ] <la_size>."
    ),
    "both_atria": (
        "[[left and right atrial areas are|the atria measure|LA and RA areas are] {la_area} and "
        "{ra_area} cm2[| respectively]|[left atrial|LA] area [is|] {la_area} cm2 and [right atrial|"
        "RA] area [is|] {ra_area} cm2][; the [left atrium|LA] is <la_size>|; the [right atrium|RA] "
        "is <ra_size>|2*]."
    ),
    "la_size": Graded(
        "la_size",
        {
            "normal": "[2*normal|not dilated|within normal limits|normal in size]",
            "mild": "[2*mildly dilated|mildly enlarged|slightly dilated]",
            "severe": "[2*severely dilated|dilated|markedly enlarged]",
        },
    ),
    "ra_size": Graded(
        "ra_size",
        {
            "normal": "[2*normal|not dilated|within normal limits]",
            "mild": "[2*mildly dilated|mildly enlarged]",
            "severe": "[2*severely dilated|dilated]",
        },
    ),
    "appendage": (
        "[no [thrombus|clot] [is seen|was seen|] in the [left atrial|LA|] appendage|the "
        "interatrial septum is [intact|mobile]]."
    ),
    "valves": (
        "[4*|[valves|valvular function]: ] [3*<no_valve_disease>|2*<mitral> [2*|<tricuspid>]|"
        "<tricuspid>|2*<aortic_valve> [2*|<mitral>|<tricuspid>]]"
    ),
    "no_valve_disease": (
        "[[there is|2*] no [significant|important|] [valve|valvular] disease[2*| [seen|"
        "identified]]|[the|] valves [are|appear] [structurally normal|unremarkable|competent]]."
    ),
    "mitral": (
        "[[there is|2*] [trivial|2*mild|moderate|mild to moderate|some] [functional|central|"
        "eccentric|2*] [mitral regurgitation|MR]|the mitral valve [leaflets are [thin|mildly "
        "thickened|mobile]|opens well|is competent]]."
    ),
    "tricuspid": "[there is|2*] [trivial|2*mild|moderate] [tricuspid regurgitation|TR].",
    "aortic_valve": ByDiagnosis(
        {
            **dict.fromkeys(
                ("normal", "dilated", "hypertrophic", "ischaemic", "myocarditis", "amyloid"),
                (
                    "the aortic valve [is [3*trileaflet|tricuspid]|opens [well|normally]][2*| with "
                    "no [stenosis|regurgitation|significant gradient]]."
                ),
            ),
            "aortic": (
                "the aortic valve is [3*bicuspid|trileaflet][2*| with [mild|moderate|trivial] "
                "[regurgitation|stenosis]]."
            ),
        }
    ),
    "aorta": "[2*<aorta_full>|5*<aorta_short>] <aorta_grade> [9*|<arch>]",
    "aorta_full": (
        "[aortic dimensions|aorta|aortic diameters|thoracic aorta]: [sinuses|root|sinuses of "
        "Valsalva] {root} mm, ascending [|aorta] {ascending} mm[|[,| and] descending [|aorta] "
        "{descending} mm]."
    ),
    "aorta_short": (
        "[the|2*] [proximal|tubular|3*] ascending aorta [measures|is|measured|2*] {ascending} "
        "mm[5*| at [the|] [pulmonary artery|PA|bifurcation] level| in [diastole|systole]][2*|[,| "
        "and] [the|] [aortic|] root [|is] {root} mm]."
    ),
    "aorta_grade": Graded(
        "aorta",
        {
            "normal": (
                "[5*|2*the [ascending|] aorta is [not dilated|normal in calibre|of normal "
                "calibre].]"
            ),
            "mild": (
                "the [ascending|] aorta is [2*mildly dilated|mildly ectatic|slightly dilated]."
            ),
            "moderate": "the [ascending|] aorta is [2*moderately dilated|dilated|aneurysmal].",
            "severe": (
                "the [ascending|] aorta is [2*severely dilated|aneurysmal|markedly dilated]."
            ),
        },
    ),
    "arch": "[no|there is no evidence of] [coarctation|dissection].",
}
