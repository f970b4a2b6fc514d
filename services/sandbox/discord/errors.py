"""What Discord refuses, with its HTTP status, its JSON code and its text.

Source: https://docs.discord.com/developers/topics/opcodes-and-status-codes#json
"""

from collections.abc import Sequence

from services.sandbox.discord.jsontypes import JsonObject, JsonValue


class DiscordError(Exception):
    """A refusal; `errors` is the tree that a 50035 carries."""

    def __init__(self, status: int, code: int, message: str, errors: JsonObject | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.errors = errors

    def body(self) -> JsonObject:
        body: JsonObject = {"message": self.message, "code": self.code}
        return body if self.errors is None else body | {"errors": self.errors}


def unauthorized() -> DiscordError:
    return DiscordError(401, 0, "401: Unauthorized")


def not_found() -> DiscordError:
    return DiscordError(404, 0, "404: Not Found")


def unknown_channel() -> DiscordError:
    return DiscordError(404, 10003, "Unknown Channel")


def unknown_guild() -> DiscordError:
    return DiscordError(404, 10004, "Unknown Guild")


def unknown_message() -> DiscordError:
    return DiscordError(404, 10008, "Unknown Message")


def unknown_user() -> DiscordError:
    return DiscordError(404, 10013, "Unknown User")


def unknown_webhook() -> DiscordError:
    return DiscordError(404, 10015, "Unknown Webhook")


def unknown_interaction() -> DiscordError:
    return DiscordError(404, 10062, "Unknown interaction")


def unknown_command() -> DiscordError:
    return DiscordError(404, 10063, "Unknown application command")


def already_acknowledged() -> DiscordError:
    return DiscordError(400, 40060, "Interaction has already been acknowledged.")


def too_large() -> DiscordError:
    return DiscordError(413, 40005, "Request entity too large")


def missing_access() -> DiscordError:
    return DiscordError(403, 50001, "Missing Access")


def edits_another() -> DiscordError:
    return DiscordError(403, 50005, "Cannot edit a message authored by another user")


def empty_message() -> DiscordError:
    return DiscordError(400, 50006, "Cannot send an empty message")


def missing_permissions() -> DiscordError:
    return DiscordError(403, 50013, "Missing Permissions")


def invalid_webhook_token() -> DiscordError:
    return DiscordError(401, 50027, "Invalid Webhook Token")


def invalid_json() -> DiscordError:
    return DiscordError(400, 50109, "The request body contains invalid JSON.")


def invalid_form(path: Sequence[str | int], code: str, message: str) -> DiscordError:
    """A 50035 with one reason, at the place in the body that `path` names."""
    return invalid_form_at([(path, code, message)])


def invalid_form_at(reasons: Sequence[tuple[Sequence[str | int], str, str]]) -> DiscordError:
    tree: dict[str, JsonValue] = {}
    for path, code, message in reasons:
        node = tree
        for step in path:
            child = node.get(str(step))
            if not isinstance(child, dict):
                child = node[str(step)] = dict[str, JsonValue]()
            node = child
        earlier = node.get("_errors")
        node["_errors"] = [*(earlier if isinstance(earlier, list) else ()), {"code": code, "message": message}]
    return DiscordError(400, 50035, "Invalid Form Body", tree)
