"""Plan → instruction: seeded phrases, people who ask, and the rules that what they ask must keep."""
