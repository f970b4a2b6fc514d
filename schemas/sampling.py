"""The words for how a model thinks and samples; the command line reads them at every start, so nothing heavy is loaded."""

from typing import Literal

ThinkingLevel = Literal["auto", "none", "low", "medium", "high"]

SamplingParameter = Literal[
    "temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty", "repetition_penalty", "min_p"
]
