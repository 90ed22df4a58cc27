"""Reading files: what is understood, what is refused, and what the store adds to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from calibration.criteria import BUILT_IN
from calibration.errors import FileProblems, InputError
from calibration.formats.read import Source, read_sources
from calibration.store import Store
from calibration.store.batch import Batch, LabelEntry
from calibration.store.imports import ImportResult, import_batch

BENCH = Path(__file__).parent.parent.parent / "shared" / "bench" / "nq301.jsonl"
SAMPLE: dict[str, Any] = {"id": "1", "question": "What is tea?", "answer": "A drink.", "reference": "A drink"}


def lines(*entries: dict[str, Any], name: str = "a.jsonl", **options: Any) -> Batch:
    text = "".join(json.dumps(entry) + "\n" for entry in entries)
    return read_sources([Source(name, text.encode())], **options)


def csv(text: str, **options: Any) -> Batch:
    return read_sources([Source("a.csv", text.encode())], **options)


def problems(batch: Batch) -> list[str]:
    return [str(problem) for problem in batch.problems]


def codes(batch: Batch | ImportResult) -> list[str]:
    return [warned.code for warned in batch.warnings]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "a.db")


def refused(store: Store, batch: Batch) -> list[str]:
    with pytest.raises(FileProblems) as caught:
        import_batch(store, batch)
    return [str(problem) for problem in caught.value.problems]


# containers


def test_problems_of_syntax_hide_those_of_fields_in_every_file() -> None:
    bad_field = Source("a.jsonl", b'{"question": "q"}')
    broken = Source("b.jsonl", b'{"question": "q", "answer": "a"}\n{"question"\n{]\n')
    assert [(p.file, p.line) for p in read_sources([bad_field, broken]).problems] == [("b.jsonl", 2), ("b.jsonl", 3)]
    assert [(p.file, p.line) for p in read_sources([broken, bad_field]).problems] == [("b.jsonl", 2), ("b.jsonl", 3)]


def test_a_separator_named_in_the_first_line_is_obeyed() -> None:
    batch = csv("sep=;\nquestion;answer,with comma;answer\nq;x;a\n")
    assert batch.problems == ()
    assert batch.samples[0].answer == "a"
    assert batch.samples[0].metadata == {"answer,with comma": "x"}
    assert batch.files[0].entries[0].place.line == 3


@pytest.mark.parametrize("text", ["\x1c", "\u2003\n\u00a0\n", "sep=;\n", "\n\n sep=;"])
def test_a_file_of_odd_white_space_alone_is_refused(text: str) -> None:
    assert len(csv(text).problems) == 1


def test_an_array_names_positions_and_a_broken_one_the_physical_line() -> None:
    array = b'[\n{"question": "q", "answer": "a"},\n{"question": "q"}]'
    assert str(read_sources([Source("a.json", array)]).problems[0]).startswith("a.json:#2:answer: missing")
    cut = b'[\n{"question": "q", "answer": "a"},\n{"question": "q'
    assert str(read_sources([Source("a.json", cut)]).problems[0]).startswith("a.json:3: not JSON: cut off")


def test_numbers_that_json_cannot_hold_are_refused_and_long_ones_stay_text() -> None:
    batch = read_sources([Source("a.jsonl", b'{"question": "q", "answer": 1234567890123456789, "n": 1E999}')])
    assert "larger than any number" in batch.problems[0].message
    batch = read_sources([Source("a.jsonl", b'{"question": "q", "answer": 1234567890123456789}')])
    assert batch.samples[0].answer == "1234567890123456789"


def test_metadata_may_be_one_level_deeper_than_the_rest() -> None:
    def nested(depth: int) -> Any:
        value: Any = "x"
        for _ in range(depth):
            value = [value]
        return value

    assert lines(SAMPLE | {"more": nested(11)}).problems == ()
    assert "nested" in lines(SAMPLE | {"more": nested(12)}).problems[0].message
    assert lines(SAMPLE | {"metadata": {"more": nested(11)}}).problems == ()
    assert "nested" in lines(SAMPLE | {"metadata": {"more": nested(12)}}).problems[0].message


def test_utf_16_without_a_mark_is_refused_until_it_is_named() -> None:
    data = "question,answer\nq,é\n".encode("utf-16-le")
    assert "--encoding" in read_sources([Source("a.csv", data)]).problems[0].message
    assert read_sources([Source("a.csv", data)], encoding="utf-16-le").samples[0].answer == "é"
    with pytest.raises(InputError, match="unknown"):
        read_sources([Source("a.csv", data)], encoding="utf-99")


def test_a_wrong_byte_is_named_with_its_place_also_past_the_first_block() -> None:
    data = b"question,answer\n" + b"q,a\n" * 300_000 + b"q,\xe9\n"
    problem = read_sources([Source("a.csv", data)]).problems[0]
    assert problem.line == 300_002
    assert f"position {len(data) - 2}" in problem.message


# fields


def test_names_are_compared_without_case_marks_and_spaces() -> None:
    batch = lines({"User Input?": "q", "actualOutput": "a", "Retrieved-Contexts": ["c"], "GROUND_TRUTH:": "r"})
    sample = batch.samples[0]
    assert (sample.question, sample.answer, sample.context_texts, sample.reference) == ("q", "a", ("c",), "r")
    assert batch.mapping["actualOutput"] == "answer"


def test_one_known_name_twice_apart_from_case_is_refused() -> None:
    assert problems(lines(SAMPLE | {"Answer": "A drink."}))[0].startswith("a.jsonl:1:Answer: stands there twice")
    assert problems(csv("question,answer,Answer\nq,a,b\n"))[0].startswith("a.csv:1:Answer: stands twice")


def test_a_mapped_field_may_lie_deeper_and_its_neighbours_stay() -> None:
    entry = {"inputs": {"question": "q", "user": "u"}, "outputs": {"text": "a"}}
    batch = lines(entry, mapping={"question": "inputs.question", "answer": "outputs.text"})
    assert (batch.samples[0].question, batch.samples[0].answer) == ("q", "a")
    assert batch.samples[0].metadata == {"inputs": {"user": "u"}}


def test_a_mapping_that_no_entry_answers_is_refused() -> None:
    assert "no entry has a field 'contexs'" in problems(lines(SAMPLE, mapping={"contexts": "contexs"}))[0]
    with pytest.raises(InputError, match="unknown word"):
        lines(SAMPLE, mapping={"anser": "answer"})


def test_answers_of_a_question_set_are_its_reference() -> None:
    batch = lines({"question": "q", "prediction": "a", "answers": {"text": ["r", "s"], "answer_start": [1, 2]}})
    assert batch.samples[0].reference == "- r\n- s"
    assert batch.samples[0].metadata == {"answers": {"answer_start": [1, 2]}, "reference_kind": "alternatives"}


def test_missing_contexts_differ_from_empty_ones() -> None:
    missing, none, empty = lines(SAMPLE, SAMPLE | {"contexts": None}, SAMPLE | {"contexts": []}).samples
    assert (missing.contexts, none.contexts, empty.contexts) == (None, None, ())
    assert missing.digest == none.digest != empty.digest
    assert csv("question,answer,contexts\nq,a,\nq,b,[]\n").samples[0].contexts is None


def test_ids_of_contexts_are_the_retrieved_ids() -> None:
    contexts = [{"id": "d3", "text": "c"}, "without id", {"doc_uri": 7, "page_content": "e"}]
    sample = lines(SAMPLE | {"contexts": contexts}).samples[0]
    assert sample.retrieved_ids == ("d3", None, "7")
    again = lines(SAMPLE | {"contexts": ["c", "without id", "e"], "retrieved_ids": ["d3", None, "7"]}).samples[0]
    assert again == sample


def test_a_passage_among_relevant_ids_is_refused() -> None:
    assert "is a passage" in problems(lines(SAMPLE | {"relevant_ids": ["x" * 201]}))[0]
    assert "JSON list" in problems(lines(SAMPLE | {"relevant_ids": "d1, d2"}))[0]
    assert lines(SAMPLE | {"relevant_ids": '["d1", 2]'}).samples[0].relevant_ids == ("d1", "2")


def test_metadata_inside_and_beside_must_agree() -> None:
    assert lines(SAMPLE | {"topic": "x", "metadata": {"topic": "x"}}).samples[0].metadata == {"topic": "x"}
    assert problems(lines(SAMPLE | {"topic": "x", "metadata": {"topic": "y"}}))[0].startswith("a.jsonl:1:topic:")


def test_the_model_that_answered_comes_from_its_key_or_from_metadata() -> None:
    assert lines(SAMPLE | {"generator": "m"}).samples[0].generator == "m"
    assert lines(SAMPLE | {"metadata": {"generator": "m"}}).samples[0].generator == "m"


def test_every_problem_of_an_entry_is_reported() -> None:
    entry = {"id": True, "question": " ", "answer": 1.5, "contexts": [3], "human_correct": "partly"}
    fields = [problem.field for problem in lines(entry).problems]
    assert fields == ["id", "question", "contexts", "answer", "human_correct"]


# labels and verdicts


def test_records_are_refused_by_their_path() -> None:
    labels = [{"criterion": "correct", "value": "yes"}, {"criterion": "kind", "value": "yes"}, {"criterion": "correct"}]
    verdicts = [
        {"judge": "j", "criterion": "correct", "value": None},
        {"judge": "j", "criterion": "correct", "score": 0.4},
    ]
    found = [
        (p.field, p.message.split(";")[0]) for p in lines(SAMPLE | {"labels": labels, "verdicts": verdicts}).problems
    ]
    assert found == [
        ("labels[1].criterion", "unknown criterion 'kind'"),
        ("labels[2].value", "value missing"),
        ("verdicts[0].value", "value missing"),
        ("verdicts[1].score", "a score alone is no verdict"),
    ]


def test_a_threshold_makes_a_verdict_and_a_judge_of_its_own(store: Store) -> None:
    verdict = {"judge": "rl_f", "criterion": "correct", "score": 0.5}
    import_batch(store, lines(SAMPLE | {"verdicts": [verdict | {"threshold": 0.5}, verdict | {"threshold": 0.8}]}))
    first, second = store.judges()
    assert (first.name, dict(first.params)) == ("rl_f>=0.5", {"threshold": 0.5})
    assert [v.value for v, _, _ in store.all_verdicts()] == ["yes", "no"]
    assert (second.kind, second.prompt) == ("imported", None)


def test_a_failed_verdict_has_no_value_but_a_code(store: Store) -> None:
    failed = {"judge": "j", "criterion": "correct", "value": None, "status": "failed"}
    import_batch(store, lines(SAMPLE | {"verdicts": [failed]}))
    (verdict,) = [verdict for verdict, _, _ in store.all_verdicts()]
    assert (verdict.status, verdict.value, verdict.error) == ("failed", None, "no_value")


def test_labels_and_verdicts_carry_the_digest_of_what_their_criterion_reads(store: Store) -> None:
    label = {"annotator": "ana", "criterion": "correct", "value": "yes"}
    import_batch(store, lines(SAMPLE | {"labels": [label], "judge_correct": "no"}))
    sample = store.samples()[0]
    assert store.label_events()[0].inputs == BUILT_IN["correct"].inputs(sample)
    assert next(store.all_verdicts())[0].inputs == BUILT_IN["correct"].inputs(sample)


def test_bare_names_of_a_criterion_are_labels_with_a_warning() -> None:
    batch = lines(SAMPLE | {"is_correct": True, "hallucinated": True})
    assert [entry.label.value for entry in batch.entries if isinstance(entry, LabelEntry)] == ["yes"]
    assert codes(batch) == ["unmapped_label", "assumed_human"]


def test_unknown_keys_of_a_record_are_counted_not_hidden() -> None:
    label = {"criterion": "correct", "value": "yes", "confidence": 0.9}
    assert codes(lines(SAMPLE | {"labels": [label]})) == ["ignored_keys"]


# against what is stored


def test_the_same_value_again_adds_nothing_and_another_is_refused(store: Store) -> None:
    import_batch(store, lines(SAMPLE | {"human_correct": "yes"}))
    again = import_batch(store, lines({"sample": "1", "annotator": "imported", "criterion": "correct", "value": "yes"}))
    assert (again.labels, len(store.label_events())) == (0, 1)
    lone = {"sample": "1", "annotator": "imported", "criterion": "correct", "value": "no"}
    assert "second value" in refused(store, lines(lone))[0]


def test_an_event_id_is_stored_once_and_never_with_other_content(store: Store) -> None:
    event = {"sample": "1", "annotator": "a", "criterion": "correct", "value": "no", "event_id": "event-0001"}
    assert import_batch(store, lines(SAMPLE, event)).labels == 1
    assert import_batch(store, lines(event)).labels == 0
    assert "a.jsonl:1:event_id: event 'event-0001'" in refused(store, lines(event | {"value": "yes"}))[0]
    later = event | {"value": "yes", "event_id": "event-0002"}
    assert import_batch(store, lines(later)).labels == 1
    assert [label.value for label in store.current_labels("correct")] == ["yes"]


def test_two_values_of_one_judge_in_one_run_are_refused_and_in_two_runs_kept(store: Store) -> None:
    first = {"sample": "1", "judge": "j", "criterion": "correct", "value": "yes"}
    second = first | {"value": "no"}
    assert "second value by j" in refused(store, lines(SAMPLE, first, second))[0]
    result = import_batch(store, lines(SAMPLE, first | {"run": "1"}, second | {"run": "2"}))
    assert result.verdicts == 2
    assert [verdict.value for verdict in store.standing(store.judges()[0].digest).values()] == ["no"]


def test_the_same_verdicts_in_another_file_add_nothing(store: Store) -> None:
    entry = SAMPLE | {"verdicts": [{"judge": "j", "criterion": "correct", "value": "yes", "reason": "r"}]}
    import_batch(store, lines(entry))
    assert import_batch(store, lines(entry, SAMPLE | {"id": "2", "question": "q2"})).verdicts == 0


def test_a_conflict_names_the_other_file_and_the_field(store: Store) -> None:
    other = Source("b.jsonl", json.dumps(SAMPLE | {"answer": "No."}).encode())
    first = Source("a.jsonl", json.dumps(SAMPLE).encode())
    assert "already used in a.jsonl on line 1 with another answer" in refused(store, read_sources([first, other]))[0]
    import_batch(store, read_sources([first]))
    assert "already stored with another answer" in refused(store, read_sources([other]))[0]


def test_problems_of_reading_and_of_the_store_come_in_file_order(store: Store) -> None:
    import_batch(store, lines(SAMPLE))
    batch = lines(
        SAMPLE | {"answer": "No."}, {"question": "q"}, {"sample": "9", "judge": "j", "criterion": "correct", "value": 1}
    )
    assert [text.split(": ")[0] for text in refused(store, batch)] == [
        "a.jsonl:1:id",
        "a.jsonl:2:answer",
        "a.jsonl:3:sample",
    ]


def test_a_line_about_a_sample_with_a_problem_is_not_called_unknown_too(store: Store) -> None:
    lone = {"sample": "1", "annotator": "a", "criterion": "correct", "value": "no"}
    assert len(refused(store, lines(SAMPLE | {"contexts": [3]}, lone))) == 1


def test_a_dry_run_counts_and_stores_nothing(store: Store) -> None:
    result = import_batch(store, lines(SAMPLE | {"human_correct": "yes", "judge_correct": "no"}), dry_run=True)
    assert (result.samples, result.labels, result.verdicts) == (1, 1, 1)
    assert store.sample_count() == 0
    assert store.sources() == []


def test_relevant_ids_are_added_and_metadata_stays_as_first_stored(store: Store) -> None:
    import_batch(store, lines(SAMPLE | {"relevant_ids": ["d1"], "topic": "x"}))
    result = import_batch(store, lines(SAMPLE | {"relevant_ids": ["d1", "d2"], "topic": "y"}))
    assert codes(result) == ["same_sample"]
    assert store.samples()[0].relevant_ids == ("d1", "d2")
    assert store.samples()[0].metadata == {"topic": "x"}


def test_the_same_file_under_another_mapping_adds_only_what_is_new(store: Store) -> None:
    text = "id,question,answer,label\n1,q,a,1\n"
    import_batch(store, csv(text))
    result = import_batch(store, csv(text, mapping={"human_correct": "label"}))
    assert (result.samples, result.labels, codes(result)) == (0, 1, ["same_sample"])
    assert codes(import_batch(store, csv(text))) == ["same_file"]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("2026-01-01T12:00:00.000000+00:00", "2026-01-01T12:00:00.000000+00:00"),
        ("2026-01-01T12:00:00Z", "2026-01-01T12:00:00.000000+00:00"),
        ("2026-01-01T01:00:00.5+02:00", "2025-12-31T23:00:00.500000+00:00"),
        ("2026-01-01 12:00", "2026-01-01T12:00:00.000000+00:00"),
        ("2026-01-01", "2026-01-01T00:00:00.000000+00:00"),
    ],
)
def test_the_time_of_a_reveal_is_stored_in_utc(tmp_path: Path, given: str, stored: str) -> None:
    made = Store(tmp_path / "b.db", now=lambda: "2026-06-01T00:00:00.000000+00:00")
    import_batch(made, lines(SAMPLE | {"reveals": [{"criterion": "correct", "time": given}]}))
    assert [reveal.time for reveal in made.reveals()] == [stored]


def test_a_reveal_is_never_later_than_its_import_and_an_earlier_one_is_added(tmp_path: Path) -> None:
    now = "2026-06-01T00:00:00.000000+00:00"
    made = Store(tmp_path / "b.db", now=lambda: now)
    # 2026-06-01T01:00 at +02:00 is an hour before the import, and later than it as a text
    for time in ("9999-12-31", "2026-06-01T01:00:00+02:00", "2026-05-31T23:30:00Z"):
        import_batch(made, lines(SAMPLE | {"reveals": [{"criterion": "correct", "time": time}]}))
    assert [reveal.time for reveal in made.reveals()] == [now, "2026-05-31T23:00:00.000000+00:00"]


@pytest.mark.parametrize("time", ["soon", "", "2026-13-01", "0001-01-01T00:00:00+14:00"])
def test_a_reveal_at_no_time_is_refused_by_file_line_and_field(store: Store, time: str) -> None:
    (problem,) = refused(store, lines(SAMPLE | {"reveals": [{"criterion": "correct", "time": time}]}))
    assert problem.startswith("a.jsonl:1:reveals[0].time: time must be a time such as")


@pytest.mark.skipif(not BENCH.exists(), reason="the public data is not at hand")
def test_a_public_set_is_read_whole(store: Store) -> None:
    result = import_batch(store, read_sources([Source("nq301.jsonl", BENCH.read_bytes())]))
    assert (result.samples, result.labels, result.verdicts) == (1178, 2514, 3534)
    assert codes(result) == ["mojibake", "same_content"]
    (failed,) = [verdict for verdict, _, _ in store.all_verdicts() if verdict.value is None]
    assert (failed.status, failed.error) == ("failed", "not_a_label")
