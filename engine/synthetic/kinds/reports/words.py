"""Texts of reports (heads, parts, tables), and phrasings of questions about them."""

from __future__ import annotations

from engine.synthetic.concepts import concepts_of

_COMMON = """
report no.; report number; report #; certificate no.; document no.|report number; Which report is it?; number of the report; report id|code
report date; date of report; date issued; reported on; date reported|report date; When was the report issued?; date of the report|date
client; customer; prepared for; submitted to; on behalf of|client; For whom was the report made?; customer; Who ordered it?|company,person
project; project title; project name; job|project; Which project is it about?; name of the project|title,phrase
reference; our ref.; file no.; job no.|reference; file number; job number|code
location; site; place; address of site|location; Where was it done?; Which site was visited?; place of the inspection|city,address
prepared by; written by; author; report by|author; Who wrote the report?; Who prepared the report?|person
reviewed by; checked by; verified by|reviewer; Who checked the report?; Who reviewed it?|person
status; report status; overall status; overall result|status; What is the overall result?; result of the whole|verdict
version; revision; rev.; issue|version; Which revision is it?; revision|number
"""
_OF = {
    "laboratory": """
patient; patient name; name of patient|patient; Who is the patient?; Whose blood was tested?; name of the patient|person
date of birth; dob; birth date|date of birth; When was the patient born?; birthday|date
age / sex; age/gender; age, sex|age and sex; How old is the patient?|agesex
patient id; medical record no.; mrn; hospital no.|patient id; record number; number of the patient|code
physician; referring doctor; ordered by; requesting physician|physician; Who ordered the test?; Which doctor asked for it?|person
specimen; sample type; specimen type; material|specimen; What was tested?; type of sample|specimen
collected; date collected; collection date; specimen taken|date collected; When was the sample taken?; collection date|date
received; date received; received in lab|date received; When did the sample arrive?|date
lab no.; laboratory number; accession no.|laboratory number; accession number|code
ward; department; clinic|ward; From which ward is it?|phrase
""",
    "test": """
sample id; sample no.; specimen no.; lot no.|sample id; Which sample was tested?; sample number|code
sample description; description of sample; product; item tested|sample description; What was tested?; Which product was tested?|brand,phrase
manufacturer; made by; producer|manufacturer; Who made the sample?; maker|company
test method; method; standard; test procedure|test method; Which method was used?; According to which standard was it tested?|standard
test date; date of test; tested on; date tested|test date; When was it tested?; day of the test|date
equipment; instrument; apparatus; test machine|equipment; With what was it tested?; instrument|brand
temperature; test temperature; ambient temperature|temperature; How warm was it during the test?|degrees
humidity; relative humidity; rel. humidity|humidity; How humid was it?|percent
operator; tested by; technician; analyst|operator; Who did the test?; name of the technician|person
""",
    "inspection": """
inspection date; date of inspection; inspected on; date of visit|inspection date; When was it inspected?; day of the visit|date
inspector; inspected by; name of inspector|inspector; Who inspected it?; name of the inspector|person
equipment; item inspected; object; unit|object of the inspection; What was inspected?; item inspected|brand,phrase
serial no.; serial number; plant no.; tag no.|serial number; plant number; tag number|code
owner; operator; proprietor; contractor|owner; Who owns it?; Who runs it?|company,person
weather; conditions; weather conditions|weather; What was the weather like?|weather
next inspection; next inspection due; re-inspection due; valid until|next inspection; When is the next inspection due?; due date of the next visit|date
permit no.; licence no.; registration no.|permit number; licence number|code
type of inspection; inspection type; reason for inspection|type of inspection; Why was it inspected?; What kind of inspection was it?|phrase
""",
    "audit": """
auditee; audited unit; entity; department audited|auditee; Who was audited?; Which unit was audited?|company,phrase
lead auditor; auditor; auditor in charge|lead auditor; Who led the audit?; name of the auditor|person
audit team; team members; auditors|audit team; Who else took part in the audit?; members of the team|people
audit date; date of audit; dates of audit; fieldwork|audit date; When was the audit done?; dates of the fieldwork|dates
audit period; period audited; period covered; fiscal year|audit period; Which period was audited?; period under review|dates
criteria; standard; audit criteria; audited against|criteria; Against what was it audited?; standard of the audit|standard
rating; overall rating; opinion; grade|rating; How was it rated?; overall rating; opinion of the auditors|rating
risk level; risk; risk rating|risk level; How large is the risk?|level
""",
    "research": """
principal investigator; investigator; project leader; study director|principal investigator; Who leads the study?; study director|person
sponsor; funded by; supported by; grant holder|sponsor; Who pays for the study?; Who funds it?|company
grant no.; contract no.; award no.; project no.|grant number; contract number; project number|code
institution; organization; affiliation; laboratory|institution; Where was the study done?; affiliation of the author|company
keywords; key words; subject terms|keywords; Which keywords are given?|terms
study period; period; reporting period; duration|study period; Which period is reported?; How long did the study run?|dates
co-workers; co-authors; staff; contributors|co-workers; Who else worked on it?; contributors|people
subject; topic; title of study|subject; What is the report about?; topic of the study|title
""",
}  # fmt: skip

# Names of parts, and phrasings of questions for their text.
_PARTS = """
Summary; Executive Summary; Abstract; Overview|summary; What is the summary?; What does the report say in short?; abstract|text
Introduction; Background; Purpose; Scope; Objective; Objectives|purpose of the report; What is the purpose?; Why was it done?; background|text
Methods; Method; Procedure; Materials and Methods; Test Procedure; Approach|method; How was it done?; Which procedure was followed?; description of the method|text
Discussion; Interpretation; Assessment; Evaluation|discussion; How are the results judged?; interpretation of the results|text
Conclusion; Conclusions; Final Remarks|conclusions; What are the conclusions?; What was concluded?; conclusion of the report|text
Recommendations; Actions required; Corrective action; Next steps|recommendations; What is recommended?; What should be done?; required actions|text
Remarks; Comments; Notes; Observations|remarks; Are there any remarks?; comments; What was remarked?|text
Limitations; Reservations; Disclaimer|limitations; What are the limits of the report?; reservations|text
"""

COMMON = concepts_of(_COMMON)
OF = {sort: concepts_of(table) for sort, table in _OF.items()}
PARTS = concepts_of(_PARTS)

# Blood values: name, unit, lower and upper reference limit.
ANALYTES = (
    ("Glucose", "mg/dL", 70, 105), ("Sodium", "mmol/L", 135, 145), ("Potassium", "mmol/L", 3.5, 5.1), ("Calcium", "mg/dL", 8.5, 10.5),
    ("Creatinine", "mg/dL", 0.6, 1.3), ("Urea", "mg/dL", 15, 45), ("Albumin", "g/dL", 3.5, 5.2), ("Hemoglobin", "g/dL", 12.0, 17.0),
    ("Hematocrit", "%", 36, 50), ("White cells", "10^3/uL", 4.0, 11.0), ("Platelets", "10^3/uL", 150, 400), ("Cholesterol", "mg/dL", 120, 200),
    ("HDL", "mg/dL", 40, 80), ("LDL", "mg/dL", 50, 130), ("Triglycerides", "mg/dL", 40, 150), ("Bilirubin", "mg/dL", 0.2, 1.2),
    ("ALT", "U/L", 7, 56), ("AST", "U/L", 10, 40), ("Iron", "ug/dL", 60, 170), ("Ferritin", "ng/mL", 20, 250), ("TSH", "mIU/L", 0.4, 4.5),
    ("Uric acid", "mg/dL", 3.0, 7.0), ("Protein", "g/dL", 6.0, 8.3), ("CRP", "mg/L", 0, 5), ("Chloride", "mmol/L", 98, 107),
)  # fmt: skip
TITLES = {
    "laboratory": (
        "Laboratory report",
        "Clinical laboratory report",
        "Test results",
        "Pathology report",
        "Blood test report",
    ),
    "test": ("Test report", "Report of test", "Material test report", "Report of analysis", "Test results"),
    "inspection": (
        "Inspection report",
        "Site inspection report",
        "Report of inspection",
        "Safety inspection",
        "Site visit report",
    ),
    "audit": ("Audit report", "Internal audit report", "Report of the auditors", "Quality audit", "Report on audit"),
    "research": (
        "Progress report",
        "Research report",
        "Final report",
        "Technical report",
        "Study report",
        "Quarterly report",
    ),
}
