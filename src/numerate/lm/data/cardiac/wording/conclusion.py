"""The conclusion, which repeats what was found and names a diagnosis."""

from numerate.lm.data.cardiac.grammar import ByDiagnosis, Graded, Rule

RULES: dict[str, Rule] = {
    "conclusion": (
        "[3*conclusion|2*impression|2*summary|opinion|in summary|in conclusion]: "
        "[3*<summary_of_function> <verdict>|<diagnosis_first>] [2*<advice>|3*]"
    ),
    "summary_of_function": (
        "[2*<short_size> [left ventricle|LV][,|] with <lv_function>|<lv_function> of the [left "
        "ventricle|LV]][5*<short_fraction>|3*]."
    ),
    "diagnosis_first": "<verdict_name>[|, with <lv_function><short_fraction>].",
    "short_fraction": (
        "[3* ([3*EF|2*ejection fraction|3*LVEF] {lv_ef_again}%)|, [EF|LVEF|ejection fraction] "
        "{lv_ef_again}%|, [ejection fraction|EF|LVEF] of {lv_ef_again}%|, [ejection fraction|EF|"
        "LVEF] [approximately|about|around] {lv_ef_about}%]"
    ),
    "short_size": Graded(
        "lv_size",
        {
            "normal": "[2*normal sized|non-dilated]",
            "mild": "[2*mildly dilated|slightly dilated]",
            "moderate": "[2*moderately dilated|dilated]",
            "severe": "[2*severely dilated|markedly dilated]",
        },
    ),
    "verdict_name": ByDiagnosis(
        {
            "normal": "[structurally normal heart|normal [cardiac|] study|normal scan]",
            "dilated": "[2*dilated|non-ischaemic] cardiomyopathy",
            "hypertrophic": "[3*hypertrophic cardiomyopathy|HCM]",
            "ischaemic": "[ischaemic heart|coronary artery] disease",
            "myocarditis": "[acute|recent|probable] myocarditis",
            "aortic": "[thoracic|] aortopathy",
            "amyloid": "[cardiac amyloidosis|amyloid heart disease|cardiac amyloid]",
        }
    ),
    "appearances": (
        "[[[the|2*] appearances|[the|these|2*] findings] are [3*consistent with|2*in keeping with|"
        "suggestive of|typical of|most likely due to]|features of|2*findings consistent with]"
    ),
    "verdict": ByDiagnosis(
        {
            "normal": (
                "[3*no [evidence of|features to suggest|sign of] [3*cardiomyopathy|structural "
                "heart disease|infarction|scar|[myocarditis|infiltration]]|[otherwise|overall] "
                "[normal|unremarkable] [study|scan|examination]|the [cause of|explanation for] "
                "[<his>|the] symptoms is not [apparent|evident] [on|from] this scan]."
            ),
            "dilated": (
                "<appearances> [3*dilated cardiomyopathy|non-ischaemic cardiomyopathy|idiopathic "
                "dilated cardiomyopathy][3*|, [with no|without] evidence of [infarction|"
                "ischaemia]]."
            ),
            "hypertrophic": (
                "<appearances> [2*|asymmetric septal|apical] hypertrophic cardiomyopathy<thickest>."
            ),
            "ischaemic": "[4*<infarct_verdict>|<ischaemic_verdict>] <viability>",
            "myocarditis": (
                "<appearances> [acute|recent|previous|2*] myocarditis[3*|, with [some|minor|"
                "moderate] scarring]."
            ),
            "aortic": "<aorta_verdict>",
            "amyloid": (
                "<appearances> [2*cardiac amyloidosis|cardiac amyloid|amyloid infiltration][2*|, "
                "[probably|likely] [of transthyretin type|of light chain type]]."
            ),
        }
    ),
    "thickest": Graded(
        "septum_known",
        {
            "known": "[, maximal wall thickness {septum_again} mm|2*| (septum {septum_again} mm)]",
            "unknown": "",
        },
    ),
    "infarct_verdict": Graded(
        "infarct_known",
        {
            "known": "<infarct_size>",
            "unknown": "<ischaemic_verdict>",
        },
    ),
    "infarct_size": Graded(
        "extent",
        {
            "small": "[small|limited|minor] <infarct_again>",
            "moderate": "[moderate|moderate-sized|previous] <infarct_again>",
            "large": "[large|extensive|large previous] <infarct_again>",
        },
    ),
    "infarct_again": (
        "{wall_again} [infarct|infarction|scar][3*|, {infarct_segments_again} [of|out of] 17 "
        "segments| ({infarct_segments_again} segments)]."
    ),
    "ischaemic_verdict": "<appearances> [ischaemic heart|coronary artery] disease.",
    "viability": Graded(
        "defect",
        {
            "known": (
                "[[inducible|reversible] ischaemia [in {defect_segments_again} segments|in the "
                "territory described|is present].|]"
            ),
            "unknown": (
                "[the [affected|infarcted|] myocardium is [2*viable|2*non-viable|partly viable].|"
                "2*]"
            ),
        },
    ),
    "aorta_verdict": Graded(
        "aorta",
        {
            "normal": "[borderline|upper normal] aortic dimensions ({ascending_again} mm).",
            "mild": "[mildly dilated|mild dilatation of the] ascending aorta<aorta_again>.",
            "moderate": (
                "[moderately dilated|moderate dilatation of the] ascending aorta<aorta_again>."
            ),
            "severe": "[severely dilated|aneurysm of the] ascending aorta<aorta_again>.",
        },
    ),
    "aorta_again": (
        "[2* ({ascending_again} mm)| at {ascending_again} mm|, measuring {ascending_again} mm|]"
    ),
    "advice": ByDiagnosis(
        {
            "normal": "[2*no [further imaging|follow up] [is required|is needed]|<correlation>].",
            "dilated": "[2*<repeat>|<device>|<family_screening>|<correlation>].",
            "hypertrophic": "[2*<family_screening>|<repeat>|<correlation>|<device>].",
            "ischaemic": "[2*<revascularisation>|<repeat>|<device>|<correlation>].",
            "myocarditis": "[4*<repeat>|<correlation>|avoidance of exercise is advised].",
            "aortic": (
                "[4*<repeat>|<family_screening>|surgical referral [is advised|should be "
                "considered]]."
            ),
            "amyloid": "[3*<further_tests>|<correlation>|<repeat>].",
        }
    ),
    "repeat": (
        "[[suggest|recommend] [repeat|follow up] [MRI|scan|imaging] in [3*12|2*6|3|24] months|[a "
        "repeat scan|follow up imaging|surveillance] [in [2*12|6|24] months|is recommended|is "
        "suggested]]"
    ),
    "correlation": "[clinical correlation is [advised|recommended]|please correlate clinically]",
    "device": "[consider|discussion of|assessment for] [device therapy|a defibrillator|an ICD]",
    "family_screening": (
        "[family|genetic] screening [is recommended|is advised|should be considered]"
    ),
    "revascularisation": (
        "[consider|discussion of|suggest discussion of] [revascularisation|coronary angiography]"
    ),
    "further_tests": (
        "[a DPD scan|further investigation|biopsy] [is suggested|is advised|should be considered]"
    ),
}
