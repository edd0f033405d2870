"""Foreign keys: which column holds the key of which entity, and the words that say so.

A column `fooId` points to an entity when the *head noun* agrees: the words before "id" are the entity's words, or end
in its last word, or name a person where the document has a person entity. `teacherFolder.id` is no teacher: a bare id
in a nest never is a reference. Where e-mail addresses are identities and no entity holds people, a Person is made.

Limits: only references by id or e-mail; resource names ("courses/123") are not taken apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tasks_app.domains import reading_words as lexicon
from tasks_app.domains.model import Attr, Entity, Reference

PEOPLE = {
    "user",
    "student",
    "teacher",
    "guardian",
    "owner",
    "creator",
    "member",
    "author",
    "assignee",
    "person",
    "attendee",
    "organizer",
}
PERSON_ENTITY = {"user", "person", "profile", "people"}
PERSON = "Person"
EMAIL_OF_PERSON = re.compile(
    r"e-?mail (?:address )?of (?:the owner|the owners|a user|the user|the person)"
    r"|(?:attendee|creator|organizer|person|user)'s e-?mail",
    re.I,
)
BACKTICKED = re.compile(r"`([A-Z]\w+)`")


@dataclass(slots=True)
class Nouns:
    """Entities by their words, and who holds people."""

    entities: Mapping[str, Entity]
    person: str = ""
    by_stem: dict[tuple[str, ...], list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, entities: Iterable[Entity]) -> Nouns:
        found = cls({entity.name: entity for entity in entities})
        for name, entity in found.entities.items():
            found.by_stem.setdefault(lexicon.stem(name), []).append(name)
            if (
                set(lexicon.stem(name)) & PERSON_ENTITY
                and entity.kind == "table"
                and any(a.role == "email" for a in entity.attrs)
            ):
                found.person = found.person or name
        return found

    def named(self, stem: tuple[str, ...], owner: Entity) -> str:
        """The entity that a column's words name: people first, then the whole words, then a unique head noun; or ""."""
        if self.person and stem[-1:] and stem[-1] in PEOPLE and self.has_ids():
            return self.person
        exact = self.by_stem.get(stem, [])
        if exact:
            return exact[0]
        heads = [
            name
            for found, names in self.by_stem.items()
            for name in names
            if len(found) > 0 and self._heads(stem, found, owner, name)
        ]
        return heads[0] if len(heads) == 1 else ""

    def _heads(self, stem: tuple[str, ...], found: tuple[str, ...], owner: Entity, name: str) -> bool:
        """Whether `found` is the head of `stem`, or both end in one noun and the rest is a parent of the entity."""
        if stem[-len(found) :] == found:
            return True
        if stem[-1:] != found[-1:] or name == owner.name:
            return False
        parents = {lexicon.stem(parent.entity) for parent in self.entities[name].parents if parent.column != "item_id"}
        return stem[:-1] in parents

    def has_ids(self) -> bool:
        return self.entities[self.person].attr(self.entities[self.person].own_key).role != "email"


def with_references(entities: Iterable[Entity]) -> list[Entity]:
    """The entities with every readable foreign key on its column; keys of parents have theirs already."""
    listed = list(entities)
    names = Nouns.of(listed)
    if not names.person and any(_is_person_email(attr) for entity in listed for attr in entity.attrs):
        listed.append(_person())
        names = Nouns.of(listed)
    return [replace(entity, attrs=tuple(_referring(attr, entity, names) for attr in entity.attrs)) for entity in listed]


def _referring(attr: Attr, entity: Entity, names: Nouns) -> Attr:
    if attr.references or attr.kind != "text" or entity.name == PERSON:
        return attr
    reference = _by_email(attr, names) if _is_person_email(attr) else _by_id(attr, entity, names)
    if reference is None:
        return attr
    role = attr.role if attr.column in entity.key or attr.role == "email" else "foreign_key"
    return replace(
        attr, references=reference, role=role, required=attr.required or (attr.readonly and reference.strict)
    )


def _by_id(attr: Attr, entity: Entity, names: Nouns) -> Reference | None:
    path = attr.path if attr.path not in ("", ".") else attr.column
    leaf = lexicon.words(path.rsplit(".", 1)[-1])
    if not leaf or leaf[-1] not in ("id", "ids"):
        return None
    stem = leaf[:-1]
    own = attr.column == entity.own_key and entity.kind != "part"
    if not stem:
        return None
    target = names.named(stem, entity)
    about_self = own and lexicon.stem(entity.name)[-len(stem) :] == stem and target != names.person
    if not target or (target == entity.name and own) or about_self:
        return None
    key = names.entities[target].own_key
    if not key or (target == entity.name and attr.column == key):
        return None
    return Reference(target, key, attr.description[:200], strict=_is_complete(entity, names.entities[target]))


def _is_complete(entity: Entity, target: Entity) -> bool:
    """Whether the target's other key columns can be matched by columns of ours: by name, or by what they refer to."""
    ours = {attr.column for attr in entity.attrs}
    refers = {(attr.references.entity, attr.references.column) for attr in entity.attrs if attr.references}
    others = [attr for attr in target.attrs if attr.column in target.key and attr.column != target.own_key]
    return all(
        attr.column in ours or (attr.references and (attr.references.entity, attr.references.column) in refers)
        for attr in others
    )


def _is_person_email(attr: Attr) -> bool:
    leaf = lexicon.words(attr.path.rsplit(".", 1)[-1])
    if attr.kind != "text" or leaf[-1:] == ("id",):
        return False
    return bool(EMAIL_OF_PERSON.search(attr.description))


def _by_email(attr: Attr, names: Nouns) -> Reference | None:
    if not names.person or names.has_ids():
        return None
    return Reference(names.person, names.entities[names.person].own_key, attr.description[:200], strict=False)


def _person() -> Entity:
    """People known only by their e-mail addresses; no tool reads them, populate draws guests and owners from them."""
    return Entity(
        name=PERSON,
        table="person",
        kind="table",
        key=("email",),
        own_key="email",
        key_assigned_by="caller",
        attrs=(
            Attr("email", "email", "text", "email", required=True, description="E-mail address."),
            Attr("displayName", "display_name", "text", "person", description="Name as people write it."),
        ),
        natural_keys=("display_name", "email"),
        noun="person",
        plural="people",
        description="A person known by an e-mail address. Made by the reading: the document has no entity for people.",
    )


def mentioned(text: str, names: Iterable[str]) -> list[str]:
    """Entities named in backticks: "Identifier of the `Announcement`, `CourseWork`, or `CourseWorkMaterial`"."""
    known = set(names)
    return [name for name in dict.fromkeys(BACKTICKED.findall(text)) if name in known]
