"""Routes for one's own second factor."""

from functools import partial

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from annotator.deps import CurrentUser, TheCaller, TheLoginQueue, TheWorkspace
from engine.accounts import own_second_factor, second_factor
from engine.accounts.second_factor import Enrolment, RecoveryCodes, SecondFactorView
from engine.errors import Refused
from engine.workspace import Workspace

router = APIRouter(prefix="/me/second-factor", tags=["people"])


class CurrentPassword(BaseModel):
    """The current password."""

    model_config = ConfigDict(extra="forbid")

    password: str = Field(max_length=1000)


class Code(BaseModel):
    """A code of the app, or a recovery code."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"code": "492039"}]})

    code: str = Field(max_length=100)


@router.get("")
def show_second_factor(workspace: TheWorkspace, user: CurrentUser) -> SecondFactorView:
    """Return the user's second factor: since when, whether it is required, and recovery codes left."""
    return second_factor.view(workspace, user)


@router.post("", status_code=201)
async def begin_second_factor(
    current: CurrentPassword, workspace: TheWorkspace, user: CurrentUser, caller: TheCaller, line: TheLoginQueue
) -> Enrolment:
    """Make a secret for the user's app, shown once. It counts when a code has confirmed it.

    403 when the password is wrong, 409 when the user has a second factor.
    """
    _check_logins(workspace)
    step = partial(own_second_factor.enrol, workspace, user, current.password, address=caller.address)
    return await line.call_in_turn(caller.address, step, known=True)


@router.post("/confirmation")
def confirm_second_factor(wanted: Code, workspace: TheWorkspace, user: CurrentUser, caller: TheCaller) -> RecoveryCodes:
    """Switch the second factor on with a code of the app. Returns recovery codes, shown once.

    403 when the code is wrong, 404 when nothing waits for one, 429 after too many wrong ones.
    """
    _check_logins(workspace)
    token, address = caller.token, caller.address
    codes = own_second_factor.confirm(workspace, user, wanted.code, token=token, address=address)
    return RecoveryCodes(recovery_codes=codes)


@router.post("/recovery-codes")
def renew_recovery_codes(wanted: Code, workspace: TheWorkspace, user: CurrentUser, caller: TheCaller) -> RecoveryCodes:
    """Replace the recovery codes, with a code. Returns the new ones, shown once."""
    codes = own_second_factor.renew_recovery_codes(workspace, user, wanted.code, address=caller.address)
    return RecoveryCodes(recovery_codes=codes)


@router.post("/removal", status_code=204, response_class=Response)
def remove_second_factor(wanted: Code, workspace: TheWorkspace, user: CurrentUser, caller: TheCaller) -> None:
    """Remove the second factor, with a code of the app or a recovery code. 422 when the server requires one."""
    own_second_factor.remove(workspace, user, wanted.code, address=caller.address)


def _check_logins(workspace: Workspace) -> None:
    if workspace.settings.auth == "local":
        raise Refused("This server has no login, so there is no second factor.")
