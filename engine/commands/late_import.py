"""Import the file of a command when the command runs."""

import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from engine.commands import COMMANDS, HIDDEN
from engine.paused_collection import paused_collection


class CommandsByName(TyperGroup):
    """The commands of `engine.commands.COMMANDS`; a failure of the machine ends a command with one sentence."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._lists = False
        self._imported: set[str] = set()  # of the files
        for name in (*COMMANDS, *HIDDEN):  # until its file is imported, a command has its name and sentence alone
            sentence = COMMANDS[name][1] if name in COMMANDS else ""
            self.commands[name] = TyperCommand(name, help=sentence, hidden=name in HIDDEN)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, or None without one of this name; in the help of all, only name and sentence are real."""
        file = HIDDEN.get(cmd_name) or COMMANDS.get(cmd_name, ("",))[0]
        if file and file not in self._imported and not self._lists:
            app = typer.Typer(callback=lambda: None)  # with a callback it is a group, also of a single command
            with paused_collection():
                import_module(f"engine.commands.{file}").register(app)
            self.commands.update(get_group(app).commands)
            self._imported.add(file)
        return super().get_command(ctx, cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of all commands without importing any."""
        self._lists = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._lists = False

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            if isinstance(error, OSError) or "sqlalchemy" in sys.modules:  # a wrong name imports no database
                from engine.commands.failures import end_with_sentence

                end_with_sentence(error)
            raise
