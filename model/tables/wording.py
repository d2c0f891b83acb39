"""Words that headings of tables share, and words that begin a line of totals, in the languages of Western Europe."""

import re
import unicodedata
from functools import lru_cache

from rapidfuzz import fuzz

# Headings that stand for each other, a meaning a paragraph: words, abbreviations and phrases, as `plain` writes them.
_MEANINGS = """
pos, position, item, line, no, nr, num, number, lfd nr, ligne, linea, riga, partida, #
article no, article number, item no, item number, item code, sku, part number, part no, product code, product no,
  code, material, artikelnr, art nr, artikelnummer, artikel nr, bestellnummer, bestellnr, teilenummer,
  materialnummer, reference, ref, code article, n article, referencia, codigo, codice, cod articolo, riferimento,
  catalog no, cat no, model
description, item description, product, product description, goods, details, particulars, designation, libelle,
  produit, bezeichnung, beschreibung, artikel, leistung, text, descripcion, concepto, producto, detalle,
  descrizione, prodotto, denominazione, oggetto, article, item, service, services, name
quantity, qty, units, ordered, order qty, menge, anzahl, stuck, stk, quantite, qte, nombre, cantidad, cant,
  unidades, quantita, q ta, qta, pcs, count, pieces, no of units
unit, uom, unit of measure, einheit, me, einh, unite, cond, unidad, ud, medida, unita, u m, misura, per
unit price, price, rate, price each, each, cost, unit cost, einzelpreis, e preis, preis, stuckpreis, prix unitaire,
  p u, pu, prix, pu ht, precio unitario, precio, p unit, prezzo unitario, prezzo, pr unit, u price, price per unit
discount, disc, rebate, rabatt, rab, nachlass, remise, rem, rabais, descuento, dto, sconto, sc, discount %
vat, tax, tax rate, vat rate, gst, sales tax, mwst, ust, steuersatz, steuer, tva, taux tva, iva, tipo iva, aliquota,
  aliq iva, vat %, tax %
amount, total, line total, net amount, value, total price, total amount, ext price, extended price, extension,
  betrag, gesamtpreis, gesamt, summe, nettobetrag, montant, montant ht, somme, importe, importe neto, importo,
  totale, importo netto, valore, sum, line amount, amt, net
date, day, booking date, posting date, transaction date, value date, datum, tag, buchungstag, jour, date operation,
  date d operation, fecha, dia, fecha operacion, data, giorno, data operazione
transaction, particulars, details, booking text, posting text, narrative, memo, vorgang, buchungstext,
  verwendungszweck, operation, nature, movimiento, operacion, operazione, causale, movimento
debit, paid out, withdrawals, withdrawal, money out, payments, charges, soll, belastung, ausgang, retraits, sorties,
  cargo, debe, pagos, dare, addebiti, uscite
credit, paid in, deposits, deposit, money in, receipts, haben, gutschrift, eingang, depots, entrees, abono, haber,
  ingresos, avere, accrediti, entrate
balance, running balance, new balance, saldo, kontostand, solde, nouveau solde, nuevo saldo, nuovo saldo,
  outstanding
start, from, begin, time in, beginn, von, anfang, debut, de, arrivee, inicio, desde, entrada, inizio, dalle,
  entrata, departure, dep
end, to, finish, time out, ende, bis, schluss, fin, depart, hasta, salida, fine, alle, uscita, arrival, arr
break, pause, rest, break hours, pausa, descanso, sosta
hours, hours worked, time, duration, stunden, std, arbeitszeit, heures, duree, nb heures, horas, tiempo, horas trab,
  ore, durata, ore lavorate, hrs
task, activity, work, tatigkeit, aufgabe, arbeit, tache, activite, travail, tarea, actividad, trabajo, attivita,
  lavoro, project, projekt
person, name, employee, staff, mitarbeiter, nom, salarie, collaborateur, nombre, empleado, trabajador, nome,
  dipendente, addetto
delivered, shipped, geliefert, livre, expedie, entregado, enviado, consegnato, inviato, ship qty, shipped qty
open, back order, outstanding, offen, rest, rest menge, reste, a livrer, pendiente, da consegnare, resto, backorder
batch, lot, serial no, serial number, charge, chargennr, seriennr, lote, n serie, lotto, matricola
weight, net weight, gross weight, gewicht, poids, peso, kg, gross kg, net kg
net price, trade price, dealer, einkauf, ek, nettopreis, prix net, precio neto, prezzo netto
list price, retail, rrp, msrp, verkaufspreis, vk, listenpreis, prix public, prix de vente, pvp, precio venta, prezzo
  listino, prezzo al pubblico
document, voucher, invoice, invoice no, invoice number, beleg, rechnung, belegnr, rechnungsnr, piece, facture, n
  facture, documento, factura, fattura, documento n
due, due date, payable by, maturity, fallig, faelligkeit, falligkeit, echeance, vencimiento, scadenza
"""
_MISREAD = 0.74  # likeness of two words from which one may be the other misread
_TOTALS = """
sub ?total|sub total|total|totals|grand total|net total|gross total|total due|amount due|carried|brought|carry
balance (?:due|forward|brought|carried)|vat|tax|gst|sales tax|shipping|freight
zwischensumme|summe|gesamt\\w*|nettosumme|netto\\w*|brutto\\w*|endsumme|mwst|ust|ubertrag|rechnungsbetrag|zu zahlen
versand\\w*|sous total|total ht|total ttc|tva|a reporter|report|net a payer|montant total
base imponible|iva|total factura|suma\\w*|importe total|imponibile|totale|subtotale|riporto|a riportare
"""
_TOTAL = re.compile(rf"(?:{'|'.join(_TOTALS.split(chr(10))).strip('|')})\b")


@lru_cache(maxsize=20_000)
def plain(text: str) -> str:
    """Return a text in small letters without accents and signs, one space between its words."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text) if text.isalnum() else text
    letters = "".join(sign for sign in unicodedata.normalize("NFKD", parted) if not unicodedata.combining(sign))
    return " ".join("".join(sign if sign.isalnum() or sign in "%#" else " " for sign in letters.casefold()).split())


def begins_totals(text: str) -> bool:
    """Return whether a line begins as those do that add up the rows, or carry a sum from page to page."""
    return _TOTAL.match(plain(text)) is not None


_SAME: dict[str, set[int]] = {}
for _number, _line in enumerate(re.split(r"\n(?! )", _MEANINGS.strip())):
    for _heading in " ".join(_line.split()).split(","):
        _SAME.setdefault(_heading.strip(), set()).add(_number)


@lru_cache(maxsize=50_000)
def meanings(text: str) -> frozenset[int]:
    """Return the meanings of a heading, by their numbers."""
    words = plain(text)
    without = words.replace("%", "").replace("#", "").strip() or words
    return frozenset(_SAME.get(words, set()) | _SAME.get(without, set()))


@lru_cache(maxsize=50_000)
def likeness(heading: str, printed: str) -> float:
    """Return how likely a printed text is the heading of a column, 0..1: its words, an abbreviation, or a synonym."""
    wanted, shown = plain(heading), plain(printed)
    if not wanted or not shown:
        return 1.0 if heading.strip() == printed.strip() else 0.0
    if wanted == shown:
        return 1.0
    if wanted.replace(" ", "") == shown.replace(" ", ""):
        return 0.98
    same = 0.9 if meanings(heading) & meanings(printed) else 0.0
    parts, others = wanted.split(), shown.split()
    alike = _resemblance(parts, others)
    common = {word for word in parts if word in others and len(word) > 2}
    shared = 0.8 * 2 * len(common) / (len(parts) + len(others)) if common else 0.0
    if common and (set(parts) <= set(others) or set(others) <= set(parts)):
        shared = max(shared, 0.6 + 0.15 * min(len(parts), len(others)) / max(len(parts), len(others)))
    abbreviated = 0.8 if _abbreviates(shown, wanted) or _abbreviates(wanted, shown) else 0.0
    return max(same, 0.95 * alike, shared, abbreviated)


def _resemblance(parts: list[str], others: list[str]) -> float:
    """Return how alike two texts are word by word, 0..1, as where letters were misread; digits must be the same."""
    if len(parts) != len(others):
        return 0.0
    pairs = [(fuzz.ratio(part, another) / 100, part, another) for part, another in zip(parts, others, strict=True)]
    misread = all(alike >= _MISREAD and _digits(part) == _digits(another) for alike, part, another in pairs)
    return sum(alike for alike, _, _ in pairs) / len(pairs) if misread else 0.0


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign.isdigit())


def _abbreviates(short: str, long: str) -> bool:
    """Return whether every word of a text begins the word of the other at its place; of several, letters suffice."""
    ours, theirs = short.split(), long.split()
    if len(ours) != len(theirs) or short == long or len(short) < 3:
        return False
    least = 1 if len(ours) > 1 else 3
    pairs = zip(ours, theirs, strict=True)
    return all(full.startswith(word) and len(word) >= min(least, len(full)) for word, full in pairs)
