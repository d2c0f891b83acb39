"""Lists and objects in variables of the environment: lists with commas, or both as JSON."""

import json
import re
from typing import Any, get_origin

from pydantic import ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

_ADDRESS = re.compile(r"\[[0-9a-f.]*:[0-9a-f:.]*\]", re.IGNORECASE)  # of IPv6, with which a list with commas may begin


class EnvironmentSettings(BaseSettings):
    """Settings whose lists and objects are read here, so that an error names the variable as others do."""

    model_config = SettingsConfigDict(enable_decoding=False)

    @field_validator("*", mode="before")
    @classmethod
    def _parts(cls, value: Any, info: ValidationInfo) -> Any:
        """Return the list or object that a text stands for; other values as they are."""
        kind = get_origin(cls.model_fields[str(info.field_name)].annotation)
        if not isinstance(value, str) or kind not in (list, dict):
            return value
        text = value.strip()
        try:
            if kind is dict:
                return json.loads(text or "{}")
            if text.startswith("[") and not _ADDRESS.match(text):
                return json.loads(text)
            return [part.strip() for part in text.split(",") if part.strip()]
        except ValueError as error:  # the text itself may hold a secret
            form = "a JSON object" if kind is dict else "a list: write NAME,NAME or JSON"
            raise ValueError(f"This is not {form} ({error}).") from None
