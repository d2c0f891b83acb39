"""The modules of the front end, joined into one file by their text."""

import json

import pytest

from annotator.front_end_bundle import MAP, SCRIPT, join_modules
from annotator.front_end_files import STATIC

FRONT_END = {path.relative_to(STATIC).as_posix(): path.read_bytes() for path in STATIC.rglob("*.js")}


def test_the_bundle_holds_every_module_and_its_map_leads_each_line_to_the_source() -> None:
    files = join_modules(FRONT_END, "main.js")
    lines = files[SCRIPT].decode().splitlines()
    sections = json.loads(files[MAP])["sections"]
    assert {name for section in sections for name in section["map"]["sources"]} == set(FRONT_END)
    for section in sections:
        [name] = section["map"]["sources"]
        source = FRONT_END[name].decode().splitlines()
        start = section["offset"]["line"]
        assert section["map"]["mappings"].count("A;") + 1 >= len(source)
        for number, line in enumerate(source):
            joined = lines[start + number]
            assert joined == line.removeprefix("export ") or line.startswith(("import ", "} from ", "export {")), name


@pytest.mark.parametrize(
    ("modules", "sentence"),
    [
        ({"a.js": "import { b } from './b.js';", "b.js": "import { a } from './a.js';"}, "imports itself"),
        ({"a.js": "import { b } from './b.js';"}, "no module b.js"),
        ({"a.js": "export default 1;"}, "not joined: export default 1;"),
        ({"a.js": "import * as b from './b.js';", "b.js": ""}, "not joined: import"),
        ({"a.js": "export let count = 0;"}, "not joined: export let"),
        ({"a.js": "const b = await import('./b.js');", "b.js": ""}, "not joined: import("),
    ],
)
def test_what_cannot_be_joined_is_refused_by_name(modules: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=r"^[ab]\.js|^There is") as refusal:
        join_modules({name: source.encode() for name, source in modules.items()}, "a.js")
    assert sentence in str(refusal.value)


def test_names_are_taken_over_under_the_names_that_the_importer_gives() -> None:
    files = {
        "main.js": b"import {\n  first,\n  second as other,\n} from './parts/two.js';\nlog(first() + other);\n",
        "parts/two.js": b"// import nothing\nexport function first() {}\nconst second = 2;\nexport { second };\n",
    }
    script = join_modules(files, "main.js")[SCRIPT].decode()
    assert "const {\n  first,\n  second: other,\n} = m0;" in script
    assert "return { first, second };" in script and script.index("m0 =") < script.index("m1 =")
