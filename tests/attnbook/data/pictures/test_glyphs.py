"""Glyphs: held-out classes are others, examples vary and keep their class, and seeds fix all of it."""

import torch

from attnbook.data.pictures import glyphs
from attnbook.data.pictures.glyphs import draw_glyphs, glyph_classes, paint, stroke_points, vary
from attnbook.seeding import generator


def test_classes_to_train_on_and_those_held_out_are_different():
    train, test = glyph_classes(), glyph_classes(held_out=True)
    assert train.shape == (1200, 3, 3, 2)
    assert test.shape == (400, 3, 3, 2)
    assert len(torch.cat([train, test]).flatten(1).unique(dim=0)) == 1600


def test_classes_are_the_same_in_each_call_and_draw_from_no_other_generator():
    before = torch.random.get_rng_state()
    assert torch.equal(glyph_classes(), glyph_classes())
    assert torch.equal(torch.random.get_rng_state(), before)


def test_control_points_lie_inside_the_picture():
    assert glyph_classes().min() >= 0.15
    assert glyph_classes().max() <= 0.85


def test_a_stroke_begins_and_ends_at_its_first_and_last_control_point(draw, close):
    control = draw(4, 3, 3, 2)
    points = stroke_points(control)
    assert points.shape == (4, 3, 10, 2)
    close(points[..., 0, :], control[..., 0, :])
    close(points[..., -1, :], control[..., 2, :])


def test_three_control_points_on_a_line_give_a_straight_stroke(draw, close):
    start, end = draw(2), draw(2, seed=1)
    points = stroke_points(torch.stack([start, (start + end) / 2, end]))
    share = torch.linspace(0, 1, 10).to(points)[:, None]
    close(points, start + share * (end - start))


def test_a_variation_is_a_rotation_a_stretch_and_a_shift():
    square = torch.tensor([[0.4, 0.4], [0.6, 0.4], [0.4, 0.6]]).expand(500, -1, -1)
    varied = vary(square, generator(0))
    right, down = (varied[:, i] - varied[:, 0] for i in (1, 2))
    for side in (right, down):
        length = side.norm(dim=-1) / 0.2
        assert length.min() >= 1 - glyphs.STRETCH - 1e-5
        assert length.max() <= 1 + glyphs.STRETCH + 1e-5
        assert length.max() - length.min() > 0.2
    angle = torch.atan2(right[:, 1], right[:, 0])
    assert 0.9 * glyphs.TURN < angle.abs().max() <= glyphs.TURN + 0.01
    # the stretch is along the two axes of the class, before the rotation, so that right angles stay
    assert (right * down).sum(dim=-1).abs().max() < 1e-6


def test_a_variation_moves_the_middle_by_at_most_two_pixels():
    middle = torch.full((500, 1, 2), 0.5)
    moved = (vary(middle, generator(0)) - middle).abs() * glyphs.SIDE
    assert 1.9 < moved.max() <= 2 + 1e-5


def test_ink_is_where_the_points_are(device, dtype):
    centre = (torch.tensor([[[3.5, 10.5]]]) / 16).to(device, dtype)  # x, y: the pixel in row 10, column 3
    image = paint(centre)
    assert image.shape == (1, 16, 16)
    assert image.dtype == dtype
    assert image[0, 10, 3] == image.max() == 1
    assert image[0, 10, 5] < 0.2
    assert image[0, 3, 10] == 0


def test_pictures_have_numbers_between_0_and_1_and_both_paper_and_ink():
    images = draw_glyphs(glyph_classes()[:50], generator(0))
    assert images.shape == (50, 1, 16, 16)
    assert images.min() == 0
    assert images.max() == 1
    ink = (images > 0.5).float().mean()
    assert 0.05 < ink < 0.4


def test_a_seed_fixes_the_examples_and_two_examples_of_a_class_differ():
    classes = glyph_classes()[:3].repeat(2, 1, 1, 1)
    one, same, other = (draw_glyphs(classes, generator(seed)) for seed in (5, 5, 6))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    assert all(not torch.equal(one[i], one[i + 3]) for i in range(3))


def test_two_examples_of_a_class_are_nearer_than_two_of_different_classes():
    classes = glyph_classes(held_out=True)
    one, two = (draw_glyphs(classes, generator(seed)).flatten(1) for seed in (0, 1))
    distance = torch.cdist(one, two)
    same, others = distance.diagonal().mean(), distance.mean()
    assert same < 0.95 * others
    assert (distance.diagonal() < distance[:, 1:].mean(dim=1)).float().mean() > 0.6


def test_the_control_points_are_not_changed():
    classes = glyph_classes()[:4]
    before = classes.clone()
    draw_glyphs(classes, generator(0))
    assert torch.equal(classes, before)
