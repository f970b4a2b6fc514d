"""Token counts of chat completions, under the names that providers give them."""

from typing import Any

from schemas.chunks import Usage
from services.normalizer.decode import counts, object_at


def usage_report(usage: dict[str, Any]) -> Usage:
    """The report that a usage object means.

    `prompt_cache_hit_tokens` is DeepSeek's, a `cached_tokens` at the top Moonshot's, a `reasoning_tokens` at the top
    Perplexity's.
    """
    prompt, completion = object_at(usage, "prompt_tokens_details"), object_at(usage, "completion_tokens_details")
    asked, answered, total, hit, at_top, cached, written, thought, thought_at_top = counts(
        (
            usage.get("prompt_tokens"),
            usage.get("completion_tokens"),
            usage.get("total_tokens"),
            usage.get("prompt_cache_hit_tokens"),
            usage.get("cached_tokens"),
            prompt.get("cached_tokens"),
            prompt.get("cache_write_tokens"),
            completion.get("reasoning_tokens"),
            usage.get("reasoning_tokens"),
        )
    )
    cached = hit if cached is None else cached
    return Usage(
        input_tokens=asked,
        output_tokens=answered,
        cached_input_tokens=at_top if cached is None else cached,
        cache_write_tokens=written,
        reasoning_tokens=thought_at_top if thought is None else thought,
        total_tokens=total,
        raw=usage,
    )
