"""What the myocardium is made of, and what lies around the heart."""

from numerate.lm.data.cardiac.grammar import ByDiagnosis, Graded, Rule

RULES: dict[str, Rule] = {
    "tissue": (
        "[2*<oedema>|9*] <perfusion> [5*|[tissue characterisation|myocardium]: ] <enhancement> "
        "<mapping>"
    ),
    "oedema": ByDiagnosis(
        {
            **dict.fromkeys(
                ("normal", "dilated", "hypertrophic", "ischaemic", "aortic", "amyloid"),
                (
                    "[no [myocardial|] oedema [2*|is seen] on [STIR|T2-weighted] [imaging|images].|"
                    "2*]"
                ),
            ),
            "myocarditis": (
                "[[STIR|T2-weighted] [imaging|images] [shows|demonstrates] [focal|patchy|"
                "extensive] [myocardial|] oedema.|]"
            ),
        }
    ),
    "perfusion": Graded(
        "adenosine",
        {
            "known": "<perfusion_result>",
            "unknown": "",
        },
    ),
    "perfusion_result": ByDiagnosis(
        {
            **dict.fromkeys(
                ("normal", "dilated", "hypertrophic", "myocarditis", "aortic", "amyloid"),
                "<no_ischaemia>",
            ),
            "ischaemic": "[<no_ischaemia>|4*<defect>]",
        }
    ),
    "no_ischaemia": (
        "[there is|] no [inducible|reversible|] [ischaemia|perfusion defect] [2*|[at|with] stress]."
    ),
    "defect": (
        "[stress perfusion [shows|demonstrates|reveals]|stress images [show|demonstrate|reveal]|"
        "there is] [an inducible|a reversible|a subendocardial] [perfusion|] defect in "
        "{defect_segments} [of|out of] 16 segments[2*|, [in the|involving the] [left anterior "
        "descending|LAD|right coronary|circumflex] territory]."
    ),
    "late": (
        "[2*late gadolinium enhancement|2*late enhancement|2*LGE|delayed enhancement|"
        "hyperenhancement]"
    ),
    "enhancement": ByDiagnosis(
        {
            "normal": "<no_enhancement>",
            "dilated": "[3*<no_enhancement>|4*<midwall>]",
            "hypertrophic": "[2*<no_enhancement>|5*<patchy>]",
            "ischaemic": "[7*<infarct>|<no_enhancement>]",
            "myocarditis": "[6*<epicardial>|<midwall>]",
            "aortic": "[7*<no_enhancement>|<insertion>]",
            "amyloid": "[6*<diffuse>|<patchy>]",
        }
    ),
    "no_enhancement": (
        "[there is|2*] no [3*|abnormal|evidence of|convincing] <late>[2*| to suggest [fibrosis|"
        "scar|infarction|infiltration]| [seen|identified|detected]]."
    ),
    "midwall": (
        "[there is|on late imaging there is] [linear|patchy|faint|] mid-wall <late> [in the|of the|"
        "involving the] [basal|mid|] [2*septum|lateral wall|inferolateral wall]."
    ),
    "insertion": "[minor|faint] <late> at the [right ventricular|RV] insertion points.",
    "patchy": (
        "[there is|on late imaging there is|] [patchy|extensive patchy|focal|confluent] [mid-wall|"
        "intramyocardial|] <late> [in|within] the [hypertrophied segments|septum|anterior wall|"
        "hypertrophied septum][2*|, [involving|affecting] {scar_segments} [of|out of] 17 segments|"
        ", [about|around|approximately] [5|10|15|20|25]% of the mass]."
    ),
    "infarct": (
        "[there is|on late imaging there is|late images show|2*] [subendocardial|2*transmural|near "
        "transmural|partial thickness|] [infarction|<late>|scarring] of the <infarct_site> wall[,|"
        "] [involving|affecting|in] {infarct_segments} [3*of|2*out of] 17 segments[5*|, with [up "
        "to|less than|more than|at least] [25|50|75|100]% transmurality].[3*| [microvascular "
        "obstruction is [present|absent]|no [left ventricular|LV|apical] thrombus[| is seen]|no "
        "mural thrombus].]"
    ),
    "infarct_site": Graded(
        "wall_known",
        {
            "known": "{wall_again}",
            "unknown": "{wall}",
        },
    ),
    "epicardial": (
        "[there is|late images show] [patchy|linear|focal|extensive|] [subepicardial|epicardial] "
        "<late> [in|of] the [lateral|inferolateral|inferior|basal inferolateral|basal lateral] "
        "wall[2*|, [involving|affecting|in] {scar_segments} [of|out of] 17 segments]."
    ),
    "diffuse": (
        "[there is|late images show] [diffuse|global|widespread] [subendocardial|transmural] "
        "<late>[2*|, with abnormal nulling of the myocardium| and a dark blood pool]."
    ),
    "mapping": Graded(
        "field",
        {
            "known": "[2*<t1>|<ecv_only>|3*]",
            "unknown": "[<ecv_only>|9*]",
        },
    ),
    "t1": (
        "[native|mean native|septal native|non-contrast] [myocardial|2*] T1 [was|is|measured] "
        "{native_t1} ms[2*|[,| and] [extracellular volume|ECV] [was|is|] {ecv}%]."
    ),
    "ecv_only": (
        "[the|] [extracellular volume|ECV|extracellular volume fraction] [is|was|measured] {ecv}%."
    ),
    "elsewhere": "[4*<pericardium> [3*|<lungs>]|<effusions>|2*<lungs>|<incidental>]",
    "pericardium": (
        "[[no|there is no] [pericardial|pericardial or pleural|significant pericardial] effusion|"
        "[a|there is a|] [small|trivial|tiny] pericardial effusion|the pericardium is [normal|not "
        "thickened|of normal thickness]]."
    ),
    "lungs": (
        "[no [relevant|significant|important|] [extracardiac|non-cardiac] [findings|abnormality]|"
        "the [visualised|imaged] [lungs are|mediastinum is] [unremarkable|normal]]."
    ),
    "incidental": (
        "incidental [note is made of|finding of] a [small|simple|] [2*hepatic|renal] cyst."
    ),
    "effusions": "[there are|] [small|trivial|small bilateral|moderate] pleural effusions.",
}
