"""Which provider answers at an address: the name by which the normalizer chooses rules for its errors and its text."""

_BY_DOMAIN = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "openrouter.ai": "openrouter",
    "api.deepseek.com": "deepseek",
    "api.z.ai": "zai",
    "integrate.api.nvidia.com": "nvidia",
    "novelai.net": "novelai",
    "googleapis.com": "google",
    "dashscope.aliyuncs.com": "alibaba",
    "dashscope-intl.aliyuncs.com": "alibaba",
    "api.minimax.io": "minimax",
}


def provider_at(host: str) -> str:
    """The provider's name; of a host without a row, nor below one, `custom:` and the host."""
    labels = host.lower().split(".")
    domains = (".".join(labels[start:]) for start in range(len(labels)))
    return next((_BY_DOMAIN[domain] for domain in domains if domain in _BY_DOMAIN), f"custom:{host}")
