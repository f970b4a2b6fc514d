"""Google's generateContent: what a neutral context becomes for Gemini and Gemma, at Gemini's API, Vertex and Vertex Express.

In: contents and parts, signed parts that go back, media, the generation's configuration, addresses. Not in: which tools are
on offer and their schemas (services.context.tools), and the access token of Vertex (services.provider).
"""
