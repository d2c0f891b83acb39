"""Texts of words as they are printed."""

import json
import shutil
import subprocess
from dataclasses import dataclass

import pytest

from model.boxes import Box
from model.printed_text import printed_text
from tests.conftest import needed


@dataclass
class Printed:
    text: str
    box: Box


def row(text: str, top: int = 0) -> list[Printed]:
    """Words of a row, where a blank is 20 pixels, and Chinese and Japanese characters are words."""
    words: list[Printed] = []
    left = 0
    for piece in text.split():
        latin = ""
        for c in piece:
            if ord(c) < 0x2E80 or "\uac00" <= c <= "\ud7a3":
                latin += c
                continue
            if latin:
                words.append(Printed(latin, (left, top, left + 10 * len(latin), top + 20)))
                left, latin = left + 10 * len(latin), ""
            words.append(Printed(c, (left, top, left + 20, top + 20)))
            left += 20
        if latin:
            words.append(Printed(latin, (left, top, left + 10 * len(latin), top + 20)))
            left += 10 * len(latin)
        left += 20
    return words


CASES = [
    (row("合計金額は1250円です"), "合計金額は1250円です"),
    (row("请付款 Invoice 三千元"), "请付款 Invoice 三千元"),
    (row("合 計"), "合 計"),
    (row("東京都港区") + row("芝公園四丁目", 30), "東京都港区芝公園四丁目"),
    (row("Total due") + row("1250", 30), "Total due 1250"),
    (row("합계 금액"), "합계 금액"),
    (row("計") + row("1250", 30), "計 1250"),
    ([Printed(c, (0, 24 * at, 20, 24 * at + 20)) for at, c in enumerate("吾輩は猫")], "吾輩は猫"),
    ([], ""),
]


@pytest.mark.parametrize(("words", "text"), CASES)
def test_words_are_joined_as_they_are_printed(words: list[Printed], text: str) -> None:
    assert printed_text(words) == text


def test_the_page_joins_words_as_the_server_does() -> None:
    node = shutil.which("node")
    if node is None:
        needed("The page's scripts need Node.js to run without a browser.")
    given = json.dumps([[{"text": word.text, "box": word.box} for word in words] for words, _ in CASES])
    script = (
        "import { readFileSync } from 'node:fs';"
        "import { printedText } from './annotator/static/words/printed_text.js';"
        "const texts = JSON.parse(readFileSync(0, 'utf8')).map(printedText);"
        "process.stdout.write(JSON.stringify(texts));"
    )
    command = [str(node), "--input-type=module", "-e", script]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [text for _, text in CASES]
