"""Why the patient came and how the scan was done."""

from numerate.lm.data.cardiac.grammar import ByDiagnosis, Graded, Rule

RULES: dict[str, Rule] = {
    "he": Graded(
        "sex",
        {
            "man": "he",
            "woman": "she",
        },
    ),
    "his": Graded(
        "sex",
        {
            "man": "his",
            "woman": "her",
        },
    ),
    "month": (
        "[January|February|March|April|May|June|July|August|September|October|November|December]"
    ),
    "opening": "[11*|4*<dated>|5*<dated_study>] [5*<indication>|4*<referral>|3*<question>]",
    "dated": (
        "[cardiac MRI|cardiac MR|heart MRI|CMR] [scan|study|examination|report], <month> "
        "{scan_year}."
    ),
    "dated_study": (
        "[this|the] [scan|study|examination] was [performed|carried out|undertaken] in [3*|early|"
        "late|<month>] {scan_year}."
    ),
    "indication": (
        "[3*indication|2*clinical indication|clinical details|reason for [scan|referral]|clinical "
        "information|history]: {age}[-year-old|3* year old] {sex} [3*with|presenting with|being "
        "investigated for|followed up for] <complaint>[4*|2* and <condition>| on a background of "
        "<condition>]."
    ),
    "referral": (
        "[2*this|] {age}[-year-old|2* year old] {sex} [4*was|2*has been|is] referred [5*|by the "
        "[cardiology|heart failure|arrhythmia|chest pain] [clinic|team]|from [outpatients|the ward|"
        "primary care]] [with|because of|for investigation of|on account of] <complaint>."
    ),
    "question": (
        "{age}[-year-old|2* year old] {sex}, <background>; [[the|] request is to [assess for|look "
        "for]|[please|kindly|to|2*] [assess for|look for|evaluate for]|question of] <suspicion>."
    ),
    "complaint": ByDiagnosis(
        {
            "normal": (
                "[3*palpitations|3*<chest_pain>|2*an abnormal ECG|syncope|dizziness|"
                "2*breathlessness|a systolic murmur|a family history of <family>]"
            ),
            "dilated": (
                "[3*<breathless>|3*heart failure|2*palpitations|2*<poor_ventricle>|fatigue|ankle "
                "swelling|syncope]"
            ),
            "hypertrophic": (
                "[2*palpitations|2*<chest_pain>|2*an abnormal ECG|2*syncope|<breathless>|2*a "
                "systolic murmur|2*a family history of <family>|a thickened septum on "
                "echocardiography]"
            ),
            "ischaemic": (
                "[3*<chest_pain>|2*<breathless>|heart failure|2*<poor_ventricle>|2*a positive "
                "exercise test|2*a recent infarct|an abnormal ECG]"
            ),
            "myocarditis": (
                "[3*<chest_pain>|2*palpitations|3*a raised troponin|2*a recent viral illness|"
                "<breathless>|syncope]"
            ),
            "aortic": (
                "[3*a dilated aorta on echocardiography|2*<chest_pain>|2*a bicuspid aortic valve|a "
                "diastolic murmur|palpitations|breathlessness|a family history of <family>]"
            ),
            "amyloid": (
                "[3*<breathless>|3*heart failure|2*ankle swelling|2*a thickened septum on "
                "echocardiography|fatigue|an abnormal ECG|palpitations|syncope]"
            ),
        }
    ),
    "chest_pain": (
        "[4*chest pain|2*atypical chest pain|exertional chest pain|chest tightness|angina]"
    ),
    "breathless": (
        "[3*breathlessness|2*exertional dyspnoea|reduced exercise tolerance|worsening "
        "breathlessness on exertion]"
    ),
    "poor_ventricle": (
        "[impaired left ventricular function|a poor left ventricle|an impaired ventricle] on "
        "[echocardiography|echo|a recent echocardiogram]"
    ),
    "family": (
        "[sudden [cardiac|] death|cardiomyopathy|premature coronary disease|aortic dissection]"
    ),
    "background": (
        "[2*[known|treated|longstanding] <condition>|an ex-smoker|a current smoker|[normal|"
        "unobstructed] coronaries|no cardiac history|a keen runner]"
    ),
    "suspicion": ByDiagnosis(
        {
            "normal": "[3*cardiomyopathy|2*structural heart disease|2*ischaemia|myocarditis|scar]",
            "dilated": "[3*cardiomyopathy|2*an underlying cause|ischaemia|scar|viability]",
            "hypertrophic": "[3*cardiomyopathy|2*hypertrophy|structural heart disease|scar]",
            "ischaemic": "[3*ischaemia|3*viability|3*infarction|2*scar|an underlying cause]",
            "myocarditis": "[3*myocarditis|2*cardiomyopathy|2*scar|infarction]",
            "aortic": "[3*aortic dilatation|2*aortopathy|2*structural heart disease]",
            "amyloid": "[3*infiltration|2*cardiomyopathy|2*hypertrophy|an underlying cause]",
        }
    ),
    "history": (
        "[4*<specific_history>|2*<he> [has a history of|is known to have|is treated for] "
        "<condition>[2*|, diagnosed in {earlier_year}].|no [previous|prior|relevant|significant] "
        "cardiac [history|events|surgery].|2*<comparison_study>|<tests>]"
    ),
    "tests": (
        "[[recent|previous] [coronary|] angiography [showed|demonstrated] [unobstructed coronaries|"
        "normal coronary arteries|mild disease only]|[the|<his>] [resting|12-lead|] ECG shows "
        "[sinus rhythm|left ventricular hypertrophy|occasional ectopics]]."
    ),
    "comparison_study": (
        "[comparison is made with|this study is compared with|reference is made to] the [previous|"
        "prior|last] [scan|study|MRI|examination] [of|from|in] {prior_year}."
    ),
    "specific_history": ByDiagnosis(
        {
            "normal": (
                "[2*a previous echocardiogram in {earlier_year} was [normal|unremarkable|"
                "technically limited].|<his> [brother|sister|cousin] died suddenly in "
                "{earlier_year}.]"
            ),
            "dilated": (
                "[heart failure|impaired left ventricular function] was first [noted|diagnosed|"
                "documented] in {earlier_year}[2*|, with [normal|unobstructed] coronaries]."
            ),
            "hypertrophic": (
                "[2*hypertrophic cardiomyopathy|a heart murmur] was [first|] [noted|diagnosed|"
                "suspected] in {earlier_year}."
            ),
            "ischaemic": (
                "[2*[previous|known|prior] [anterior|inferior|lateral|] [myocardial infarction|"
                "STEMI|NSTEMI] in {earlier_year}[3*|, treated by [primary|] angioplasty].|"
                "[coronary surgery|CABG|PCI] in {earlier_year}.]"
            ),
            "myocarditis": (
                "[a [viral|febrile] illness preceded the symptoms|[the|] troponin was [raised|"
                "markedly raised] on admission]."
            ),
            "aortic": (
                "[a [bicuspid aortic valve|dilated aorta|heart murmur] was [first|] [noted|"
                "diagnosed] in {earlier_year}|<his> [cousin|sister|brother] had an aortic "
                "dissection in {earlier_year}]."
            ),
            "amyloid": (
                "[carpal tunnel surgery|heart failure was first diagnosed] in {earlier_year}."
            ),
        }
    ),
    "technique": (
        "[4*<scanner>|6*] [2*<sequences>|5*] [<slices>|5*] [2*<contrast>|5*] [2*<stress>|5*] "
        "[<quality>|6*]"
    ),
    "scanner": (
        "[technique: |2*] [the study was performed|the scan was performed|images were acquired|"
        "imaging was performed|scanned|[the study was|the scan was] carried out] [on|using|with] a "
        "{field} T [scanner|system|magnet][3*| with [retrospective|prospective] ECG gating]."
    ),
    "sequences": (
        "[[standard|routine|full|limited] [protocol|examination|study] with cine and [T2-weighted|"
        "STIR|velocity-encoded|black blood|phase contrast] imaging|[multiplanar|standard] [SSFP|"
        "cine|steady-state] images [2*|of the heart] were [obtained|acquired][2*| during breath "
        "holds| in the short and long axes]]."
    ),
    "slices": (
        "[a contiguous|a complete|a] short axis [cine|] stack [with|of] [3*8|2*10|7|6] mm slices "
        "[2*|and a [2|3] mm gap] was [acquired|obtained|analysed]."
    ),
    "contrast": (
        "[late [gadolinium|] imaging [was performed|followed]|late images were acquired|delayed "
        "images were obtained] [3*|[5|8|3*10|15] minutes] after [2*|intravenous] [4*0.1|2*0.15|"
        "0.2] mmol/kg [of|] [gadolinium|gadobutrol|gadoterate|contrast]."
    ),
    "stress": (
        "[stress perfusion|vasodilator stress|first pass perfusion] [was performed|was carried out|"
        "imaging was undertaken] [with|using] adenosine [at|] {adenosine} mcg[/kg/min|/kg|][3*| "
        "for [3|2*4|6] minutes][|, with [a good|an adequate|a brisk|a limited] haemodynamic "
        "response|, without complication]."
    ),
    "quality": (
        "[[overall|] image quality [was|is] [good|excellent|adequate|diagnostic|satisfactory|"
        "limited by [ectopics|artefact|poor gating]]|the [procedure|scan] was [well tolerated|"
        "uneventful]]."
    ),
    "body": (
        "[[height|patient height:|height was] {height_cm} cm[,| and|;] weight {weight} kg|the "
        "patient is {height_m} m tall and weighs {weight} kg|<he> weighs {weight} kg at a height "
        "of {height_m} m][|, [giving|with] a [body surface area|BSA] of {surface_area} m2]."
    ),
    "vitals": (
        "[2*[resting|] heart rate [was|of|] {heart_rate} [bpm|beats per minute][| and [blood "
        "pressure|BP] {systolic}/{diastolic} mmHg][3*|, [in sinus rhythm|in atrial fibrillation|"
        "with occasional ectopics]]|[blood pressure|BP] [at the time of the scan|before the scan|"
        "at rest] [was|of] {systolic}/{diastolic} mmHg]."
    ),
    "condition": (
        "[3*hypertension|2*hypercholesterolaemia|2*diabetes|atrial fibrillation|asthma|obesity|"
        "kidney disease|previous chemotherapy]"
    ),
}
