"""PDF forms written object by object, for what programs that make forms do, and for what only attackers do."""

from __future__ import annotations

from pathlib import Path

_FIRST = 10  # number of the first object of a field


class RawForm:
    """Form of one page, 400 x 300 points with y upwards, whose fields a test writes as PDF objects."""

    def __init__(self, *, rotate: int = 0, crop: str = "", need_appearances: bool = True) -> None:
        self._page = f"/Rotate {rotate}" + (f"/CropBox[{crop}]" if crop else "")
        self._need = need_appearances
        self._print: list[str] = []
        self._objects: list[str] = []
        self._fields: list[int] = []
        self._widgets: list[int] = []

    def print(self, x: float, y: float, text: str, *, turned: bool = False) -> RawForm:
        """Print a text, to the right or, turned, upwards."""
        matrix = "0 1 -1 0" if turned else "1 0 0 1"
        self._print.append(f"BT /Helv 12 Tf {matrix} {x} {y} Tm ({text}) Tj ET")
        return self

    def field(self, entries: str) -> int:
        """Add a field that is no widget; returns its number."""
        self._fields.append(self._add(f"<<{entries}>>"))
        return self._fields[-1]

    def widget(self, box: str, entries: str, *, font: str = "Helv", kid: bool = False) -> int:
        """Add a widget at a box "x0 y0 x1 y1"; a kid is no field by itself. Returns its number."""
        flags = "" if "/F " in entries else "/F 4"
        number = self._add(f"<</Type/Annot/Subtype/Widget{flags}/Rect[{box}]/DA(/{font} 12 Tf 0 g){entries}>>")
        self._widgets.append(number)
        if not kid:
            self._fields.append(number)
        return number

    def stream(self, content: str, entries: str = "") -> int:
        """Add an appearance of 100 x 20 points; returns its number."""
        drawn = f"/Type/XObject/Subtype/Form/BBox[0 0 100 20]/Resources<</Font<</Helv 5 0 R/ZaDb 6 0 R>>>>{entries}"
        return self._add(f"<<{drawn}/Length {len(content)}>>stream\n{content}\nendstream")

    @property
    def next(self) -> int:
        """Return the number that the next object gets."""
        return _FIRST + len(self._objects)

    def save(self, path: Path) -> Path:
        """Write the form; returns its path."""
        fonts = "/Font<</Helv 5 0 R/ZaDb 6 0 R>>"
        print_ = "\n".join(self._print)
        need = "/NeedAppearances true" if self._need else ""
        objects = {
            1: "<</Type/Catalog/Pages 2 0 R/AcroForm<</DA(/Helv 0 Tf 0 g)"
            f"/DR<<{fonts}>>/Fields[{_references(self._fields)}]{need}>>>>",
            2: "<</Type/Pages/Kids[3 0 R]/Count 1>>",
            3: f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 300]{self._page}/Resources<<{fonts}>>"
            f"/Annots[{_references(self._widgets)}]/Contents 4 0 R>>",
            4: f"<</Length {len(print_)}>>stream\n{print_}\nendstream",
            5: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
            6: "<</Type/Font/Subtype/Type1/BaseFont/ZapfDingbats>>",
        } | {_FIRST + at: written for at, written in enumerate(self._objects)}
        file, places = b"%PDF-1.7\n", {}
        for number, written in sorted(objects.items()):
            places[number] = len(file)
            file += f"{number} 0 obj\n{written}\nendobj\n".encode("latin-1")
        table = len(file)
        file += f"xref\n0 {max(objects) + 1}\n0000000000 65535 f \n".encode()
        for number in range(1, max(objects) + 1):
            place = places.get(number)
            file += b"0000000000 00000 f \n" if place is None else f"{place:010d} 00000 n \n".encode()
        file += f"trailer<</Root 1 0 R/Size {max(objects) + 1}>>\nstartxref\n{table}\n%%EOF\n".encode()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file)
        return path

    def _add(self, written: str) -> int:
        self._objects.append(written)
        return _FIRST + len(self._objects) - 1


def tenancy_form(**page: object) -> RawForm:
    """Return a filled form without appearances: a name, a ticked and an empty box, a town, and a group of buttons."""
    form = RawForm(**page)  # type: ignore[arg-type]
    form.print(40, 237, "Name of tenant:").widget("160 232 380 254", "/FT/Tx/T(name)/V(Margarethe Holm)")
    form.print(40, 207, "Smoker:").widget("160 202 176 218", "/FT/Btn/T(smoker)/V/Yes/AS/Yes/MK<</CA(4)>>", font="ZaDb")
    form.print(40, 177, "Garden:").widget("160 172 176 188", f"/FT/Btn/T(garden)/V/Off/AS/Off{_states(form, 'Yes')}")
    form.print(40, 147, "Town:").widget("160 142 380 164", "/FT/Ch/Ff 131072/Opt[(Lund)(Kiel)]/T(town)/V(Kiel)")
    group = form.field(
        f"/FT/Btn/Ff 49152/T(parking)/TU(Kind of parking)/V/street/Kids[{form.next + 3} 0 R {form.next + 6} 0 R]"
    )
    for x, state, label in ((160, "street", "On the street"), (270, "garage", "In a garage")):
        states = _states(form, state)
        on = state if state == "street" else "Off"
        form.widget(f"{x} 112 {x + 14} 126", f"/Parent {group} 0 R/AS/{on}{states}", kid=True)
        form.print(x + 18, 115, label)
    return form.print(40, 115, "Parking:")


def _states(form: RawForm, on: str) -> str:
    ticked = form.stream("BT /ZaDb 12 Tf 2 4 Td (l) Tj ET")
    empty = form.stream("0 0 12 12 re S")
    return f"/AP<</N<</{on} {ticked} 0 R/Off {empty} 0 R>>>>"


def _references(numbers: list[int]) -> str:
    return " ".join(f"{number} 0 R" for number in numbers)
