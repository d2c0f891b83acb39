"""Pages of keys and values, as words."""

from model.inference import Word

COLUMN = (
    (("Order number:", 20), ("A-17", 260)),
    (("Billing type:", 20), ("Cash", 260)),
    (("Sales person:", 20), ("Ann Lee", 260)),
)

TEXT = tuple((("This line says nothing anybody would ask for", 20),) for _ in range(4))


def page(*lines):
    """Words of lines of (text, x): 16 pixels high, 30 apart, 9 wide a letter."""
    return [
        Word(part, (x + 9 * sum(len(p) + 1 for p in text.split()[:at]), 20 + 30 * row,
                    x + 9 * sum(len(p) + 1 for p in text.split()[:at]) + 9 * len(part), 36 + 30 * row))
        for row, line in enumerate(lines)
        for text, x in line
        for at, part in enumerate(text.split())
    ]  # fmt: skip
