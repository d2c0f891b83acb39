import pytest

from engine.training.pretraining.texts import (
    Document,
    page_documents,
    passages_of,
    python_corpus,
    sentence_pairs,
    sentences_of,
    split_by_name,
    text_source,
)


@pytest.fixture(scope="module")
def corpus():
    return python_corpus(40)


def test_the_corpus_is_the_same_every_time(corpus):
    python_corpus.cache_clear()
    assert python_corpus(40) == corpus
    assert len(sentences_of(corpus.training)) > 3000 and len(sentences_of(corpus.held_out)) > 100


def test_it_is_prose(corpus):
    sentences = sentences_of([*corpus.training, *corpus.held_out])
    assert all(4 <= len(sentence.split()) <= 60 for sentence in sentences)
    assert not any(sign in sentence for sentence in sentences for sign in (">>>", "::=", "\n", "``"))
    expected = "Assignment statements are used to (re)bind names to values and to modify attributes or items of mutable"
    assert f"{expected} objects:" in sentences


def test_no_sentence_is_both_learned_from_and_judged_by():
    documents = [
        Document(f"d{n}", (f"The number is {n}.", "This is said everywhere.", "this is said Everywhere."))
        for n in range(99)
    ]
    corpus = split_by_name(documents)
    learned, judged = ({one.casefold() for one in sentences_of(part)} for part in (corpus.training, corpus.held_out))
    assert not learned & judged and "this is said everywhere." in learned | judged
    assert 2 <= len(corpus.held_out) <= 25 and len(corpus.training) + len(corpus.held_out) == 99
    again = split_by_name(documents[::-1])
    assert {one.name for one in again.held_out} == {one.name for one in corpus.held_out}


def test_passages_hold_every_sentence_of_a_document_in_order(corpus):
    passages = passages_of(corpus.held_out, 50)
    assert " ".join(passages) == " ".join(sentences_of(corpus.held_out))
    longest = max(len(sentence.split()) for sentence in sentences_of(corpus.held_out))
    assert all(len(passage.split()) <= max(50, longest) for passage in passages)
    assert passages_of([Document("a", ("One two.",)), Document("b", ("Three four.",))]) == ["One two.", "Three four."]


def test_a_source_gives_each_text_once_before_any_twice():
    texts = [f"{'word ' * (number % 7)}{number}" for number in range(64)]
    source = text_source(texts, 3, 4)
    first, second = ([text for step in range(at, at + 16) for text in source(step)] for at in (0, 16))
    assert sorted(first) == sorted(second) == sorted(texts) and first != second
    assert list(text_source(texts, 3, 4)(21)) == list(source(21))  # a step does not depend on those before it
    assert list(text_source(texts, 4, 4)(0)) != list(source(0))


def test_a_source_of_few_texts_repeats_them():
    assert set(text_source(["a", "b"], 0, 3)(5)) == {"a", "b"}
    with pytest.raises(ValueError, match="no text"):
        text_source([], 0, 3)


def test_half_of_the_pairs_stand_side_by_side(corpus):
    pairs = sentence_pairs(corpus.held_out, 1, 60)
    near = {
        pair for document in corpus.held_out for pair in zip(document.sentences, document.sentences[1:], strict=False)
    }
    assert len(pairs) == 60 and all(pair in near for pair in pairs[:30])
    assert sum(pair in near for pair in pairs[30:]) < 5
    assert pairs == sentence_pairs(corpus.held_out, 1, 60) != sentence_pairs(corpus.held_out, 2, 60)


def test_pages_are_read_line_by_line():
    pages = page_documents(5, 3)
    assert pages == page_documents(5, 3) and len(pages) == 3
    assert sum(len(page.sentences) for page in pages) > 5
    assert all(len(line.split()) >= 4 for page in pages for line in page.sentences)
