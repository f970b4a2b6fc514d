"""Models that NVIDIA hosts (NIM). Their limits are not told in one place: https://build.nvidia.com/models."""

from services.catalog.seeds.model import ModelSeed

MODELS = (
    ModelSeed("deepseek-ai/deepseek-v3.2", is_default=True, is_free=True),
    ModelSeed("qwen/qwen3.5-397b-a17b", is_smartest=True, is_free=True, sees_images=True),
    ModelSeed("moonshotai/kimi-k2-instruct"),
    ModelSeed("z-ai/glm4.7", is_free=True),
    ModelSeed("stepfun-ai/step-3.5-flash", is_free=True),
    ModelSeed("google/gemma-4-31b-it", sees_images=True),
    ModelSeed("deepseek-ai/deepseek-v4-flash", is_uncensored=True),
)
