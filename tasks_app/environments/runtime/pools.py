"""Curated values: what people, courses, meetings, rooms and files are called. Data only, drawn from by `filling`.

Names come as (as written, as in an address), so that e-mails agree with names in any script.
"""

from __future__ import annotations

# fmt: off
GIVEN = [(name, name.lower()) for name in [
    "Ana", "Ben", "Carla", "Daniel", "Emma", "Farid", "Grace", "Hugo", "Ines", "Jonas", "Kavya", "Liam", "Maya",
    "Noah", "Olivia", "Priya", "Quentin", "Rosa", "Samuel", "Tara", "Umar", "Vera", "Wanda", "Xavier", "Yusuf",
    "Zoe", "Amara", "Bruno", "Chloe", "Dmitri", "Elena", "Felix", "Gita", "Hana", "Ivan", "Julia", "Kofi", "Lena",
    "Marco", "Nadia", "Oscar", "Petra", "Rahul", "Sofia", "Theo", "Ursula", "Viktor", "Wen", "Yara", "Zane", "Adele",
    "Boris", "Celia", "Dora", "Elias", "Flora", "Goran", "Helen", "Igor", "Joana", "Karim", "Laura", "Mila", "Nils",
    "Otto", "Paula", "Rafael", "Selma", "Tomas", "Vivian",
]]
GIVEN += [
    ("José", "jose"), ("Zoë", "zoe"), ("Łukasz", "lukasz"), ("Søren", "soren"), ("Çağla", "cagla"),
    ("Renée", "renee"), ("Jürgen", "jurgen"), ("Nuño", "nuno"), ("伟", "wei"), ("さくら", "sakura"), ("민준", "minjun"),
    ("ليلى", "layla"), ("يوسف", "yousef"), ("Αλέξης", "alexis"), ("Олена", "olena"),
]
FAMILY = [(name, name.lower()) for name in [
    "Adams", "Baker", "Costa", "Dubois", "Evans", "Fischer", "Garcia", "Haddad", "Ibrahim", "Jensen", "Kumar",
    "Lopez", "Moretti", "Nguyen", "Okafor", "Patel", "Quinn", "Rossi", "Silva", "Tanaka", "Ueda", "Varga", "Weber",
    "Xu", "Yilmaz", "Zimmer", "Abe", "Brandt", "Castillo", "Diallo", "Eriksen", "Ferrari", "Gupta", "Horvat",
    "Ivanov", "Joshi", "Kowalski", "Laurent", "Mensah", "Novak", "Ortiz", "Pereira", "Reyes", "Schmidt", "Torres",
    "Usman", "Vogel", "Walsh", "Yamada", "Zhou", "Andersen", "Bauer", "Cohen", "Demir", "Engel", "Fontaine", "Greco",
    "Hansen", "Iyer", "Jovanovic", "Kim", "Lind", "Marin", "Nakamura", "Olsen", "Petrov", "Ramos", "Santos", "Toth",
    "Urban", "Vidal", "Wagner", "Young", "Zelenko",
]]
FAMILY += [
    ("Núñez", "nunez"), ("Müller", "mueller"), ("Øster", "oster"), ("Kovačić", "kovacic"), ("Şahin", "sahin"),
    ("García-López", "garcia-lopez"), ("O'Neill", "oneill"), ("王", "wang"), ("佐藤", "sato"), ("김", "gim"),
    ("حسن", "hasan"), ("Παππάς", "pappas"), ("Шевченко", "shevchenko"),
]
SUBJECTS: dict[str, list[str]] = {
    "Biology": [
        "osmosis", "photosynthesis", "cell division", "enzymes", "food webs", "heredity", "the heart", "ecosystems",
    ],
    "Chemistry": [
        "titration", "the periodic table", "acids and bases", "bonding", "reaction rates", "moles", "alkanes",
    ],
    "Physics": ["free fall", "circuits", "waves", "momentum", "lenses", "energy", "pressure", "radioactivity"],
    "Algebra": [
        "linear equations", "quadratics", "inequalities", "functions", "exponents", "systems of equations",
    ],
    "Geometry": ["similar triangles", "circles", "proofs", "vectors", "volume", "trigonometry", "symmetry"],
    "History": ["the Silk Road", "the Reformation", "1848", "the Great War", "decolonisation", "the Cold War"],
    "Geography": ["plate tectonics", "river basins", "migration", "climate zones", "city growth", "map reading"],
    "English": [
        "Macbeth", "the short story", "persuasive writing", "sonnets", "narrators", "Animal Farm", "dialogue",
    ],
    "French": ["le passé composé", "la famille", "au marché", "les loisirs", "la ville", "le futur simple"],
    "Spanish": ["el pretérito", "la comida", "mi barrio", "el subjuntivo", "las vacaciones", "la salud"],
    "Art": ["perspective", "still life", "colour theory", "printmaking", "portraits", "collage"],
    "Music": ["rhythm", "the string quartet", "major scales", "film music", "improvisation", "notation"],
    "Computer Science": ["loops", "lists", "recursion", "binary numbers", "web pages", "sorting", "databases"],
    "Economics": ["supply and demand", "inflation", "trade", "markets", "taxes", "banks"],
}
COURSE_LEVELS = [f"{grade}{letter}" for grade in range(7, 13) for letter in "CDEFG"]
WORK_KINDS = [
    "Worksheet", "Lab report", "Quiz", "Essay", "Problem set", "Reading notes", "Project plan", "Presentation",
    "Reflection", "Practice test", "Poster", "Homework",
]
MATERIAL_KINDS = [
    "Slides", "Reading", "Video notes", "Handout", "Glossary", "Worked examples", "Study guide",
]
TOPICS = [
    "Unit 1", "Unit 2", "Unit 3", "Unit 4", "Homework", "Projects", "Tests and quizzes", "Reading", "Extra practice",
    "Exam preparation", "Field work", "Resources", "Group work", "Revision",
]
ANNOUNCEMENTS = [
    "Please bring a calculator on Thursday.", "The lab is closed on Monday; we meet in the library.",
    "Slides of today's lesson are online.", "Reminder: permission slips are due on Friday.",
    "Well done on the last quiz!", "No homework over the long weekend.", "The museum visit moved to the 19th.",
    "Office hours are from 3 to 4 pm today.", "Please check the corrected answer key.",
    "Guest speaker next week: prepare two questions.", "Seating plan changes from tomorrow.",
    "The reading list for next month is ready.",
]
DESCRIPTIONS = [
    "Read the chapter first, then answer all questions.", "Work in pairs; hand in one copy each.",
    "Show your working. Calculators are allowed.", "One page is enough.", "Use at least two sources and name them.",
    "Bring a printed copy too.", "See the rubric for how it is marked.", "Optional extension on the last page.",
]
COURSE_DESCRIPTIONS = [
    "Two lessons and one lab a week.", "Builds on last year's course.", "Ends with a project in June.",
    "Open to all who finished the introduction.", "Homework is set on Mondays.",
]
GROUPS = [
    "Table A", "Table B", "Table C", "Lab team Newton", "Lab team Curie", "Reading circle", "Support group",
    "Debate club", "Peer tutors", "Exam group", "Project team Blue", "Project team Green",
]
RUBRIC = [
    "Content", "Structure", "Accuracy", "Use of sources", "Presentation", "Teamwork", "Originality", "Language",
]
LEVELS = [
    "Excellent", "Good", "Fair", "Incomplete",
]
PERIODS = [
    "Autumn term", "Winter term", "Spring term", "Summer term",
]
ROOMS = [
    "Room 101", "Room 114", "Room 203", "Room 207", "Room 312", "Lab 1", "Lab 2", "Library", "Studio", "Gym",
    "Auditorium", "Hall B",
]
MEETINGS = [
    "Weekly planning", "Design review", "Budget check-in", "Hiring sync", "Customer call", "Sprint review",
    "Retrospective", "One-to-one", "Release readiness", "Security briefing", "Vendor negotiation",
    "Roadmap workshop", "Incident follow-up", "Quarterly review", "Press preparation", "Training session",
    "Lunch and learn", "Interview", "Contract review", "Site visit", "Board preparation", "Data clean-up",
    "Team breakfast", "Onboarding", "Demo", "Office hours", "Marketing sync", "Support rota", "Research update",
    "Town hall",
]
MEETING_ABOUT = [
    "", "", "", " – Atlas", " – Borealis", " – Cedar", " – Delta", " – north region", " – south region",
    " – phase 2", " – website", " – mobile app", " – logistics", " – finance", " – pilot", " – partners",
]
PLACES = [
    "Room Ada", "Room Curie", "Room Euler", "Room Hopper", "Room Lovelace", "Room Noether", "Room Turing",
    "Cafeteria", "Video call", "Head office, 3rd floor", "Main Street 12", "Warehouse 2", "Reception",
    "Garden terrace",
]
CALENDARS = [
    "Team Atlas", "Team Borealis", "Engineering", "Marketing", "Sales", "Support rota", "Office events", "Holidays",
    "Training", "Facilities", "Research", "Finance", "Recruiting", "Press", "Field visits", "Volunteers",
    "Book club", "Sports group", "Parents' evening", "Deliveries",
]
AGENDAS = [
    "Agenda: status, risks, next steps.", "Bring last month's figures.", "Please read the draft beforehand.",
    "Dial-in details are in the invitation.", "Minutes: see the shared folder.", "Short stand-up, no slides.",
]
COMMENTS = [
    "Running ten minutes late.", "Joining by phone.", "Can't make it this week.", "Will send a deputy.", "Happy to.",
]
ZONES = [
    "UTC", "Europe/Berlin", "Europe/London", "America/New_York", "Asia/Tokyo", "America/Sao_Paulo",
]
RRULES = [
    "RRULE:FREQ=WEEKLY;COUNT=10", "RRULE:FREQ=WEEKLY;BYDAY=MO,WE;COUNT=12", "RRULE:FREQ=DAILY;COUNT=5",
    "RRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=6", "RRULE:FREQ=WEEKLY;UNTIL=20261218T235959Z",
]
WORDS = [
    "amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "harbor", "inlet", "jade", "kelp", "lagoon",
    "maple", "north", "onyx", "pine", "quartz", "river", "slate", "tundra",
]
COLOURS = [
    "#7986cb", "#33b679", "#8e24aa", "#e67c73", "#f6bf26", "#f4511e", "#039be5", "#616161",
]
FOLDERS = [
    "notes", "archive", "exports", "logs", "shared", "old", "drafts", "archive/2025", "shared/templates",
    "logs/sync",
]
FILE_STEMS = {
    "md": ["meeting_notes", "ideas", "todo", "handover", "checklist", "reading_list", "minutes", "plan"],
    "txt": ["readme", "scratch", "phone_list", "reminder", "letter_draft", "inventory", "contacts_old"],
    "csv": ["attendance", "expenses", "supplies", "room_bookings", "survey", "mailing", "stock", "hours"],
    "json": ["settings", "export", "preferences", "layout", "report", "backup_index"],
    "log": ["sync", "import", "mailer", "backup"],
}
NOTE_LINES = [
    "Call the caretaker about the projector.", "Order more whiteboard markers.", "Ask for the spare keys.",
    "Printer on the second floor is out of toner.", "Move the plants away from the heater.",
    "Check the first-aid box.", "Return the borrowed extension lead.", "Update the phone list.",
    "Book the minibus for spring.", "Thank the volunteers.", "Renew the library cards.", "Label the storage boxes.",
]
ITEMS = [
    "paper A4", "markers", "batteries AA", "tape", "envelopes", "labels", "staples", "folders", "cables", "chalk",
    "glue", "name badges", "paper cups", "light bulbs",
]
POOLS: dict[str, list[str]] = {
    "TOPICS": TOPICS, "ANNOUNCEMENTS": ANNOUNCEMENTS, "DESCRIPTIONS": DESCRIPTIONS, "GROUPS": GROUPS,
    "RUBRIC": RUBRIC, "COURSE_DESCRIPTIONS": COURSE_DESCRIPTIONS, "LEVELS": LEVELS, "PERIODS": PERIODS,
    "ROOMS": ROOMS, "PLACES": PLACES, "MEETINGS": MEETINGS, "CALENDARS": CALENDARS, "AGENDAS": AGENDAS,
    "COMMENTS": COMMENTS, "ZONES": ZONES, "RRULES": RRULES, "WORDS": WORDS, "COLOURS": COLOURS, "ITEMS": ITEMS,
    "MATERIAL_KINDS": MATERIAL_KINDS,
}
# fmt: on
