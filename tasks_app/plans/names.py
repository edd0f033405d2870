"""Names that only planted rows bear: the populate step's own pools hold none of them (a test compares)."""

from __future__ import annotations

GIVEN_NAMES = (
    "Adaeze", "Ailsa", "Alejandro", "Anneke", "Anouk", "Bartek", "Beatriz", "Bram", "Branwen", "Caoimhe", "Ceri",
    "Dagny", "Dariusz", "Efua", "Eilidh", "Emre", "Esra", "Farouk", "Fenna", "Gethin", "Gwen", "Hamza", "Hedda",
    "Ifeoma", "Ilse", "Imogen", "Ioana", "Isolde", "Iwan", "Jelena", "Jorrit", "Kalinda", "Katarzyna", "Kofi",
    "Lachlan", "Leocadia", "Lowri", "Magnus", "Maren", "Marisol", "Mbali", "Mihai", "Nadia", "Niamh", "Nikhil",
    "Oisin", "Oluchi", "Orla", "Pelle", "Priyanka", "Radek", "Rhiannon", "Roisin", "Saoirse", "Signe", "Sunniva",
    "Tamsin", "Teodor", "Torvald", "Ursula", "Wanjiru", "Xanthe", "Yaw", "Zainab", "Zofia",
)
FAMILY_NAMES = (
    "Abernethy", "Achebe", "Aldous", "Arkwright", "Asante", "Baranowski", "Birdwhistle", "Bjornstad", "Brackley",
    "Carrow", "Chukwu", "Coldwell", "Dabrowski", "Dalgaard", "De Vries", "Drummond", "Eikeland", "Fairweather",
    "Fennimore", "Galbraith", "Gwynne", "Haddad", "Halloran", "Hollis", "Iyengar", "Jankowska", "Kavanagh",
    "Kilbride", "Kowalczyk", "Lindqvist", "Llewellyn", "Mabuza", "MacAskill", "Marchetti", "Mwangi", "Nakamura",
    "Northcote", "Nwosu", "Odhiambo", "Okonjo", "Pemberton", "Penhaligon", "Quartey", "Radcliffe", "Ravenscroft",
    "Sandvik", "Sobczak", "Strand", "Tavares", "Thorburn", "Trevelyan", "Ueda", "Van Dijk", "Vasquez", "Wetherby",
    "Whitlock", "Wojcik", "Yarrow", "Yilmaz", "Zielinski",
)
