"""NovelAI's two text endpoints: a prompt with GLM's role tags, and a story that goes on.

In: both prompts, tools as XML in the prompt, what each endpoint takes of sampling and length. Not in: reading calls back out
of the reply's text (services.normalizer.guards.glm_calls). No request of NovelAI's own clients was at hand: this package
follows the description of its API (https://text.novelai.net/docs) and the template of GLM-4.6, and no server has answered
it yet.
"""
