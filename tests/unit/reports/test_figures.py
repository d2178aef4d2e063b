"""Figures that fit on their page."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from workbench.reports.content.run_content import Map
from workbench.reports.figures.drawing import COLUMN, FULL, Drawing
from workbench.reports.figures.group_figures import apart
from workbench.reports.figures.run_figures import draw, draw_map

CAPTION = "UMAP (15 neighbours, minimum distance 0.1, cosine), seed 0; 899 of 899 test images, epoch 5"


def test_the_title_of_the_map_is_whole_and_not_its_caption():
    labels = np.arange(30) % 3
    names = ("a class with a name", "another class with one", "the third of the classes")
    shown = Map(np.random.default_rng(0).normal(size=(30, 2)), labels, None, names, CAPTION, "UMAP, epoch 5")
    figure = Drawing(partial(draw_map, shown), FULL, 4.6, ([], [])).figure()
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    assert figure.axes[0].title.get_text() == "UMAP, epoch 5"
    box = figure.axes[0].title.get_window_extent(canvas.get_renderer())
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert box.y1 <= figure.bbox.y1


def test_classes_with_long_names_leave_the_map_its_room_and_are_whole_in_the_legend():
    names = ("a" * 200, "two\nlines", "W" * 90)
    shown = Map(np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 3, None, names, "", "UMAP, epoch 5")
    figure = Drawing(partial(draw_map, shown), FULL, 4.6, ([], [])).figure()
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    legend = figure.axes[0].get_legend()
    assert legend.get_window_extent(canvas.get_renderer()).x1 <= figure.bbox.x1
    assert figure.axes[0].get_position().width > 0.5
    assert [text.get_text() for text in legend.get_texts()][1] == "two lines"


@pytest.mark.parametrize(("values", "scale"), [([np.nan, np.nan], "linear"), ([np.nan, 2.0], "log")])
def test_a_curve_without_a_number_is_drawn_as_an_empty_one(values, scale):
    curve = SimpleNamespace(steps=np.arange(2), values=np.array(values))
    named = {"probe/ce": curve, "probe/spce": curve, "batch/loss": curve}
    content = SimpleNamespace(sections=("curves",), curves=named, other_curves=(), map=None, worst=(), finest=())
    drawings = draw(content)
    for drawing in drawings.values():
        FigureCanvasAgg(drawing.figure()).draw()
    figure = drawings["ce-spce"].figure()
    assert figure.axes[0].get_yscale() == scale


@pytest.mark.parametrize("value", [1e308, -1.7e308])
def test_a_value_beyond_what_an_axis_can_have_is_marked_and_the_others_are_drawn(value):
    curve = SimpleNamespace(steps=np.arange(4), values=np.array([1.0, value, -value, 2.0]))
    names = ("batch/loss", "batch/lr", "probe/ce", "probe/spce", "test/recall@1", "test/MAP@R")
    content = SimpleNamespace(
        sections=("curves",), curves=dict.fromkeys(names, curve), other_curves=(), map=None, worst=(), finest=()
    )
    drawings = draw(content)
    assert set(drawings) == {"loss", "ce-spce", "retrieval"}
    for drawing in drawings.values():
        assert drawing.encode("png").startswith(b"\x89PNG")
        assert [axis for axes in drawing.figure().axes for axis in np.abs(axes.get_ylim()) if axis > 1e9] == []
    assert [text.get_text() for text in drawings["loss"].figure().axes[0].texts] == [" beyond 1e+300"]


def test_metrics_of_another_program_are_in_percent_whether_it_logged_fractions_or_percent():
    logged = {"recall@1": [0.25, 0.5], "validation/MAP@R": [30.0, 60.0], "mine/norm": [0.25, 0.5]}
    curves = {name: SimpleNamespace(steps=np.arange(2), values=np.array(values)) for name, values in logged.items()}
    curves |= {"test/MAP@R": curves["validation/MAP@R"], "test/recall@1": curves["recall@1"]}
    content = SimpleNamespace(
        sections=("curves",), curves=curves, other_curves=tuple(logged), map=None, worst=(), finest=()
    )
    drawings = draw(content)
    others = drawings["other-curves"].figure().axes
    assert [axes.get_title() for axes in others] == ["recall@1 (%)", "validation/MAP@R (%)", "mine/norm"]
    assert [axes.lines[0].get_ydata().tolist() for axes in others] == [[25, 50], [30, 60], [0.25, 0.5]]
    (retrieval,) = drawings["retrieval"].figure().axes
    assert [line.get_ydata().tolist() for line in retrieval.lines] == [[25, 50], [30, 60]]


def test_titles_apart_end_without_a_lone_bracket():
    assert apart(["Digits: loss Normalised CE", "Digits: loss Proxy-Anchor"]) == ["Normalised CE", "Proxy-Anchor"]
    assert apart(["Digits (set a)", "Digits (set b)"]) == ["a", "b"]
    assert apart(["ICE (d 64)"]) == ["ICE (d 64)"]


def test_a_map_of_many_classes_is_drawn_at_once():
    labels = np.arange(300) % 100
    points = np.random.default_rng(0).normal(size=(300, 2))
    figure = Drawing(partial(draw_map, Map(points, labels, None, (), "", "")), FULL, 4.6, ([], [])).figure()
    (dots,) = figure.axes[0].collections
    order = np.argsort(labels, kind="stable")
    assert np.array_equal(dots.get_offsets(), points[order])
    assert len(np.unique(dots.get_facecolors(), axis=0)) == 100


def test_a_letter_that_the_usual_font_lacks_comes_from_an_installed_one(monkeypatch):
    letter = "\u20dd"  # STIXGeneral, which comes with matplotlib, has it; DejaVu Sans does not
    named = Drawing(lambda figure: figure.text(0.1, 0.5, letter, fontsize=40), COLUMN, 1.0, ([], []), laid_out=False)
    pictures = []
    for fonts in (("No Such Font",), ("No Such Font", "STIXGeneral")):
        monkeypatch.setattr("workbench.reports.figures.drawing.OTHER_FONTS", fonts)
        pictures.append(named.encode("png"))
    assert pictures[0] != pictures[1]
    monkeypatch.setattr("workbench.reports.figures.drawing.OTHER_FONTS", ("STIXGeneral",))
    assert named.encode("png") == pictures[1]
    assert "STIXGeneral" in named.encode("svg").decode()
