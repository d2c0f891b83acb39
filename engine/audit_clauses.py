"""Entries of the audit trail in plain English: one clause behind the actor's name."""

from collections.abc import Callable, Mapping
from typing import Any

from engine.plurals import count

SHOWN = 3  # questions listed in one line

# Clause behind the actor's name, by action. Names of details stand in braces.
_CLAUSES: Mapping[str, str] = {
    "projects.create": "created the project {name}",
    "projects.rename": "renamed the project {before} to {name}",
    "projects.archive": "archived the project {name}",
    "projects.unarchive": "unarchived the project {name}",
    "settings.change": "changed settings: {changes}",
    "projects.remove": "removed the project {name} into the bin",
    "projects.restore": "restored the project {name} from the bin",
    "projects.erase": "chose the project {name} in the bin to be deleted for good ({documents})",
    "projects.delete": "deleted a project for good",
    "projects.pack": "wrote the project to an archive",
    "projects.unpack": "added the project {name} from an archive of {made_at}",
    "quotas.project": "set the quota of the project {name} to {quota}",
    "quotas.person": "set the quota of {name} to {quota}",
    "members.add": "added {name} to the project as {role}",
    "members.role": "changed {name} from {before} to {role}",
    "members.remove": "removed {name}, who was {role}",
    "members.leave": "left the project",
    "invitations.create": "created an invitation with the role {role}, valid until {until} UTC",
    "invitations.revoke": "withdrew an invitation with the role {role}",
    "invitations.accept": "joined as {role}, invited by {inviter}",
    "models.promote": "promoted the model {model}",
    "models.promote.forced": "promoted the model {model} despite the gate: {reason}",
    "models.rollback": "rolled back to the model {model}",
    "models.prune": "deleted the weights of the model {model} ({megabytes} MB)",
    "blobs.cleanup": "deleted {blobs} files that nothing named ({megabytes} MB)",
    "cleanup": "deleted rows that were older than the settings allow: {rows}",
    "backup": "backed up the installation ({blobs} files, {megabytes} MB)",
    "standard_questions": "set the standard questions: {questions}",
    "gold": "set a gold question: {question} ({document})",
    "gold.none": "removed a gold question: {question} ({document})",
    "tasks.first": "moved {document} to the front of the queue",
    "tasks.skip": "skipped a task, {reason}: {question} ({document})",
    "tasks.skip.withdraw": "took back the skip of a task: {question} ({document})",
    "tasks.skip.decide": "decided on a skipped task, {verdict}: {question} ({document})",
    "stage.change": "set the stage to {stage}: {reason}",
    "stage.fall_back": "set the stage back to {stage}: {reason}",
    "answers.remove": "removed an answer of {author}: {question} ({document})",
    "answers.restore": "restored an answer of {author}: {question} ({document})",
    "documents.rename": "renamed the document {before} to {name}",
    "documents.move": "moved the document {document} to the project {to}",
    "documents.move.undo": "took the document {document} back from the project {to}",
    "documents.copy": "copied the document {document} to the project {to}",
    "documents.take": "added the document {document} from the project {source}",
    "documents.remove": "removed the document {document} into the bin",
    "questions.remove": "removed the question {question} with its answers into the bin",
    "questions.restore": "restored the question {question} with its answers from the bin",
    "questions.delete": "deleted {number} from the bin for good, with all answers",
    "snapshots.remove": "removed the snapshot {snapshot}",
    "documents.delete": "deleted {number} from the bin for good",
    "documents.restore": "restored the document {document} from the bin",
    "words.read_again": "read page {page} of {document} again ({new} new, {gone} gone)",
    "pages.turn": "turned page {page} of {document} by {degrees} degrees",
    "automatic.undo": "withdrew {answers}",
    "exports.make": "exported {answers} as {format}",
    "exports.remove": "deleted the file of an export: {answers} as {format}",
    "imports.make": "imported {answers} as {format}",
    "imports.stop": "stopped an import",
    "webhooks.create": "created a webhook to {host} for {events}",
    "webhooks.change": "changed the webhook to {host}: {changed}",
    "webhooks.remove": "removed the webhook to {host}",
    "webhooks.rotate": "created a new secret for the webhook to {host}",
    "webhooks.callbacks": "created a secret for callbacks",
    "webhooks.off": "switched the webhook to {host} off: {reason}",
    "webhooks.send_again": "sent a delivery to {host} again: {event}",
    "proposer.set": "let the model {model} at {host} propose answers: {changed}",
    "proposer.remove": "let the model {model} at {host} propose no more answers",
    "jobs.ask": "requested {kind}",
    "jobs.cancel": "stopped {kind}",
    "jobs.retry": "retried {kind}",
    "users.add": "added the user {name} as {role}",
    "users.role": "changed the user {name} from {before} to {role}",
    "users.disable": "disabled the user {name}",
    "users.enable": "enabled the user {name}",
    "users.erase": "erased a person, who is now {name}",
    "users.password": "set a new password for {name}",
    "users.sessions": "ended all sessions of {name}",
    "users.session": "ended a session of {name}: {client}",
    "users.second_factor": "reset the second factor of {name}",
    "second_factor.set": "set up a second factor",
    "second_factor.remove": "removed their own second factor",
    "second_factor.codes": "created new recovery codes of their own",
    "second_factor.recovery": "logged in with a recovery code, {codes} left",
    "second_factor.limited": "throttled codes of {name} from {address} after {wrong_codes}",
    "sessions.end": "logged out everywhere",
    "users.token": "created a token of {name} for {purpose}, valid for {days}, scope {scope}",
    "users.link": "let {person} of {provider} sign in as {name}",
    "users.unlink": "let nobody sign in as {name} through a provider any more",
    "sign_in.first": "signed in for the first time, through {provider}",
    "sign_in.email": "signed in through {provider}, with the account of their verified e-mail address",
    "sign_in.name": "got another name, as at {provider}",
    "sign_in.refused": "refused the sign-in of {name} through {provider}: {why}",
    "groups.user": "became {role} instead of {before}, by their groups",
    "groups.last_admin": "stayed admin without a group for it, as there is no other admin",
    "groups.join": "joined the project as {role}, by their groups",
    "groups.member": "became {role} instead of {before}, by their groups",
    "groups.leave": "left the project as {role}, by their groups",
    "password.change": "changed their own password",
    "login.limited": "throttled logins as {name} from {address} after {failures}",
    "login.limited.more": "throttled logins {times} after wrong passwords",
}

_JOBS = {
    "retrain": "a retraining",
    "survey": "a survey",
    "propose": "proposals of another model",
    "import": "an import",
    "export": "an export",
    "read": "the reading of a document",
    "read_again": "another reading of pages",
    "transfer": "documents for another project",
}
_COUNTED = {
    "answers": "answer",
    "codes": "recovery code",
    "days": "day",
    "documents": "document",
    "failures": "wrong password",
    "gone": "word",
    "new": "word",
    "times": "more time",
    "wrong_codes": "wrong code",
}


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _days(number: float) -> str:
    return count(int(number), "day") if number == int(number) else f"{number:g} days"


def _conventions(chosen: Mapping[str, str]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in sorted(chosen.items()))


def _switch_clause(what: str) -> Callable[[Any, Any], str]:
    return lambda _old, new: f"{what} is now {'on' if new else 'off'}"


def _became(sentence: str, written: Callable[[Any], str] = str) -> Callable[[Any, Any], str]:
    return lambda old, new: f"{sentence.format(written(new))} instead of {written(old)}"


_ORDERS = {"arrival": "Order of arrival", "random": "Random order", "model": "Most uncertain for the model first"}
# What a change of a setting means, by its name, from the old value and the new one.
_SETTINGS: Mapping[str, Callable[[Any, Any], str]] = {
    "review_required": lambda _old, new: "review is now required" if new else "review is no longer required",
    "retrain_automatically": _switch_clause("automatic retraining"),
    "retrain_after": lambda old, new: (
        f"a retraining now starts after {count(new, 'newly accepted answer')} instead of {old}"
    ),
    "retrain_after_days": lambda _old, new: (
        f"an accepted answer now waits at most {_days(new)} for a retraining"
        if new
        else "accepted answers now wait for a retraining without a limit of days"
    ),
    "retrain_cron": lambda _old, new: (
        f"retrainings are now scheduled as “{new}”" if new else "retrainings are no longer scheduled"
    ),
    "retrain_time_zone": _became("the schedule is now in the time zone {}"),
    "promotion": lambda _old, new: (
        "models that pass the gate are now promoted automatically"
        if new == "automatic"
        else "models that pass the gate are now promoted by an admin"
    ),
    "overlap_share": _became("{} of the tasks are now answered by several people", _percent),
    "overlap_people": _became("an overlapping task is now answered by {} people"),
    "unaided_share": _became("{} of the overlapping tasks are now answered without a proposal", _percent),
    "gold_share": _became("{} of the tasks are now gold questions", _percent),
    "selection": lambda _old, new: f"the document order is now “{_ORDERS.get(new, new)}”",
    "selection_random_share": _became("the share of random documents is now {}", _percent),
    "selection_patience_days": _became("waiting documents are now moved up after {}", _days),
    "precision_target": _became("at least {} of the automatic answers must now be right", _percent),
    "precision_answers": _became("precision is now measured on at least {} reviewed answers"),
    "audit_share": _became("{} of the automatic answers are now checked by people", _percent),
    "locale": lambda _old, new: (
        f"values are now read as in {new}" if new else "values are now read without regard to a country"
    ),
    "conventions": lambda _old, new: (
        f"ambiguous values are now decided by {_conventions(new)}" if new else "ambiguous values are now left to people"
    ),
    "issuer_conventions": lambda _old, new: (
        "ambiguous values of issuers are now decided so: "
        + "; ".join(f"{issuer} by {_conventions(pairs)}" for issuer, pairs in sorted(new.items()))
        if new
        else "ambiguous values of single issuers are now left to the project"
    ),
}


class _Known(dict[str, object]):
    def __missing__(self, name: str) -> str:
        return "?"


def clause(action: str, subject: str, details: Mapping[str, Any]) -> str:
    """Return the clause of an entry; one of another version, without a known clause, shows its action.

    Args:
        action: action of the entry.
        subject: id or name of its subject.
        details: its details.
    """
    known: dict[str, Any] = {"scope": "admin", "action": action, "subject": subject, "model": subject, **details}
    # Tokens from before scopes existed had all rights.
    if action == "gold" and details.get("annotation_id") is None:
        action = "gold.none"
    if isinstance(changes := known.get("changes"), dict):
        known["changes"] = "; ".join(_change(name, old, new) for name, (old, new) in sorted(changes.items()))
    if isinstance(questions := known.get("questions"), list):
        known["questions"] = _some(questions)
    for name, noun in _COUNTED.items():
        if isinstance(known.get(name), int):
            known[name] = count(known[name], "automatic answer" if action == "automatic.undo" else noun)
    if isinstance(rows := known.get("rows"), dict):
        known["rows"] = ", ".join(f"{name} {number:,}" for name, number in sorted(rows.items()))
    known["kind"] = _JOBS.get(str(known.get("kind")), f"a job: {known.get('kind')}")
    known["stage"] = str(known.get("stage")).replace("_", "-")
    return _CLAUSES.get(action, "{action}: {subject}").format_map(_Known(known)).rstrip(": ")


def _change(name: str, old: Any, new: Any) -> str:
    clause = _SETTINGS.get(name)
    return clause(old, new) if clause is not None else f"{name.replace('_', ' ')} is now {new} instead of {old}"


def _some(questions: list[str]) -> str:
    """Return the first questions, and the number of further ones."""
    more = len(questions) - SHOWN
    return "; ".join(questions[:SHOWN]) + (f"; and {more} more" if more > 0 else "") if questions else "none"
