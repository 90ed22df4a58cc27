"""`judge`: run judges over the samples. A rerun resumes; what is answered is never paid for twice."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from calibration.cli.options import db_option, json_option, open_store, print_json
from calibration.errors import InputError

if TYPE_CHECKING:
    from calibration.cli.judge_tasks import Options
    from calibration.judges.progress import RunResult

LEXICAL = "lexical"
OPENAI_URL = "https://api.openai.com/v1"


@click.command("judge", short_help="Let LLM judges give verdicts on the samples.")
@click.argument("prompts", nargs=-1, required=True, metavar="PROMPT...")
@click.option("--model", help="The model that judges.")
@click.option("--base-url", envvar="OPENAI_BASE_URL", default=OPENAI_URL, show_default=True, help="The endpoint.")
@click.option(
    "--api-key-env", default="OPENAI_API_KEY", show_default=True, help="NAME of the variable that holds the key."
)
@click.option(
    "--param", "params", multiple=True, metavar="KEY=JSON", help="What a provider needs, e.g. max_tokens=4096."
)
@click.option("--limit", type=click.IntRange(1), help="Only the first so many samples.")
@click.option("--max-concurrency", type=click.IntRange(1, 1000), default=64, show_default=True, help="Calls at once.")
@click.option("--max-calls", type=click.IntRange(1), help="Stop after so many calls, tries and probes included.")
@click.option("--max-cost", type=click.FloatRange(0, min_open=True), help="Stop before it costs more US dollars.")
@click.option("--retry-failed", is_flag=True, help="Ask again where the reply was no verdict; the first one stays.")
@click.option("--allow-default-temperature", is_flag=True, help="For a model that refuses temperature 0.")
@click.option("--allow-same-model", is_flag=True, help="For a judge that wrote some of the answers itself.")
@click.option("--criterion", help="With a plain text: what it judges.")
@click.option("--name", help="With a plain text: what to call it.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@db_option
@json_option
@click.pass_context
def command(ctx: click.Context, /, prompts: Sequence[str], db: str, **given: Any) -> None:
    """Run judges over the samples: PROMPT is a file, a name such as correct-v1, or `lexical` for the baseline.

    Says calls, tokens and cost before it starts. A rerun asks only what has no answer yet.
    """
    from calibration.cli.judge_tasks import Options, baselines, make_tasks, run_tasks

    words = list(dict.fromkeys(prompts))
    options = Options(**{**given, "params": _params(given["params"]), "model": given["model"] or ""})
    _check(options, needs_model=words != [LEXICAL])
    store = open_store(db)
    samples = store.samples()
    if not samples:
        raise InputError("no samples yet; run `judge-calibration import FILE` first")
    tasks = make_tasks([word for word in words if word != LEXICAL], store, samples, options)
    asked = baselines(store, samples) if LEXICAL in words else []
    ran = run_tasks(tasks, store, samples, options)
    _print([*asked, *ran], options)
    ctx.exit(_exit_code(ran))


def _check(options: Options, *, needs_model: bool) -> None:
    """What can be refused before anything is read. The key must not reach the database through another option."""
    from calibration.judges.client import host_of

    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", options.api_key_env):
        raise InputError("--api-key-env takes the NAME of an environment variable, never the key itself")
    host_of(options.base_url)
    if needs_model and not options.model:
        raise InputError("name the model that judges with --model")
    key = os.environ.get(options.api_key_env, "").strip()
    stored = json.dumps([options.params, options.model, options.base_url], ensure_ascii=False)
    if len(key) >= 8 and key in stored:
        raise InputError(f"the key of {options.api_key_env} stands in another option; leave it to the variable")


def _print(results: Sequence[RunResult], options: Options) -> None:
    from calibration.cli.judge_screen import summary

    if options.as_json:
        found = [result.as_json() for result in results]
        print_json(found[0] if len(found) == 1 else found)
    else:
        for result in results:
            click.echo(summary(result))


def _exit_code(results: Sequence[RunResult]) -> int:
    """0 when all is answered or a limit was reached, 130 after Ctrl-C, 5 when something is left for another reason."""
    stops = {result.stop for result in results}
    if "interrupted" in stops:
        return 130
    errors = any(result.progress.error for result in results)
    return 5 if errors or stops - {None, "limit"} else 0


def _params(pairs: Sequence[str]) -> dict[str, Any]:
    """The values of --param. Raises InputError that shows how to write one."""
    from calibration.judges.plan import refuse_secret

    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        refuse_secret([key])
        try:
            found[key] = json.loads(text)
            json.dumps(found[key], allow_nan=False, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            raise InputError(f"--param {key}: write it as KEY=JSON, e.g. max_tokens=4096 or 'effort=\"low\"'") from None
        if not key or not equals:
            raise InputError("--param is written as KEY=JSON, e.g. max_tokens=4096")
    tokens, heat = found.get("max_tokens", 1), found.get("temperature", 0)
    if type(tokens) is not int or tokens < 1:
        raise InputError("--param max_tokens is a whole number from 1")
    if type(heat) not in (int, float) or not 0 <= heat <= 2:
        raise InputError("--param temperature is a number from 0 to 2")
    return found
