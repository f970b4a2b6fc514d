"""What of a configuration's options can be used: they stand in the database, where somebody may have edited them."""

from typing import cast

from pydantic import ValidationError

from schemas.context import GenerationOptions


def usable_options(held: object) -> tuple[GenerationOptions, tuple[str, ...]]:
    """The options without those that cannot be used, and the names of these; `options` stands for all of them."""
    if not isinstance(held, dict):
        return GenerationOptions(), ("options",)
    values = cast(dict[str, object], held)
    try:
        return GenerationOptions.model_validate(values), ()
    except ValidationError as error:
        left_out = sorted({str(problem["loc"][0]) for problem in error.errors(include_url=False, include_input=False)})
    kept = {name: value for name, value in values.items() if name not in left_out}
    return GenerationOptions.model_validate(kept), tuple(left_out)
