"""The command `judge-calibration`. Thin: parse, call, print. Each noun is a module, loaded when it is used."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

import click

from calibration import __version__
from calibration.errors import CalibrationError

INTERNAL = 70
COMMANDS = {
    "demo": "demo",
    "import": "import_",
    "annotate": "annotate",
    "prompts": "prompts",
    "judge": "judge",
    "agreement": "agreement",
    "compare": "compare",
    "gate": "gate",
    "registry": "registry",
    "export": "export",
}


class LazyGroup(click.Group):
    """Loads a command's module when the command is named, so that `--help` imports nothing heavy."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of a project's life."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"calibration.cli.{COMMANDS[cmd_name]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One line a command, from the modules' own help."""
        rows = [
            (name, (self.get_command(ctx, name) or click.Command(name)).get_short_help_str(90)) for name in COMMANDS
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="judge-calibration")
def app() -> None:
    """Can I trust my LLM judge? Label, judge, compare, decide."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 2 bad input, 5 outside trouble, 70 our own bug."""
    try:
        code = app.main(
            args=None if arguments is None else list(arguments), prog_name="judge-calibration", standalone_mode=False
        )
    except click.exceptions.Abort:
        click.echo("stopped", err=True)
        code = 130
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except CalibrationError as error:
        click.echo(f"error: {error}", err=True)
        code = error.exit_code
    except OSError as error:
        click.echo(f"error: {error.filename or 'system'}: {error.strerror or error}", err=True)
        code = 5
    except Exception:
        traceback.print_exc()
        click.echo("error: this is a bug in judge-calibration; please report it with the lines above", err=True)
        code = INTERNAL
    sys.exit(code if isinstance(code, int) else 0)
