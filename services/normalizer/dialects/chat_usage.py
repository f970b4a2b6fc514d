"""Token counts of chat completions, under the names that providers give them."""

from typing import Any

from schemas.chunks import Usage
from services.normalizer.decode import count


def usage_report(usage: dict[str, Any]) -> Usage:
    """The report that a usage object means.

    `prompt_cache_hit_tokens` is DeepSeek's, a `cached_tokens` at the top Moonshot's, a `reasoning_tokens` at the top
    Perplexity's.
    """
    prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    cached, thought = count(prompt, "cached_tokens"), count(completion, "reasoning_tokens")
    if cached is None:
        cached = count(usage, "prompt_cache_hit_tokens")
    return Usage(
        input_tokens=count(usage, "prompt_tokens"),
        output_tokens=count(usage, "completion_tokens"),
        cached_input_tokens=count(usage, "cached_tokens") if cached is None else cached,
        cache_write_tokens=count(prompt, "cache_write_tokens"),
        reasoning_tokens=count(usage, "reasoning_tokens") if thought is None else thought,
        total_tokens=count(usage, "total_tokens"),
        raw=usage,
    )
