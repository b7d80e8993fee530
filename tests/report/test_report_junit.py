"""The JUnit file: valid against the schema that CI servers use, complete, and nothing left out in silence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fabric import Recipe, fabricate
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from tipc import language
from tipc.certify.verdict import Verdict
from tipc.kinds import NOT_CERTIFIED
from tipc.report.junit import junit
from tipc.report.reporters import reporter
from tipc.report.view import view_of
from tipc.run.record.results import Run

# The constraints of the xunit2 form (Jenkins' junit-10), in RELAX NG: the elements, where they may stand, and
# the attributes that they must and may have.
SCHEMA = """
<grammar xmlns="http://relaxng.org/ns/structure/1.0" datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes">
  <start><element name="testsuites">
    <ref name="totals"/><zeroOrMore><ref name="suite"/></zeroOrMore>
  </element></start>
  <define name="seconds"><data type="string"><param name="pattern">[0-9,]*(\\.[0-9]*)?</param></data></define>
  <define name="totals">
    <optional><attribute name="name"/></optional>
    <optional><attribute name="time"><ref name="seconds"/></attribute></optional>
    <optional><attribute name="tests"/></optional>
    <optional><attribute name="failures"/></optional>
    <optional><attribute name="errors"/></optional>
  </define>
  <define name="suite"><element name="testsuite">
    <attribute name="name"/><attribute name="tests"/><attribute name="failures"/><attribute name="errors"/>
    <optional><attribute name="time"><ref name="seconds"/></attribute></optional>
    <optional><attribute name="skipped"/></optional>
    <optional><attribute name="timestamp"/></optional>
    <optional><attribute name="hostname"/></optional>
    <zeroOrMore><choice>
      <element name="properties"><zeroOrMore><element name="property">
        <attribute name="name"/><attribute name="value"/></element></zeroOrMore></element>
      <ref name="case"/>
      <element name="system-out"><text/></element>
    </choice></zeroOrMore>
  </element></define>
  <define name="case"><element name="testcase">
    <attribute name="name"/>
    <optional><attribute name="time"/></optional>
    <optional><attribute name="classname"/></optional>
    <zeroOrMore><choice>
      <element name="skipped"><ref name="told"/></element>
      <element name="error"><ref name="told"/></element>
      <element name="failure"><ref name="told"/></element>
      <element name="rerunFailure"><ref name="again"/></element>
      <element name="flakyFailure"><ref name="again"/></element>
      <element name="system-out"><text/></element>
      <element name="system-err"><text/></element>
    </choice></zeroOrMore>
  </element></define>
  <define name="told">
    <optional><attribute name="type"/></optional><optional><attribute name="message"/></optional><text/>
  </define>
  <define name="again">
    <attribute name="type"/><optional><attribute name="message"/></optional><text/>
  </define>
</grammar>
"""


@pytest.fixture(scope="module")
def schema() -> etree.RelaxNG:
    return etree.RelaxNG(etree.fromstring(SCHEMA))


def parsed(run: Run, verdict: Verdict | None, schema: etree.RelaxNG) -> etree._Element:
    root = etree.fromstring(junit([view_of(run, verdict)]))
    schema.assertValid(root)
    return root


def test_every_step_is_a_case_and_every_config_a_suite(tmp_path: Path, schema: etree.RelaxNG) -> None:
    run, verdict = fabricate(tmp_path, Recipe(models=("a", "b")))
    root = parsed(run, verdict, schema)
    assert [suite.get("name") for suite in root] == [plan.key for plan in run.plans]
    for suite, plan in zip(root, run.plans, strict=True):
        names = [case.get("name").split(" (")[0] for case in suite.iter("testcase")]
        assert {step.id for step in plan.steps} <= set(names)
        assert int(suite.get("tests")) == len(names)
    assert root.get("failures") == "0"
    assert int(root.get("tests")) == sum(int(suite.get("tests")) for suite in root)


def test_failed_blocked_skipped_and_uncertified_are_told_apart(tmp_path: Path, schema: etree.RelaxNG) -> None:
    root = parsed(*fabricate(tmp_path, Recipe(states={"gpu0-null/train": "failed"})), schema)
    (failure,) = root.xpath(
        "//testcase[contains(@name, 'gpu0-null/train')][not(contains(@classname, 'checks'))]/failure"
    )
    assert failure.get("type") == "failed"
    assert "FileNotFoundError" in failure.text
    assert root.get("failures") == "1"  # a blocked step and a check about a failed one say nothing new
    reasons = [skip.get("message") for skip in root.iter("skipped")]
    assert any(reason.startswith("blocked: needs") for reason in reasons)
    assert "no GPU on this machine" in reasons
    cases = [case.get("name") for case in root.iter("testcase") if case.find("skipped") is not None]
    assert {"infer gpu use_trt=False precision=fp32 batch_size=1", "certified on 0,1"} <= set(cases)


def test_a_failed_check_fails_the_file_even_if_every_command_passed(
    tmp_path: Path, schema: etree.RelaxNG
) -> None:
    run, verdict = fabricate(tmp_path)
    assert verdict is not None
    bad = tuple(replace(one, status="fail") if one.check == "TP301" else one for one in verdict.findings)
    root = parsed(run, replace(verdict, findings=bad), schema)
    assert root.get("failures") == "2"


def test_what_is_not_certified_is_skipped_and_with_strict_a_failure(
    tmp_path: Path, schema: etree.RelaxNG
) -> None:
    run, verdict = fabricate(tmp_path, Recipe(precisions=("amp",)))
    assert verdict is not None
    assert verdict.count(NOT_CERTIFIED) == 2
    assert parsed(run, verdict, schema).get("failures") == "0"
    assert parsed(run, replace(verdict, strict=True), schema).get("failures") == "2"


def test_a_part_of_the_chain_passes_only_where_nobody_asked_whether_it_is_certified(
    tmp_path: Path, schema: etree.RelaxNG
) -> None:
    run, verdict = fabricate(tmp_path, Recipe(states={"infer": "not selected"}))
    unchecked = parsed(run, None, schema)
    assert unchecked.get("failures") == "0"
    assert [skip.get("message") for skip in unchecked.iter("skipped")].count("pending: not selected") == 4
    assert parsed(run, verdict, schema).get("failures") == "4"


def test_a_step_that_lacks_what_was_not_selected_fails_the_file(
    tmp_path: Path, schema: etree.RelaxNG
) -> None:
    run, _ = fabricate(tmp_path, Recipe(states={"infer": "blocked", "": "not selected"}))
    assert parsed(run, None, schema).get("failures") == "4", "nothing else in it says so"


def test_retries_are_kept(tmp_path: Path, schema: etree.RelaxNG) -> None:
    run, verdict = fabricate(tmp_path, Recipe(states={"eval": "flaky"}))
    root = parsed(run, verdict, schema)
    assert len(root.findall(".//flakyFailure")) == 2
    assert root.get("failures") == "0"
    failed = {
        key: replace(one, state="failed", attempts=3) if one.state == "flaky" else one
        for key, one in run.results.items()
    }
    root = parsed(replace(run, results=failed), verdict, schema)
    assert len(root.findall(".//rerunFailure")) == 4


def test_a_run_that_was_broken_off_has_errors(tmp_path: Path, schema: etree.RelaxNG) -> None:
    run, verdict = fabricate(tmp_path, Recipe(states={"infer": "pending"}))
    assert parsed(run, verdict, schema).get("errors") == "0"
    assert parsed(replace(run, ended=None), verdict, schema).get("errors") == "4"


def test_a_log_is_cut_and_its_control_characters_are_made_legal(
    tmp_path: Path, schema: etree.RelaxNG
) -> None:
    text = "y" * 10_000_000 + "\n" + "]]> <&> \x00\x1b[31m\x0b\ufffe\n" * 500
    run, verdict = fabricate(tmp_path, Recipe(logs={"train": text}))
    data = junit([view_of(run, verdict)])
    assert len(data) < 200_000
    assert "]]> <&> " in "".join(etree.fromstring(data).itertext())


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_categories=())))
def test_whatever_stands_in_names_and_messages_the_file_is_valid(
    tmp_path: Path, schema: etree.RelaxNG, text: str
) -> None:
    run, verdict = fabricate(tmp_path)
    assert verdict is not None
    plans = tuple(replace(plan, model=text) for plan in run.plans)
    findings = tuple(replace(one, message=text, title=text, status="fail") for one in verdict.findings)
    parsed(replace(run, plans=plans), replace(verdict, findings=findings), schema)


def test_names_of_cases_are_unique_across_suites_and_runs(tmp_path: Path) -> None:
    recipe = Recipe(models=["toy"], precisions=("fp32", "amp"), states={"infer": "failed"})
    views = [view_of(*fabricate(tmp_path / name, replace(recipe, name=name))) for name in ("first", "second")]
    root = etree.fromstring(junit(views))
    cases = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(cases) > 10
    assert len(cases) == len(set(cases))
    suites = [suite.get("name") for suite in root.iter("testsuite")]
    assert len(suites) == len(set(suites))


def test_several_findings_of_one_check_at_one_place_are_told_apart(tmp_path: Path) -> None:
    run, verdict = fabricate(tmp_path)
    assert verdict is not None
    twice = replace(verdict, findings=(*verdict.findings, *verdict.findings))
    root = etree.fromstring(junit([view_of(run, twice)]))
    cases = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(cases) == len(set(cases))
    assert any(name.endswith(" #2") for _, name in cases)


@pytest.mark.parametrize("name", ["junit", "json"])
def test_files_for_programs_are_in_english_whoever_calls(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = view_of(*fabricate(tmp_path, Recipe(states={"gpu0-null/train": "failed"})))
    english = "".join(reporter(name).parts([view]))
    monkeypatch.setattr(language, "_chosen", "zh")
    assert "".join(reporter(name).parts([view])) == english
    assert language.language() == "zh", "and people are spoken to as before"
