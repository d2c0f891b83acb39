"""Words of generated tables in five languages: headings with their synonyms, things that are sold, texts around."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from engine.fields.types import FieldType

# A line a concept: its type, and for each language the headings it may have.
_CONCEPTS = """
position|integer|Pos.; Item; No.; Line|Pos.; Nr.; Position|Pos.; N°; Ligne|Pos.; N.º; Línea|Pos.; N.; Riga
code|string|Article no.; SKU; Product code; Part number; Item no.|Artikelnr.; Art.-Nr.; Bestellnummer; Teilenummer|Référence; Réf.; Code article; N° article|Referencia; Ref.; Código; N.º artículo|Codice; Cod. articolo; Riferimento; Articolo
description|string|Description; Product; Item description; Goods; Details|Bezeichnung; Beschreibung; Artikel; Leistung|Désignation; Description; Libellé; Produit|Descripción; Concepto; Producto; Detalle|Descrizione; Prodotto; Denominazione; Oggetto
quantity|number|Quantity; Qty; Units; Ordered|Menge; Anzahl; Stück|Quantité; Qté; Nombre|Cantidad; Cant.; Unidades|Quantità; Q.tà; Numero
unit|string|Unit; UoM; Per|Einheit; ME; Einh.|Unité; U.; Cond.|Unidad; Ud.; Medida|Unità; U.M.; Misura
price|currency|Unit price; Price; Rate; Price each|Einzelpreis; E-Preis; Preis; Stückpreis|Prix unitaire; P.U.; Prix; PU HT|Precio unitario; Precio; P. unit.|Prezzo unitario; Prezzo; Pr. unit.
discount|number|Discount %; Disc.; Rebate %|Rabatt %; Rab.; Nachlass %|Remise %; Rem.; Rabais %|Descuento %; Dto.; Dto. %|Sconto %; Sc. %; Sconto
tax|number|VAT %; Tax rate; Tax %|MwSt. %; USt. %; Steuersatz|TVA %; Taux TVA; TVA|IVA %; Tipo IVA; IVA|IVA %; Aliquota; Aliq. IVA
amount|currency|Amount; Total; Line total; Net amount; Value|Betrag; Gesamtpreis; Summe; Nettobetrag|Montant; Montant HT; Total; Somme|Importe; Total; Importe neto|Importo; Totale; Importo netto; Valore
date|date|Date; Day; Booking date|Datum; Tag; Buchungstag|Date; Jour; Date d'opération|Fecha; Día; Fecha operación|Data; Giorno; Data operazione
booking|string|Transaction; Details; Booking text; Particulars|Vorgang; Buchungstext; Verwendungszweck|Opération; Libellé; Nature|Operación; Movimiento; Concepto|Operazione; Causale; Movimento
debit|currency|Debit; Paid out; Withdrawals; Money out|Soll; Belastung; Ausgang|Débit; Retraits; Sorties|Cargo; Debe; Pagos|Dare; Addebiti; Uscite
credit|currency|Credit; Paid in; Deposits; Money in|Haben; Gutschrift; Eingang|Crédit; Dépôts; Entrées|Abono; Haber; Ingresos|Avere; Accrediti; Entrate
balance|currency|Balance; Running balance; New balance|Saldo; Kontostand|Solde; Nouveau solde|Saldo; Nuevo saldo|Saldo; Nuovo saldo
start|time|Start; From; Begin|Beginn; Von; Anfang|Début; De; Arrivée|Inicio; Desde; Entrada|Inizio; Dalle; Entrata
end|time|End; To; Finish|Ende; Bis; Schluss|Fin; À; Départ|Fin; Hasta; Salida|Fine; Alle; Uscita
pause|number|Break; Pause (h); Break hours|Pause; Pause (Std.)|Pause; Pause (h)|Pausa; Descanso|Pausa; Sosta
hours|number|Hours; Hours worked; Time (h)|Stunden; Std.; Arbeitszeit|Heures; Durée; Nb heures|Horas; Tiempo; Horas trab.|Ore; Durata; Ore lavorate
task|string|Task; Activity; Work done|Tätigkeit; Aufgabe; Arbeit|Tâche; Activité; Travail|Tarea; Actividad; Trabajo|Attività; Lavoro; Mansione
person|string|Name; Employee; Staff member|Name; Mitarbeiter; Person|Nom; Salarié; Personne|Nombre; Empleado; Persona|Nome; Dipendente; Persona
weight|number|Weight (kg); Gross kg; Mass|Gewicht (kg); Brutto kg; Masse|Poids (kg); Brut kg; Masse|Peso (kg); Bruto kg; Masa|Peso (kg); Lordo kg; Massa
batch|string|Batch; Lot no.; Serial no.|Charge; Los-Nr.; Seriennr.|Lot; N° de lot; N° série|Lote; N.º lote; N.º serie|Lotto; N. lotto; Matricola
delivered|number|Delivered; Shipped; Sent|Geliefert; Versandt; Gesendet|Livré; Expédié; Envoyé|Entregado; Enviado; Servido|Consegnato; Spedito; Inviato
open|number|Open; Backorder; To follow|Offen; Rückstand; Folgt|Reste; À livrer; Reliquat|Pendiente; Resto; A servir|Residuo; Da consegnare; Resto
trade|currency|Trade price; Dealer price; Net price|Händlerpreis; EK; Nettopreis|Prix revendeur; Prix net; Achat|Precio distribuidor; Precio neto; Tarifa|Prezzo rivenditore; Prezzo netto; Acquisto
retail|currency|Retail price; List price; RRP|Verkaufspreis; Listenpreis; UVP|Prix public; Prix conseillé; Vente|Precio público; PVP; Venta|Prezzo al pubblico; Listino; Vendita
document|string|Invoice; Document no.; Voucher|Rechnung; Belegnr.; Beleg|Facture; N° pièce; Pièce|Factura; Documento; N.º doc.|Fattura; Documento; N. doc.
due|date|Due date; Due; Payable by|Fällig am; Fälligkeit; Zahlbar bis|Échéance; À payer le|Vencimiento; Vence el|Scadenza; Scade il
"""
_LANGUAGES = ("en", "de", "fr", "es", "it")
_NOUNS = {
    "en": "pump valve filter cable panel hinge bracket motor lamp switch bearing gasket screw washer pipe hose clamp sensor relay cover tray frame belt shaft",
    "de": "Pumpe Ventil Filter Kabel Platte Scharnier Halter Motor Leuchte Schalter Lager Dichtung Schraube Scheibe Rohr Schlauch Klemme Fühler Relais Deckel Wanne Rahmen",
    "fr": "pompe vanne filtre câble panneau charnière support moteur lampe interrupteur roulement joint vis rondelle tuyau flexible collier capteur relais couvercle cadre",
    "es": "bomba válvula filtro cable panel bisagra soporte motor lámpara interruptor rodamiento junta tornillo arandela tubo manguera abrazadera sensor relé tapa marco",
    "it": "pompa valvola filtro cavo pannello cerniera staffa motore lampada interruttore cuscinetto guarnizione vite rondella tubo manichetta fascetta sensore relè coperchio",
}
_ADDED = {
    "en": "steel brass, heavy duty, with flange, 24 V, for outdoor use, blue, 12 mm, incl. mounting kit, type B, spare part, complete, galvanised, left hand",
    "de": "Edelstahl, Messing, schwere Ausführung, mit Flansch, 24 V, für außen, blau, 12 mm, inkl. Zubehör, Typ B, Ersatzteil, komplett, verzinkt, links",
    "fr": "acier inox, laiton, renforcé, avec bride, 24 V, pour extérieur, bleu, 12 mm, avec accessoires, type B, pièce détachée, complet, galvanisé, à gauche",
    "es": "acero inoxidable, latón, reforzado, con brida, 24 V, para exterior, azul, 12 mm, con accesorios, tipo B, recambio, completo, galvanizado",
    "it": "acciaio inox, ottone, rinforzato, con flangia, 24 V, per esterno, blu, 12 mm, con accessori, tipo B, ricambio, completo, zincato",
}
# net; tax; total; subtotal; carried forward; brought forward; page; thanks; number; date
_TEXTS = {
    "en": "Net total; VAT; Total due; Subtotal; Carried forward; Brought forward; Page; Please pay within 30 days without deduction.; Number; Date",
    "de": "Nettosumme; MwSt.; Gesamtbetrag; Zwischensumme; Übertrag; Übertrag von Seite; Seite; Zahlbar innerhalb von 30 Tagen ohne Abzug.; Nummer; Datum",
    "fr": "Total HT; TVA; Total TTC; Sous-total; À reporter; Report; Page; Payable à 30 jours sans escompte.; Numéro; Date",
    "es": "Base imponible; IVA; Total factura; Subtotal; Suma y sigue; Suma anterior; Página; Pago a 30 días sin descuento.; Número; Fecha",
    "it": "Imponibile; IVA; Totale fattura; Subtotale; A riportare; Riporto; Pagina; Pagamento a 30 giorni senza sconto.; Numero; Data",
}
_UNITS = {
    "en": "pcs box set m kg",
    "de": "St. Krt. Set m kg",
    "fr": "pce crt lot m kg",
    "es": "ud. caja jgo. m kg",
    "it": "pz. cf. set m kg",
}
_TITLES = {
    "invoice": ("Invoice", "Rechnung", "Facture", "Factura", "Fattura"),
    "order": ("Purchase order", "Bestellung", "Bon de commande", "Pedido", "Ordine"),
    "delivery": ("Delivery note", "Lieferschein", "Bon de livraison", "Albarán", "Bolla di consegna"),
    "hours": ("Time sheet", "Stundenzettel", "Feuille de temps", "Parte de horas", "Foglio ore"),
    "prices": ("Price list", "Preisliste", "Tarif", "Lista de precios", "Listino prezzi"),
    "statement": ("Statement of account", "Kontoauszug", "Relevé de compte", "Extracto de cuenta", "Estratto conto"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts around a table."""

    net: str
    tax: str
    total: str
    subtotal: str
    carried: str
    brought: str
    page: str
    thanks: str
    number: str
    date: str


@dataclass(frozen=True, slots=True)
class Wording:
    """Words of one language. `headings`: concept -> its headings, synonyms of each other."""

    language: str
    headings: Mapping[str, tuple[str, ...]]
    nouns: tuple[str, ...]
    added: tuple[str, ...]
    units: tuple[str, ...]
    titles: Mapping[str, str]
    texts: Texts

    def thing(self, rng: random.Random, most: int = 2) -> str:
        """Return the name of a thing that is sold, with up to `most` additions."""
        parts = [rng.choice(self.nouns), *rng.sample(self.added, rng.randint(0, most))]
        text = " ".join(parts)
        return text[0].upper() + text[1:]

    def amount(self, value: float, decimals: int = 2) -> str:
        """Return a number as the language writes it."""
        text = f"{value:,.{decimals}f}"
        if self.language == "en":
            return text
        return text.replace(",", "\0").replace(".", ",").replace("\0", " " if self.language == "fr" else ".")

    def day(self, number: int) -> str:
        """Return the date of a day of the year 2025, counted from 0."""
        month, day = divmod(number % 336, 28)
        mark = {"en": "-", "de": ".", "fr": "/", "es": "/", "it": "/"}[self.language]
        return f"{day + 1:02d}{mark}{month + 1:02d}{mark}2025"


def _read() -> tuple[dict[str, FieldType], dict[str, Wording]]:
    types: dict[str, FieldType] = {}
    headings: dict[str, dict[str, tuple[str, ...]]] = {language: {} for language in _LANGUAGES}
    for line in _CONCEPTS.strip().splitlines():
        concept, kind, *by_language = line.split("|")
        types[concept] = FieldType(kind)
        for language, names in zip(_LANGUAGES, by_language, strict=True):
            headings[language][concept] = tuple(names.split("; "))
    wordings = {
        language: Wording(
            language,
            headings[language],
            tuple(_NOUNS[language].split()),
            tuple(_ADDED[language].split(", ")),
            tuple(_UNITS[language].split()),
            {paper: titles[_LANGUAGES.index(language)] for paper, titles in _TITLES.items()},
            Texts(*_TEXTS[language].split("; ")),
        )
        for language in _LANGUAGES
    }
    return types, wordings


TYPES, WORDINGS = _read()
