"""Templates: a loss mask can be made, or the template is refused with the reason."""

from __future__ import annotations

import pytest

from training_app import template
from training_app.errors import TemplateRefused

GOOD = template.DEFAULT


def test_the_default_template_is_accepted() -> None:
    template.check(GOOD)


def test_the_end_of_turn_token_is_trained_on() -> None:
    parts = template.skeleton(GOOD, ("user", "assistant"))
    said = next(index for index, part in enumerate(parts) if part.message == 1)
    assert parts[said].trained
    assert parts[said + 1].text.startswith(template.END_OF_TURN)
    assert parts[said + 1].trained


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (GOOD.replace("{%- generation -%}", "").replace("{%- endgeneration -%}", ""), "marks no part"),
        (
            GOOD.replace("+ '<|im_end|>' -}}\n{%- endgeneration -%}", "-}}{%- endgeneration -%}{{- '<|im_end|>' -}}"),
            "learns to stop",
        ),
        (
            GOOD.replace("message['content'] + '<|im_end|>' -}}\n{%- endg", "'…<|im_end|>' -}}\n{%- endg"),
            "every message once",
        ),
        (
            GOOD.replace("{%- else -%}", "{%- else -%}{%- generation -%}").replace(
                "{%- endif -%}\n{%- endfor", "{%- endgeneration -%}{%- endif -%}\n{%- endfor"
            ),
            "trained to write it",
        ),
        (
            GOOD.replace(
                "{%- if add_generation_prompt -%}\n{{- '<|im_start|>",
                "{%- if add_generation_prompt -%}\n{{- '<|im_start|>the ",
            ),
            "would not be those sampled",
        ),
        ("{% for m in messages %}{% generation %}{{ m.content }}", "not valid Jinja"),
        ("{% generation %}{{ raise_exception('only two roles') }}{% endgeneration %}", "only two roles"),
    ],
)
def test_a_template_without_a_mask_is_refused_with_the_reason(broken: str, reason: str) -> None:
    with pytest.raises(TemplateRefused, match=reason):
        template.check(broken)
