"""Chat completions of OpenAI's API, which vLLM, llama.cpp, Ollama and others serve too, with structured output.

Source: https://platform.openai.com/docs/api-reference/chat, `response_format` of type json_schema. Every field is asked
for as printed text: values are read from the words of the page, as if a person had marked them.
"""

import json
from collections.abc import Sequence
from typing import Any

from engine.fields.definition import FieldDefinition
from engine.fields.read_value import MARK_ALONE
from engine.fields.types import FieldType
from engine.proposers.push import LONGEST_TEXT, PushedPrediction
from engine.proposers.request import Asked, Reply, UnusableReply, read_object, token_count
from engine.text import storable

PATH = "/chat/completions"
MOST_TOKENS = 4096  # that a model may write for one request
_NOT_TEXT = (*MARK_ALONE, FieldType.BOOLEAN)  # no printed text says these


def fields_by_text(fields: Sequence[FieldDefinition]) -> list[FieldDefinition]:
    """Return the fields that printed text answers."""
    return [field for field in fields if field.type not in _NOT_TEXT]


def request_body(asked: Asked) -> dict[str, Any]:
    """Return the JSON of a request."""
    pages: list[dict[str, Any]] = [{"type": "image_url", "image_url": {"url": page.image}} for page in asked.pages]
    return {
        "model": asked.model,
        "messages": [
            {"role": "system", "content": asked.prompt},
            {"role": "user", "content": [{"type": "text", "text": "The pages of the paper:"}, *pages]},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "fields", "strict": True, "schema": printed_schema(asked.fields)},
        },
        "temperature": 0,
        "max_tokens": MOST_TOKENS,
    }


def printed_schema(fields: Sequence[FieldDefinition]) -> dict[str, Any]:
    """Return a JSON Schema of the printed texts of fields: all required and each maybe null, as strict output wants."""
    return {
        "type": "object",
        "properties": {field.name: _property(field) for field in fields},
        "required": [field.name for field in fields],
        "additionalProperties": False,
    }


def _property(field: FieldDefinition) -> dict[str, Any]:
    about = [field.question, field.guideline]
    if field.choices:
        printed = [name for choice in field.choices for name in (choice.value, *choice.names)]
        about.append(f"Printed as one of: {'; '.join(printed)}")
    description = "\n".join(part for part in about if part)
    if field.several:
        return {"type": "array", "items": {"type": "string"}, "description": description}
    return {"type": ["string", "null"], "description": description}


def read_reply(content: bytes, asked: Asked) -> Reply:
    """Return what a model replied.

    Raises:
        UnusableReply: It is not what the API or the schema says.
    """
    reply = read_object(content, "The answer of the model's server")
    try:
        choice = reply["choices"][0]
        message = choice["message"]
        text = message.get("content")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise UnusableReply("The answer of the model's server has no choices[0].message.") from None
    if message.get("refusal"):
        raise UnusableReply("The model refused to answer.")
    if choice.get("finish_reason") == "length":
        raise UnusableReply(f"The model's answer was cut off after {MOST_TOKENS:,} tokens.")
    if not isinstance(text, str):
        raise UnusableReply("The answer of the model's server has no text.")
    values = read_object(text, "The text of the model")
    usage = reply.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    page = asked.pages[0].number if len(asked.pages) == 1 else None
    predictions = [
        PushedPrediction(field=field.name, text=printed, page=page)
        for field in asked.fields
        if (printed := _print_value(values.get(field.name)))
    ]
    return Reply(
        predictions,
        tokens_in=token_count(usage.get("prompt_tokens")),
        tokens_out=token_count(usage.get("completion_tokens")),
    )


def _print_value(value: Any) -> str:
    """Return the first text of a value; empty for null."""
    if isinstance(value, list):
        return next((text for part in value if (text := _print_value(part))), "")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    return " ".join(storable(value).split())[:LONGEST_TEXT] if isinstance(value, str) else ""
