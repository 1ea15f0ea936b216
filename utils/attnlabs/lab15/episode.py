"""Lab 15: an episode of few-shot classification, dealt from a shuffled deck of images."""

import torch

from misread.exercise import About, Exercise


def few_shot_episode(images, labels, ways, shots, draw):
    """Deal an episode: (N, 1, S, S), (N,), int, int, (2, N) ->
    images (T, 1, S, S), labels (T,), T = ways · shots + 1."""
    deck, names = draw[0].argsort().tolist(), labels.tolist()
    classes = list(dict.fromkeys(names[i] for i in deck))[:ways]
    examples, candidates = [], []
    for new, old in enumerate(classes):
        own = [i for i in deck if names[i] == old]
        examples += [(i, new) for i in own[:shots]]
        candidates.append((own[shots], new))
    order = draw[1].tolist()
    examples.sort(key=lambda pair: order[pair[0]])
    question = min(candidates, key=lambda pair: order[pair[0]])
    which, told = zip(*examples, question, strict=True)
    return images[list(which)], torch.tensor(told)


def _decks(draw):
    def dealt(classes, ways, shots, side, spare=2, smallest=10, width=0):
        counts = [shots + 1 + draw.integer(0, spare + 1) for _ in range(classes)]
        names = smallest + draw.order(30 if smallest else classes)[:classes]  # any numbers, in no order
        labels = names.repeat_interleave(torch.tensor(counts))
        labels = labels[draw.order(len(labels))]
        rows = torch.stack([draw.order(100)[: len(labels)] / 100 for _ in range(2)])  # (2, N), no number twice
        return draw.normal(len(labels), 1, side, width or side), labels, ways, shots, rows.double()

    if draw.compact:
        yield dealt(2, 2, 1, 1, spare=0)
        yield dealt(3, 2, 1, 1, spare=0)
        yield dealt(2, 2, 1, 1, spare=0, smallest=0)
    yield dealt(4, 3, 1, 1)
    yield dealt(5, 3, 2, 2)
    yield dealt(3, 3, 2, 1)  # all classes
    yield dealt(7, 5, 1, 2, smallest=0, width=1)  # the old labels are 0, 1, …; features are dealt like images
    yield dealt(6, 4, 3, 1, spare=3)
    yield dealt(4, 2, 2, 3, spare=0, smallest=0, width=1)  # no image to spare
    yield dealt(3, 1, 2, 1)  # one way


def _sources(result, images, labels):
    """The old classes of the images in an episode, None for an image that is none of those given."""
    which = [[i for i, image in enumerate(images) if torch.equal(image, one)] for one in result[0]]
    return [int(labels[found[0]]) if found else None for found in which]


def _one_class_per_label(result, images, labels, ways, shots, draw):
    pairs = set(zip(_sources(result, images, labels), result[1].tolist(), strict=True))
    return len(pairs) == len({old for old, _ in pairs}) == len({new for _, new in pairs}) == ways


FEW_SHOT_EPISODE = Exercise(
    few_shot_episode,
    cases=_decks,
    returns=("images", "labels"),
    gradients=False,
    device=False,
    about=About(points=3, minutes=25, difficulty=3, read_again=("15_snail_evidence", "Five letters")),
)

must = FEW_SHOT_EPISODE.properties
must(
    "labels from 0 to ways − 1, each `shots` times",
    lambda result, images, labels, ways, shots, draw: (
        sorted(result[1][:-1].tolist()) == sorted(list(range(ways)) * shots)
    ),
).says("""
    Before the question, each label from 0 to ways − 1 must come exactly `shots` times.""")
must("no image twice", lambda result, *args: len(result[0].flatten(1).unique(dim=0)) == len(result[0])).says("""
    No image may come twice in an episode: above all, the question must not be one of the examples.""")
must("one class per label", _one_class_per_label).says("""
    All images with the same new label must come from the same class, and images with different labels from different
    classes. Do images and labels stand in the same order?""")
must(
    "in the order of draw[1]", lambda result, images, labels, ways, shots, draw: _ascending(result, images, draw)
).says("""
    The examples must stand in the order of their numbers in draw[1], the smallest first.""")


def _ascending(result, images, draw):
    numbers = [draw[1, i] for one in result[0][:-1] for i in range(len(images)) if torch.equal(images[i], one)]
    return numbers == sorted(numbers)


_CLASSES, _OWN = "list(dict.fromkeys(names[i] for i in deck))[:ways]", "[i for i in deck if names[i] == old]"
_SORT, _MIN = "examples.sort(key=lambda pair: order[pair[0]])", "min(candidates, key=lambda pair: order[pair[0]])"
_TOLD = "torch.tensor(told)"

wrong = FEW_SHOT_EPISODE.mistakes
wrong("the old labels", {"(i, new) for": "(i, old) for", "(own[shots], new)": "(own[shots], old)"}).says("""
    Your labels are those of the whole collection. In an episode the classes are called 0 to ways − 1, given anew
    each time, so that a network cannot memorise what a class is called and has to read the examples.""")
wrong("the question with its old label", {"(own[shots], new)": "(own[shots], old)"}).says("""
    Your examples have new labels, but the last label is the one that the question's class has in the collection. The
    answer is the *new* label of this class, from 0 to ways − 1.""")
IN_TURN = """told = torch.tensor([names[i] for i in which])
    for new, old in enumerate(classes):
        told[told == old] = new
    return images[list(which)], told"""
wrong("labels replaced one after the other", {"return images[list(which)], torch.tensor(told)": IN_TURN}).says("""
    You replaced the old labels one after the other in the same tensor. A new label may be the old label of another
    class, and then it is replaced once more. Keep the old labels as they are, and write the new ones elsewhere.""")
RENAMED = """examples, candidates, renamed = [], [], labels.clone()
    for new, old in enumerate(classes):
        renamed[renamed == old] = new"""
AT_ONCE = {"examples, candidates = [], []": RENAMED, _OWN: "[i for i in deck if renamed[i] == new]"}
wrong("labels replaced before the images are chosen", AT_ONCE).says("""
    You replaced old labels by new ones in one tensor, and then looked for the images by their new labels. A new label
    may be the old label of another class, so that two classes become one. Look for the images by their old labels.""")
wrong("labels in the order of the classes' numbers", {_CLASSES: f"sorted({_CLASSES})"}).says("""
    You gave the new labels in the order of the old class numbers, as `unique` does. Then the new label says
    something about the class, and the network could memorise it. Label 0 belongs to the class that is dealt first.""")
wrong("always the same classes", {_CLASSES: "sorted(set(names))[:ways]"}).says("""
    You took the classes with the smallest numbers, so that every episode has the same ones. Take the first `ways`
    classes that come up in the shuffled deck.""")
wrong("classes from a set", {_CLASSES: "list({names[i] for i in deck})[:ways]"}).says("""
    You collected the classes in a Python `set`, which does not keep the order in which they came. Label 0 belongs to
    the class that is dealt first: use list(dict.fromkeys(…)), or append to a list what it does not hold.""")
wrong("the classes of the first images", {_CLASSES: _CLASSES.replace("in deck)", "in deck[:ways])")}).says("""
    You looked at the first `ways` images of the deck only, and two of them may be of the same class. Go on in the deck
    until `ways` *different* classes have come up.""")
wrong("a class may come twice", {_CLASSES: "[names[i] for i in deck][:ways]"}).says("""
    Your `ways` classes may hold one class twice, because equal ones were not recognised as equal. Neither a dict nor a
    set does so with tensors, which are keys of their own even where their numbers are equal: use labels.tolist().""")
wrong("classes in the order of the collection", {_CLASSES: "list(dict.fromkeys(names))[:ways]"}).says("""
    You took the classes, and with them the new labels, in the order in which they come up in `labels`. The collection
    must be shuffled first: take the classes as they come up in the deck, whose order is draw[0].argsort().""")
wrong("the question is an example", {"(own[shots], new)": "(own[0], new)"}).says("""
    Your question is an image that stands among the examples, so that it can be answered by comparing pixels. It
    must be a new image of its class: the one that is dealt after the `shots` examples.""")
wrong("the last example asked again", {"(own[shots], new)": "(own[shots - 1], new)"}).says("""
    Your question is the last of a class's examples. Counted from 0, the examples are the images 0 to shots − 1, and
    the candidate for the question is the image with the number `shots`.""")
wrong("the question counts as a shot", {"own[:shots]": "own[: shots - 1]"}).says("""
    Your episode is too short, because you counted the question as one of the `shots`. Each class has `shots`
    labelled examples, and one image comes in addition, the question: T = ways · shots + 1.""")
wrong("a question for each class", {"zip(*examples, question,": "zip(*examples, *candidates,"}).says("""
    You asked one question per class. Here an episode has a single one: the candidate with the smallest number in
    draw[1].""")
wrong("the first class is always asked", {_MIN: "candidates[0]"}).says("""
    Your question always belongs to the class with label 0, so that "0" is always right. Take, among the candidates,
    the image with the smallest number in draw[1].""")
wrong("the last class is always asked", {_MIN: "candidates[-1]"}).says("""
    Your question always belongs to the class with the largest label, so that a network need not look at the image.
    Take, among the candidates of *all* classes, the image with the smallest number in draw[1].""")
wrong("the largest number decides", {_MIN: _MIN.replace("min", "max")}).says("""
    You asked for the candidate with the *largest* number in draw[1]. By the rule of this lab it is the one with the
    *smallest* number.""")
wrong("the question drawn by row 0", {_MIN: "min(candidates, key=lambda pair: draw[0, pair[0]])"}).says("""
    You chose the question by draw[0], which already decided which class came first. Then some labels are asked more
    often than others. Its number in draw[1] decides, which nothing else depends on.""")
ANY = {"candidates.append((own[shots], new))": "candidates += [(i, new) for i in own[shots:]]"}
wrong("any image that is left may be asked", ANY).says("""
    You let all images that are left compete for the question, so that classes with many images are asked more
    often. Each class has one candidate, the image that is dealt right after its examples.""")
wrong("examples class by class", {_SORT: "pass"}).says("""
    Your examples stand class by class, all of label 0 first. Then a network could learn labels from positions: sort
    the examples by their numbers in draw[1].""")
DEALT = "examples += [(i, new) for i in own[:shots]]"
WITHIN = {DEALT: DEALT.replace("own[:shots]", "sorted(own[:shots], key=lambda i: draw[1, i])"), _SORT: "pass"}
wrong("examples sorted within each class", WITHIN).says("""
    You sorted the examples of each class by draw[1], but the classes still stand one after the other, all of label 0
    first. Collect the examples of *all* classes, and then sort them together.""")
wrong("examples in the order of the deck", {_SORT: "examples.sort(key=lambda pair: draw[0, pair[0]])"}).says("""
    Your examples stand in the order of draw[0], in which label 0 always comes first. The order of the sequence is
    that of draw[1], which says nothing about labels.""")
BY_PLACE = "examples = [examples[i] for i in draw[1, : len(examples)].argsort().tolist()]"
wrong("draw[1] by place among the examples", {_SORT: BY_PLACE}).says("""
    You sorted the examples by the first numbers of draw[1], as if these belonged to the first examples. draw[1, i] is
    the number of image i of the collection, so look up the number of each example's own image.""")
wrong("ranks for the numbers of draw[1]", {"draw[1].tolist()": "draw[1].argsort().tolist()"}).says("""
    You compared images by entries of draw[1].argsort(). Its entry j is the number of the image that stands at rank j,
    and not the rank of image j. Compare by draw[1] itself.""")
wrong("examples in descending order", {_SORT: "examples.sort(key=lambda pair: -order[pair[0]])"}).says("""
    You sorted the examples by draw[1] with the largest number first. The smallest one comes first.""")
wrong(
    "labels not sorted with the images", {_TOLD: "torch.tensor([i // shots for i in range(ways * shots)] + [told[-1]])"}
).says("""
    You sorted the images by draw[1], and the labels stayed in the old order, so that label and image no longer
    match. Sort pairs of image and label.""")
SEQUENCE = {_TOLD: "torch.tensor([list(dict.fromkeys(told)).index(label) for label in told])"}
wrong("labels in the order of the sequence", SEQUENCE).says("""
    You gave the new labels in the order in which the classes come up in the *sequence*, so that the first example
    always has label 0. They follow the shuffled deck, draw[0].""")
wrong("the question first", {"zip(*examples, question,": "zip(question, *examples,"}).says("""
    You put the question first. It must be the last one, so that a causal network has seen all examples when it
    answers.""")
SORTED_IN = {_SORT: "examples.append(" + _MIN + ")\n    examples.sort(key=lambda pair: order[pair[0]])"}
SORTED_IN |= {"question = " + _MIN: "pass", "zip(*examples, question,": "zip(*examples,"}
wrong("the question somewhere among the examples", SORTED_IN).says("""
    You sorted the question in among the examples. It must be the last one, so that a causal network has seen all
    examples when it answers: sort the examples, and then append the question.""")
wrong("no answer", {_TOLD: "torch.tensor(told[:-1])"}).says("""
    Your labels have one entry too few. The last one is the answer to the question, which the loss needs; the
    network is given labels[:-1].""")
wrong("images in the given order", {_OWN: "[i for i in range(len(names)) if names[i] == old]"}).says("""
    You chose the classes by the shuffled deck, but the images of a class in the order in which they are given, so
    that it always shows the same ones. Take its images in the order of the deck.""")
wrong("the images of a class by draw[1]", {_OWN: f"sorted({_OWN}, key=lambda i: draw[1, i])"}).says("""
    You took the images of a class in the order of draw[1]. Its examples are its first `shots` images in the *deck*, and
    its candidate is the next one there. draw[1] decides only which candidate is asked and how the examples are
    ordered.""")
wrong("positions in the deck for images", {_OWN: "[j for j, i in enumerate(deck) if names[i] == old]"}).says("""
    You collected *positions in the deck* and used them as numbers of images. The image at position j of the deck is
    number deck[j] of the collection: images[deck[j]], and its number in the second row is draw[1, deck[j]].""")
wrong("ranks for the deck", {"draw[0].argsort()": "draw[0].argsort().argsort()"}).says("""
    You took the *rank* of each number for the deck. `argsort` alone gives the order: its first entry is the number
    of the image that is dealt first.""")
wrong("the deck from the largest number on", {"draw[0].argsort()": "draw[0].argsort(descending=True)"}).says("""
    You dealt the deck from the largest number of draw[0] to the smallest. The image with the smallest number is
    dealt first.""")
wrong("not shuffled", {"draw[0].argsort().tolist()": "list(range(len(labels)))"}).says("""
    You did not shuffle, so that every episode has the same classes and images. The order of the deck is that of
    draw[0]: draw[0].argsort().""")
wrong(
    "the two rows exchanged", {"draw[0].argsort()": "draw[1].argsort()", "draw[1].tolist()": "draw[0].tolist()"}
).says("""
    You exchanged the two rows of `draw`. draw[0] shuffles the deck, and so decides what is dealt; draw[1] decides
    the order in the sequence, and the question.""")
wrong("the last image of a class asked", {"(own[shots], new)": "(own[-1], new)"}).says("""
    Your candidate is the last image of its class in the deck. It is the one that is dealt right after the examples,
    the image with the number `shots`, counted from 0.""")
wrong("the answer hidden", {_TOLD: "torch.tensor([*told[:-1], -1])"}).says("""
    You put −1 where the answer stands. The last label is the new label of the question, which the loss needs; the
    network is given labels[:-1] and cannot see it.""")
wrong("labels with a decimal point", {_TOLD: "torch.tensor(told).float()"}).says("""
    Your labels are right, but they are floating-point numbers. Labels are whole numbers here (torch.long), as the loss
    and `one_hot` need them.""")
wrong("a list of tensors for an index", {"images[list(which)]": "images[[torch.tensor(i) for i in which]]"}).says("""
    You indexed `images` with a list of tensors or with a tuple, which torch takes for one index per *axis*. Use a list
    of numbers, as `tolist()` gives it, or a single tensor: images[[2, 1, 3]] picks three images.""")
LEFT_BEHIND = {"order = draw[1].tolist()": "order = dict(zip(deck, draw[1].tolist(), strict=True))"}
wrong("draw[1] not shuffled along", LEFT_BEHIND).says("""
    You shuffled images and labels, but not draw[1], so that its numbers belong to other images. draw[1, i] is the
    number of the image i of the collection, wherever this image lies in the deck.""")
