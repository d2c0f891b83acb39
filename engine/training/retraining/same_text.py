"""Places of a page that say the same as an accepted answer. Pure.

A receipt prints its date and its total more than once, and an accepted answer names one of these places: mostly the one
that the model in use had proposed. Who accepts a proposal says that it is right, not that the other places are wrong.
If only the accepted place counted, a challenger that marks another one would lose against the model in use, which
proposed that place. So in a verdict all of them count, for both.
"""

from collections import defaultdict
from dataclasses import replace

from engine.fields.answer_text import without_punctuation
from engine.grounded import GroundedPage, GroundedQuestion

MOST_PLACES = 8  # of a text on a page: one that stands at more of them, such as 0.00 in a table, says little
FEWEST_CHARACTERS = 3  # letters and digits of a text: fewer, such as an "x", stand at many places by chance


def with_places_of_the_same_text(page: GroundedPage) -> GroundedPage:
    """Return a page on which the neighbouring words that spell an accepted answer are acceptable answers too.

    The accepted ones stay the first. A place with a word that answers another question of the page is left out: it is
    known to mean something else, and so is a text that stands at more than MOST_PLACES. Punctuation, case and white
    space do not count.
    """
    texts = [without_punctuation(word.text) for word in page.words]
    starts: dict[str, list[int]] = defaultdict(list)
    for at, text in enumerate(texts):
        starts[text].append(at)
    taken: dict[int, set[str]] = defaultdict(set)
    for question in page.questions:
        for at in {at for answer in question.answers for at in answer}:
            taken[at].add(question.question_id)

    def elsewhere(question: GroundedQuestion) -> list[list[int]]:
        """Return the further places of a question's answers."""
        places: list[list[int]] = []
        for answer in question.answers:
            spelled = [texts[at] for at in answer]
            if len("".join(spelled)) < FEWEST_CHARACTERS:
                continue
            alike = [at for at in starts[spelled[0]] if texts[at : at + len(answer)] == spelled]
            if len(alike) > MOST_PLACES:
                continue
            for first in alike:
                place = list(range(first, first + len(answer)))
                if place in question.answers or place in places:
                    continue
                if all(taken[at] <= {question.question_id} for at in place):
                    places.append(place)
        return places

    return replace(
        page,
        questions=[replace(question, answers=[*question.answers, *elsewhere(question)]) for question in page.questions],
    )
