"""The text of a prompt: which constructs a template may use, the sample block, and rendering in one pass.

Decided on the parsed syntax tree, so that a refused template never runs. Allowed are text, `{{ variable }}`, `for`
over `contexts`, `if`, `loop.index`, the filters `join` and `length`, and `raw`. The test of an `if` is one of these
expressions, joined by `not`, `and` and `or`; `loop.index` and a length may be compared with a whole number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, nodes
from jinja2.sandbox import SandboxedEnvironment

from calibration.criteria import Criterion, criterion_named
from calibration.errors import InputError, PromptError
from calibration.records import Prompt, Sample

VARIABLES = ("question", "contexts", "reference", "answer", "sample")
ALLOWED = "{{ variable }}, for over contexts, if, loop.index, the filters join and length, raw"
# what could close the fence, break a line, turn text around or hide in it
ESCAPED = re.compile("[<>&\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")

_environment = SandboxedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)


def refuse(path: str, line: int | None, message: str) -> PromptError:
    """The error of a refused prompt: file, line, and the way out in the message."""
    return PromptError(f"{path}: {message}" if line is None else f"{path}:{line}: {message}")


def known_variable(name: str, criterion: Criterion, path: str, line: int) -> str:
    """The variable's name. Raises PromptError when there is no such variable or the criterion does not read it.

    A field the criterion does not read is refused because the digest of a request covers only the fields it reads.
    """
    if name not in VARIABLES:
        raise refuse(path, line, f'unknown variable "{name}"; use {", ".join(VARIABLES)}')
    if name != "sample" and name not in criterion.reads:
        read = ", ".join((*criterion.reads, "sample"))
        raise refuse(path, line, f'criterion "{criterion.name}" does not read "{name}"; use {read}')
    return name


@dataclass
class _Reader:
    """Walks one template. `before` is the number of file lines before it; `printed` the variables it prints."""

    path: str
    before: int
    criterion: Criterion
    printed: set[str] = field(default_factory=set)
    loops: list[str] = field(default_factory=list)

    def refused(self, node: nodes.Node, message: str) -> PromptError:
        return refuse(self.path, self.before + node.lineno, message)

    def body(self, children: Sequence[nodes.Node]) -> None:
        for node in children:
            if isinstance(node, nodes.Output):
                for part in node.nodes:
                    if not isinstance(part, nodes.TemplateData):
                        self.printed.add(self.expression(part))
            elif isinstance(node, nodes.For):
                self.loop(node)
            elif isinstance(node, nodes.If):
                self.branch(node)
            else:
                raise self.refused(node, f"{_construct(node)} is not allowed; use {ALLOWED}")

    def loop(self, node: nodes.For) -> None:
        over, target = node.iter, node.target
        if not isinstance(over, nodes.Name) or over.name != "contexts" or node.test or node.recursive or node.else_:
            raise self.refused(node, "a loop goes over contexts and nothing else: {% for context in contexts %}")
        self.expression(over)
        if not isinstance(target, nodes.Name) or target.name in (*VARIABLES, "loop"):
            raise self.refused(node, "the loop needs a name of its own: {% for context in contexts %}")
        self.loops.append(target.name)
        self.body(node.body)
        self.loops.pop()

    def branch(self, node: nodes.If) -> None:
        self.test(node.test)
        self.body(node.body)
        for other in node.elif_:
            self.branch(other)
        self.body(node.else_)

    def test(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.Not):
            self.test(node.node)
        elif isinstance(node, nodes.And | nodes.Or):
            self.test(node.left)
            self.test(node.right)
        elif isinstance(node, nodes.Compare):
            self.comparison(node)
        else:
            self.expression(node)

    def comparison(self, node: nodes.Compare) -> None:
        number = isinstance(node.expr, nodes.Getattr) or (
            isinstance(node.expr, nodes.Filter) and node.expr.name == "length"
        )
        sides = [operand.expr for operand in node.ops if operand.op not in ("in", "notin")]
        whole = len(sides) == 1 == len(node.ops) and isinstance(sides[0], nodes.Const) and type(sides[0].value) is int
        if not (number and whole):
            raise self.refused(node, "compare loop.index or a length with one whole number: contexts|length > 1")
        self.expression(node.expr)

    def expression(self, node: nodes.Node) -> str:
        """The variable whose text the expression prints; empty for a number."""
        if isinstance(node, nodes.Name):
            if node.name in self.loops:
                return "contexts"
            return known_variable(node.name, self.criterion, self.path, self.before + node.lineno)
        if isinstance(node, nodes.Getattr) and self.loops:
            if isinstance(node.node, nodes.Name) and (node.node.name, node.attr) == ("loop", "index"):
                return ""
        elif isinstance(node, nodes.Filter) and node.node is not None:
            return self.filtered(node, node.node)
        raise self.refused(node, f"{_construct(node)} is not allowed; use {ALLOWED}")

    def filtered(self, node: nodes.Filter, inner: nodes.Expr) -> str:
        if node.name not in ("join", "length"):
            raise self.refused(node, f'the filter "{node.name}" is not allowed; use join or length')
        separators = [arg for arg in node.args if isinstance(arg, nodes.Const) and isinstance(arg.value, str)]
        most = 1 if node.name == "join" else 0
        if node.kwargs or node.dyn_args or node.dyn_kwargs or len(node.args) > most or len(separators) < len(node.args):
            raise self.refused(node, 'write the filter as join, join("text between") or length')
        variable = self.expression(inner)
        return variable if node.name == "join" else ""


def _construct(node: nodes.Node) -> str:
    return f"the construct {type(node).__name__.lower()}"


def _parsed(text: str, path: str, before: int) -> nodes.Template:
    try:
        return _environment.parse(text)
    except TemplateSyntaxError as error:
        way = f"braces that are text go between {{% raw %}} and {{% endraw %}}; allowed are {ALLOWED}"
        raise refuse(path, before + error.lineno, f"{error.message}; {way}") from error
    except (ValueError, RecursionError, OverflowError) as error:
        raise refuse(path, before + 1, f"the template cannot be read ({error}); use {ALLOWED}") from error


def check_system(text: str, path: str, before: int) -> None:
    """Refuse a system part that is not the same bytes for every sample. `before`: file lines before the text."""
    for node in _parsed(text, path, before).body:
        parts = node.nodes if isinstance(node, nodes.Output) else [node]
        for part in parts:
            if not isinstance(part, nodes.TemplateData):
                message = "# system uses no variable and no loop; move it to # user, or write {% raw %} around braces"
                raise refuse(path, before + part.lineno, message)


def check_user(text: str, criterion: Criterion, path: str, before: int) -> bool:
    """Refuse constructs that are not allowed and a required variable that is not printed; True when `unfenced`."""
    reader = _Reader(path, before, criterion)
    reader.body(_parsed(text, path, before).body)
    unused = [] if "sample" in reader.printed else [name for name in criterion.reads if name not in reader.printed]
    if unused:
        way = f"print it, or the whole block with {{{{ sample }}}}; {criterion.name} needs {', '.join(criterion.reads)}"
        raise refuse(path, before, f'"{unused[0]}" is not used; {way}')
    return not reader.printed.isdisjoint({"answer", "contexts"})


def _escape(match: re.Match[str]) -> str:
    """`\\u` escapes as JSON has them: two for a character beyond U+FFFF."""
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2))


def _values(sample: Sample, criterion: Criterion) -> dict[str, Any]:
    """The fields the criterion reads, texts exactly as they are."""
    names = {"contexts": "context_texts"}
    return {name: getattr(sample, names.get(name, name)) for name in criterion.reads}


def sample_block(sample: Sample, criterion: Criterion) -> str:
    """The fields the criterion reads as one JSON object between `<sample-H>` and `</sample-H>`.

    H is the first 12 hex digits of the digest over these fields. Inside, no text can produce the fence: `<`, `>`, `&`,
    line separators, bidi controls and invisible tags are `\\u` escapes. Decoding gives back the exact texts.
    """
    held = json.dumps(_values(sample, criterion), ensure_ascii=False, indent=1)
    fence = f"sample-{criterion.inputs(sample)[:12]}"
    return f"<{fence}>\n{ESCAPED.sub(_escape, held)}\n</{fence}>"


class _Texts(list[str]):
    """The contexts: a list of texts for a loop, and the texts with blank lines between where it is printed."""

    def __str__(self) -> str:
        return "\n\n".join(self)


@lru_cache(maxsize=64)
def _template(text: str) -> Template:
    return _environment.from_string(text)


def render(prompt: Prompt, sample: Sample) -> list[dict[str, str]]:
    """The messages for one sample, each value put in once: a value that holds `{{ reference }}` stays these characters.

    Raises InputError when the sample lacks a field the criterion needs, PromptError when the template fails.
    """
    criterion = criterion_named(prompt.criterion)
    missing = criterion.missing(sample)
    if missing is not None:
        raise InputError(f"sample {sample.id} has no {missing}: {criterion.name} does not apply to it")
    values = _values(sample, criterion) | {"sample": sample_block(sample, criterion)}
    if "contexts" in values:
        values["contexts"] = _Texts(values["contexts"])
    try:
        system, user = _template(prompt.system).render(), _template(prompt.user).render(values)
    except TemplateError as error:
        raise refuse(prompt.label, None, f"cannot be rendered: {error.message}; use {ALLOWED}") from error
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]
