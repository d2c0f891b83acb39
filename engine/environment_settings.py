"""Lists and objects in variables of the environment: lists with commas, or both as JSON."""

import json
from typing import Any, get_origin

from pydantic import ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


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
            return (
                json.loads(text) if text.startswith("[") else [part.strip() for part in text.split(",") if part.strip()]
            )
        except ValueError as error:  # the text itself may hold a secret
            form = "a JSON object" if kind is dict else "a list: write NAME,NAME or JSON"
            raise ValueError(f"This is not {form} ({error}).") from None
