"""Cards: what a notebook shows for a result and for a certificate."""

from __future__ import annotations

import dataclasses

import numpy as np

import fidelitree as ft
from reports import HOSTILE

SPACE = ft.ProductSpace.bernoulli(2, names=["owner", HOSTILE])


def test_a_result_shows_its_certificate_and_its_tree() -> None:
    result = ft.distill(lambda bits: np.where(bits[:, 0] & bits[:, 1], "yes", "<no>"), SPACE, 0)
    shown = result._repr_html_()
    assert "✓ Certified, goal met" in shown
    assert "A constant answer &lt;no&gt; would be wrong on 25% of inputs." in shown
    assert "this tree agrees with the target on 100% of all inputs" in shown
    assert "Leaves <strong>3</strong>" in shown
    assert "<details open" in shown
    assert "&lt;no&gt;" in shown
    assert "<script" not in shown


def test_a_large_tree_is_folded_and_cut() -> None:
    result = ft.build_top_down(ft.targets.parity(9), ft.ProductSpace.bernoulli(9), 0)
    shown = result._repr_html_()
    assert "<details style" in shown
    assert shown.count("\n") == 401
    assert "\n...</pre>" in shown


def test_a_certificate_shows_whether_it_holds() -> None:
    certificate = ft.distill(ft.targets.multiplexer(3), ft.ProductSpace.bernoulli(11), 0.1).certificate
    shown = certificate._repr_html_()
    assert "✓ Certified, goal met" in shown
    assert "Confidence <strong>95%</strong>" in shown
    assert f"Test inputs <strong>{certificate.samples}</strong>" in shown
    failed = dataclasses.replace(certificate, epsilon=0.01)._repr_html_()
    assert "✗ Certified at 90% agreement, goal missed" in failed
    assert "NOT certified" in failed
    nothing = dataclasses.replace(certificate, error_bound=1.0)._repr_html_()
    assert "✗ Nothing certified" in nothing
    assert "Nothing is certified about this tree" in nothing
    exact = dataclasses.replace(certificate, method="exact", delta=0.0)._repr_html_()
    assert "Confidence" not in exact
