"""Settings of signing in: by a provider of OpenID Connect, by a header of a proxy, by passwords."""

import re
from typing import Literal

from pydantic import Field, field_validator, model_validator

from engine.environment_settings import EnvironmentSettings

ROLES = ("admin", "reviewer", "annotator")
_SECRET_SHORTEST = 16  # characters: the secret signs the state of a sign-in, too


class SignInSettings(EnvironmentSettings):
    """How people sign in. A part of engine.settings.Settings."""

    password_login: Literal["everyone", "admins", "nobody"] = Field(
        "everyone", description="Who may log in with a password of Glossator, beside single sign-on."
    )
    oidc_issuer: str = Field(
        "", description="Issuer of an OpenID Connect provider, which people sign in with; empty: none."
    )
    oidc_client_id: str = Field("", description="Client id that the provider gave Glossator.")
    oidc_client_secret: str = Field("", repr=False, description="Client secret that the provider gave Glossator.")
    oidc_label: str = Field(
        "single sign-on", min_length=1, max_length=60, description="Name of the provider, for: Sign in with NAME."
    )
    oidc_scopes: list[str] = Field(
        default=["openid", "profile", "email"], description="Scopes to request from the provider."
    )
    oidc_name_claim: str = Field(
        "preferred_username", min_length=1, description="Claim with the name of a person in Glossator."
    )
    oidc_groups_claim: str = Field("groups", min_length=1, description="Claim with the groups of a person.")
    oidc_link_by_email: bool = Field(
        False,
        description="Give people who sign in for the first time the existing account whose name is their verified "
        "e-mail address.",
    )
    oidc_leeway_seconds: int = Field(
        60, ge=0, le=600, description="How far the clocks of Glossator and the provider may differ, in seconds."
    )
    proxy_user_header: str = Field(
        "",
        description="Header in which a trusted proxy names the person whom it has signed in, as Remote-User; "
        "empty: none.",
    )
    proxy_name_header: str = Field(
        "", description="Header with the name to show in Glossator; empty: that of GLOSSATOR_PROXY_USER_HEADER."
    )
    proxy_groups_header: str = Field(
        "", description="Header with the groups of that person, separated by commas; empty: none."
    )
    proxy_email_header: str = Field(
        "", description="Header with the e-mail address of that person, for GLOSSATOR_OIDC_LINK_BY_EMAIL; empty: none."
    )
    proxy_logout_url: str = Field(
        "", description="Address that ends the session at that proxy, opened after a logout; empty: none."
    )
    group_roles: dict[str, Literal["admin", "reviewer", "annotator"] | dict[str, str]] = Field(
        default={},
        description="Roles by group, set at each sign-in: a role in the installation, or roles by project, as "
        """'{"it": "admin", "lab": {"Invoices": "annotator"}}'.""",
    )
    group_required: bool = Field(False, description="Let only people in a group of GLOSSATOR_GROUP_ROLES sign in.")

    @property
    def single_sign_on(self) -> bool:
        """Whether people can sign in without a password of Glossator."""
        return bool(self.oidc_issuer or self.proxy_user_header)

    @field_validator("proxy_user_header", "proxy_name_header", "proxy_groups_header", "proxy_email_header")
    @classmethod
    def _header_name(cls, name: str) -> str:
        """Check the name of a header, and write it in lower case."""
        if name and not re.fullmatch(r"[A-Za-z0-9-]+", name):
            raise ValueError(f"{name!r} is not the name of a header. Write for example Remote-User.")
        return name.lower()

    @field_validator("oidc_scopes")
    @classmethod
    def _scopes(cls, scopes: list[str]) -> list[str]:
        """Check that the provider is asked for an ID token."""
        if "openid" not in scopes:
            raise ValueError("The scope openid is missing. Write for example openid,profile,email.")
        return scopes

    @field_validator("group_roles")
    @classmethod
    def _roles(
        cls, groups: dict[str, Literal["admin", "reviewer", "annotator"] | dict[str, str]]
    ) -> dict[str, Literal["admin", "reviewer", "annotator"] | dict[str, str]]:
        """Check the roles in projects."""
        for group, roles in groups.items():
            for project, role in roles.items() if isinstance(roles, dict) else ():
                if role not in ROLES:
                    raise ValueError(
                        f"Unknown role {role!r} of the group {group!r} in {project!r}. Choose from {', '.join(ROLES)}."
                    )
        return groups

    @model_validator(mode="after")
    def _somebody_can_sign_in(self) -> "SignInSettings":
        if self.oidc_issuer and not (self.oidc_client_id and len(self.oidc_client_secret) >= _SECRET_SHORTEST):
            raise ValueError(
                "GLOSSATOR_OIDC_ISSUER needs GLOSSATOR_OIDC_CLIENT_ID, and GLOSSATOR_OIDC_CLIENT_SECRET of at least "
                f"{_SECRET_SHORTEST} characters. Copy them from the provider."
            )
        if self.password_login != "everyone" and not self.single_sign_on:
            raise ValueError(
                "GLOSSATOR_PASSWORD_LOGIN would leave nobody who can log in. "
                "Set GLOSSATOR_OIDC_ISSUER or GLOSSATOR_PROXY_USER_HEADER first."
            )
        if self.group_required and not self.group_roles:
            raise ValueError("GLOSSATOR_GROUP_REQUIRED needs groups. Set GLOSSATOR_GROUP_ROLES.")
        return self
