"""The left ventricle. Its ejection fraction follows from the volumes or comes before them."""

from numerate.lm.data.cardiac.grammar import ByDiagnosis, Graded, Rule

RULES: dict[str, Rule] = {
    "left_ventricle": (
        "[5*|<heading>] [6*<volumes_first>|4*<fraction_first>] [<lv_indexed>|] [2*<lv_output>|5*] "
        "[<walls_and_mass>|<mass_and_walls>|<wall_only>|<mass_only>|4*] <motion> [<comparison>|9*]"
    ),
    "heading": "[findings|cardiac findings|left ventricle|volumes and function|LV]:",
    "lv": "[left ventricular|LV]",
    "volumes_first": (
        "[<edv_esv>|<edv_esv>|<size_first>] [2*<function_sentence>|<function_then_number>]"
    ),
    "edv": "[3*end-diastolic volume|4*EDV]",
    "esv": "[3*end-systolic volume|4*ESV]",
    "ef": "[3*ejection fraction|3*EF]",
    "edv_esv": (
        "[the|2*] <lv> <edv> [2*is|2*was|measures|measured|2*] {lv_edv} mL[, with an <esv> of| and "
        "[the|2*] <esv> [2*|is|was]|, <esv>] {lv_esv} mL[2*|, [giving|with|for] a stroke volume of "
        "{lv_sv} mL|, SV {lv_sv} mL]."
    ),
    "size_first": (
        "[the|2*] [left ventricle|LV] [measures|has a volume of|is] {lv_edv} mL [in|at end] "
        "diastole and {lv_esv} mL [in|at end] systole[, [so it|and] is <lv_size>|2*| (stroke "
        "volume {lv_sv} mL)]."
    ),
    "function_sentence": (
        "[[the|2*] <ef> [is|was|is calculated at|calculated at|2*] {lv_ef}%|this [gives|"
        "corresponds to|yields] an <ef> of {lv_ef}%][[,|] [indicating|consistent with|in keeping "
        "with|reflecting] <lv_function>|: <lv_function>|; the ventricle is <lv_size>[|, with "
        "<lv_function>]]."
    ),
    "function_then_number": (
        "[there is|this indicates|overall there is|2*] <lv_function>[[,|] with an <ef> of {lv_ef}%|"
        " (<ef> {lv_ef}%)|[,|] <ef> {lv_ef}%|;[the|] <ef> is {lv_ef}%]."
    ),
    "fraction_first": (
        "[3*[the|2*] <lv> <ef> [is|was|measures|] {lv_ef_first}%|[overall|global|resting] <lv> "
        "[systolic|] function [is|was] [assessed|quantified] at an <ef> of {lv_ef_first}%][,|] "
        "[with|from] [volumes of {lv_edv} [mL|] and|an <edv> of {lv_edv} mL and an <esv> of|<edv> "
        "{lv_edv} mL[,| and] <esv>] {lv_esv_agreeing} mL[3*| (stroke volume {lv_sv} mL)|, SV "
        "{lv_sv} mL]. [[there is|this represents|overall|] <lv_function>|the [left ventricle|"
        "cavity|LV cavity] is <lv_size>[3*| and [mildly|somewhat|] [trabeculated|spherical]]|the "
        "[left ventricle|LV] is <lv_size>[,|] with <lv_function>]."
    ),
    "lv_size": Graded(
        "lv_size",
        {
            "normal": "[2*normal in size|2*not dilated|of normal size|non-dilated]",
            "mild": "[2*mildly dilated|2*slightly dilated|mildly enlarged]",
            "moderate": "[2*moderately dilated|2*dilated|moderately enlarged]",
            "severe": "[2*severely dilated|2*markedly dilated]",
        },
    ),
    "lv_function": Graded(
        "lv_function",
        {
            "severe": (
                "[2*severely impaired|2*severely reduced|2*poor|markedly impaired] "
                "<systolic_function>"
            ),
            "moderate": (
                "[2*moderately impaired|2*moderately reduced|impaired] <systolic_function>"
            ),
            "mild": "[2*mildly impaired|2*mildly reduced|slightly reduced] <systolic_function>",
            "borderline": "[3*low normal|2*borderline|borderline low] <systolic_function>",
            "normal": "[2*normal|3*preserved|2*good] <systolic_function>",
            "high": "[2*hyperdynamic|2*vigorous|supranormal] <systolic_function>",
        },
    ),
    "systolic_function": (
        "[3*systolic function|global [systolic|] function|2*function|2*contraction|contractility]"
    ),
    "lv_indexed": Graded(
        "surface_area",
        {
            "known": (
                "[[indexed|when indexed] to [body surface area|BSA], the <edv> is {lv_edv_index} "
                "mL/m2|[the|] indexed <edv> [is|] {lv_edv_index} mL/m2]."
            ),
            "unknown": "",
        },
    ),
    "lv_output": Graded(
        "heart_rate",
        {
            "known": (
                "[resting|the|] cardiac output [is|was] {cardiac_output} [L/min|litres per minute]."
            ),
            "unknown": "",
        },
    ),
    "mass": "[the|2*] <lv> mass [2*is|2*was|measures|2*] {lv_mass} g",
    "mass_only": "<mass>[|, which is <lv_mass_grade>].",
    "lv_mass_grade": Graded(
        "lv_mass",
        {
            "normal": "[2*normal|within normal limits|not increased]",
            "mild": "[2*mildly increased|increased|above normal limits]",
            "severe": "[2*markedly increased|severely increased|well above normal limits]",
        },
    ),
    "wall_only": (
        "[[the|] [maximal|diastolic|end-diastolic] septal thickness [is|was] {septum} mm|the "
        "septum measures {septum} mm[2*| in diastole]][|, [with the|and the] lateral wall [|at] "
        "{lateral} mm]. [<wall_grade>|2*]"
    ),
    "walls_and_mass": (
        "[the septum [measures|is]|septal wall thickness is|[the|] interventricular septum is] "
        "{septum} mm and <mass>[3*|, <lv_mass_grade>]. [<wall_grade>|]"
    ),
    "mass_and_walls": (
        "<mass>, with a [maximal|septal|diastolic] wall thickness of {septum} mm. [<wall_grade>|]"
    ),
    "wall_grade": Graded(
        "septum",
        {
            "normal": (
                "[no [evidence of|] hypertrophy|wall thickness is [normal|within normal limits]]."
            ),
            "mild": (
                "[[mild|concentric|mild concentric] [left ventricular|LV|] hypertrophy|the walls "
                "are mildly thickened]."
            ),
            "severe": "<thick_wall>",
        },
    ),
    "motion": ByDiagnosis(
        {
            "normal": "[3*<no_abnormality>|4*]",
            "aortic": "[3*<no_abnormality>|4*]",
            "dilated": "[4*<global_hypokinesia>|<dyssynchrony>|3*]",
            "hypertrophic": "[2*<no_abnormality>|3*<outflow>|3*]",
            "ischaemic": "[6*<regional>|<global_hypokinesia>|2*<no_abnormality>|2*]",
            "myocarditis": "[3*<no_abnormality>|2*<mild_regional>|3*]",
            "amyloid": "[2*<no_abnormality>|2*<global_hypokinesia>|2*<long_axis>|2*]",
        }
    ),
    "no_abnormality": (
        "[there are no|3*no] [2*regional wall motion abnormalities|regional abnormalities|RWMA][3*|"
        " [seen|identified|detected]]."
    ),
    "global_hypokinesia": Graded(
        "lv_function",
        {
            **dict.fromkeys(
                ("severe", "moderate", "mild"),
                "<hypokinesia>",
            ),
            **dict.fromkeys(
                ("borderline", "normal", "high"),
                "<no_abnormality>",
            ),
        },
    ),
    "dyssynchrony": "[there is|] [marked|mild|septal] dyssynchrony.",
    "outflow": (
        "[systolic anterior motion of the mitral valve [is [seen|noted|present]|with outflow tract "
        "obstruction]|no [outflow tract|LVOT] obstruction [at rest|was seen]|there is [cavity "
        "obliteration|near obliteration of the cavity] in systole]."
    ),
    "regional": (
        "[the {wall} wall [is|appears]|[basal|mid|apical|] {wall} segments are|{wall} wall] "
        "[3*hypokinetic|3*akinetic|severely hypokinetic|dyskinetic|thinned and "
        "akinetic]<elsewhere_good>."
    ),
    "long_axis": "long axis function is [reduced|impaired|poor][2*|, with apical sparing].",
    "comparison": (
        "[in <prior_scan>, the <ef> was|the [previous|last] <ef> [was|in <prior_scan> was]] "
        "{lv_ef_earlier}%, so [function|it] <change>."
    ),
    "change": Graded(
        "change",
        {
            "better": "has [improved|recovered|increased][3*| significantly| since]",
            "same": "[is [unchanged|stable|similar]|has not changed[2*| significantly]]",
            "worse": "has [deteriorated|fallen|declined][3*| significantly| since]",
        },
    ),
    "hypokinesia": (
        "[there is|2*] [3*global|generalised|diffuse] hypokinesia[3*|, [with|with relative] "
        "[sparing|preservation] of the [base|basal segments|lateral wall]]."
    ),
    "mild_regional": (
        "[the {wall} wall [is|appears]|[basal|mid|apical|] {wall} segments are] [mildly|slightly|] "
        "hypokinetic<elsewhere_good>."
    ),
    "elsewhere_good": (
        "[3*|, with [preserved|normal|good] [contraction|function] elsewhere|, the remaining "
        "segments contract [well|normally]]"
    ),
    "thick_wall": ByDiagnosis(
        {
            **dict.fromkeys(
                ("normal", "dilated", "ischaemic", "myocarditis", "aortic", "amyloid"),
                "[there is|] [marked|severe|concentric|severe concentric] [LV|] hypertrophy.",
            ),
            "hypertrophic": (
                "[there is|] [marked|severe|asymmetric|asymmetric septal] hypertrophy[2*| of the "
                "[basal|mid] septum| with [no|mild] [apical|lateral] involvement]."
            ),
        }
    ),
    "prior_scan": Graded(
        "prior_year",
        {
            "known": "{prior_year_again}",
            "unknown": "{prior_year}",
        },
    ),
}
