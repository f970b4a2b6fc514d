"""What a generation's request and the settings say of its scene; nobody keeps personas, memories or documents yet."""

from schemas.context import GenerationOptions
from schemas.generations import GenerationRequested
from services.context.building.known import Asked, Scene
from services.runtime.settings import Settings


def scene_of(
    settings: Settings, request: GenerationRequested, options: GenerationOptions, *, bot_id: str, bot_name: str
) -> Scene:
    """The scene, with the bot as itself instead of a persona."""
    return Scene(
        bot_id=bot_id,
        bot_name=bot_name,
        asked=Asked(
            request.message_id, request.author.id, request.author.name, request.content, emitted=request.emitted
        ),
        system_prompt=settings.system_prompt,
        options=options,
    )
