"""The protocol of a service that proposes answers (docs/proposers.md): pages and fields in, predictions out."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.proposers.push import MOST_PREDICTIONS, PushedPrediction
from engine.proposers.request import Asked, Reply, UnusableReply, read_object, token_count

PROTOCOL = 1  # number of the protocol
_LONGEST_VERSION = 60  # characters


class _Sent(BaseModel):
    """The answer of a service."""

    model_config = ConfigDict(extra="ignore")

    predictions: list[PushedPrediction] = Field(max_length=MOST_PREDICTIONS)
    version: str = Field("", max_length=_LONGEST_VERSION)
    tokens: dict[str, Any] = Field(default_factory=dict, max_length=20)


def request_body(asked: Asked) -> dict[str, Any]:
    """Return the JSON of a request."""
    return {
        "protocol": PROTOCOL,
        "model": asked.model,
        "prompt": asked.prompt,
        "fields": [
            field.model_dump(mode="json", include={"name", "question", "type", "guideline", "several", "choices"})
            for field in asked.fields
        ],
        "pages": [
            {
                "number": page.number,
                "width": page.width,
                "height": page.height,
                "image": page.image,
                "words": [{"text": word.text, "box": list(word.box)} for word in page.words],
            }
            for page in asked.pages
        ],
    }


def read_reply(content: bytes, asked: Asked) -> Reply:
    """Return what a service replied.

    Raises:
        UnusableReply: It is not what the protocol says, or names a field or page that it was not sent.
    """
    try:
        sent = _Sent.model_validate(read_object(content, "The answer of the service"))
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise UnusableReply(f"The answer of the service is wrong at {place}: {first['msg']}.") from None
    names, numbers = {field.name for field in asked.fields}, {page.number for page in asked.pages}
    for at, prediction in enumerate(sent.predictions, 1):
        if prediction.field not in names:
            raise UnusableReply(f"Prediction {at} of the service names no field that it was asked.")
        if prediction.page is not None and prediction.page not in numbers:
            raise UnusableReply(f"Prediction {at} of the service names page {prediction.page}, which it was not sent.")
        if prediction.marks is not None and prediction.page is None:
            raise UnusableReply(f"Prediction {at} of the service marks without a page.")
    return Reply(
        sent.predictions,
        version=" ".join(sent.version.split()),
        tokens_in=token_count(sent.tokens.get("in")),
        tokens_out=token_count(sent.tokens.get("out")),
    )
