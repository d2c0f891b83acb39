"""Texts of the pages in other languages: a form's keys and values, and prose. Written for this benchmark.

Words that Japanese writes without spaces are not parted; every character of that page counts as a word.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """Text of one language; `code` is Tesseract's name of it."""

    name: str
    code: str
    title: str
    fields: tuple[tuple[str, str], ...]
    prose: tuple[str, ...]
    by_character: bool = False


GERMAN = Text(
    "German",
    "deu",
    "Rechnung über Gartenarbeiten",
    (
        ("Rechnungsnummer", "2024-07319"),
        ("Empfängerin", "Frau Jördis Müller-Großkopf"),
        ("Straße", "Öhringer Straße 48 b"),
        ("Postleitzahl und Ort", "74653 Künzelsau"),
        ("Ausgestellt am", "17. März 2024"),
        ("Fällig bis spätestens", "16.04.2024"),
        ("Geprüft von", "Björn Schäfer"),
        ("Zwischensumme", "1.284,50 €"),
        ("Umsatzsteuer (19 %)", "244,06 €"),
        ("Gesamtbetrag", "1.528,56 €"),
    ),
    (
        "Für die ausgeführten Arbeiten erlauben wir uns, Ihnen die oben genannten Beträge in Rechnung zu stellen. "
        "Die Hecke wurde auf ganzer Länge zurückgeschnitten, die Äste wurden gehäckselt und abgefahren.",
        "Bitte überweisen Sie den Gesamtbetrag ohne Abzug innerhalb von dreißig Tagen auf unser Konto. Bei Rückfragen "
        "erreichen Sie uns werktags zwischen acht und siebzehn Uhr. Wir danken für Ihr Vertrauen und wünschen Ihnen "
        "schöne Frühlingstage. Übrigens: Gehölze dürfen außerhalb der Brutzeit jederzeit gekürzt werden.",
    ),
)

FRENCH = Text(
    "French",
    "fra",
    "Demande de prise en charge médicale",
    (
        ("Numéro du dossier", "FR-88 412 / 06"),
        ("Nom et prénom", "Lefèvre, Hélène Aurélie"),
        ("Née le", "3 février 1981 à Besançon"),
        ("Adresse", "27, rue de l'Église"),
        ("Code postal, ville", "25000 Besançon"),
        ("Téléphone", "03 81 55 20 47"),
        ("Médecin traitant", "Dr François Théroux"),
        ("Montant demandé", "1 096,80 €"),
        ("Déjà remboursé", "312,45 €"),
        ("Reçu le", "22/11/2023"),
    ),
    (
        "La patiente a été reçue à l'hôpital le dix-huit octobre, après une chute survenue à son domicile. Les examens "
        "réalisés le même jour n'ont révélé aucune fracture, mais une gêne persiste à l'épaule droite.",
        "Nous sollicitons donc la prise en charge de vingt séances de rééducation, réparties sur trois mois. Les pièces "
        "justificatives sont jointes à cet envoi. Où que vous en soyez de l'étude du dossier, veuillez nous prévenir dès "
        "que possible ; le cœur du problème reste le délai. Veuillez agréer, Madame, nos salutations distinguées.",
    ),
)

SPANISH = Text(
    "Spanish",
    "spa",
    "Contrato de alquiler de una habitación",
    (
        ("Número de contrato", "ES-2022/0457"),
        ("Arrendadora", "María Ángeles Núñez Peña"),
        ("Inquilino", "Íñigo Ibáñez Güell"),
        ("Dirección", "Calle del Señorío, 15, 2.º izq."),
        ("Código postal", "31008 Pamplona"),
        ("Fecha de inicio", "1 de septiembre de 2022"),
        ("Duración", "doce meses"),
        ("Alquiler mensual", "385,00 €"),
        ("Fianza", "770,00 €"),
        ("Teléfono", "948 27 31 06"),
    ),
    (
        "La arrendadora cede al inquilino el uso de una habitación amueblada, con derecho a la cocina, al baño y al "
        "salón. El inquilino declara que la recibe en buen estado y se compromete a devolverla limpia y sin daños.",
        "El pago se hará dentro de los cinco primeros días de cada mes, mediante transferencia bancaria. ¿Quién asume "
        "las averías? Las pequeñas reparaciones corren a cargo del inquilino; las demás, también las del año próximo, "
        "a cargo de la dueña. Ningún animal podrá vivir en la casa sin permiso por escrito. ¡Gracias por leerlo!",
    ),
)

POLISH = Text(
    "Polish",
    "pol",
    "Zgłoszenie szkody w mieszkaniu",
    (
        ("Numer zgłoszenia", "PL/3071/2023"),
        ("Imię i nazwisko", "Małgorzata Wiśniewska-Żak"),
        ("Ulica", "Świętojańska 12 m. 7"),
        ("Kod pocztowy", "81-372 Gdynia"),
        ("Data zdarzenia", "9 października 2023 r."),
        ("Przyczyna", "pęknięcie rury w łazience"),
        ("Zgłoszono dnia", "11.10.2023"),
        ("Szacowana wysokość szkody", "4 650,00 zł"),
        ("Zaliczka", "1 200,00 zł"),
        ("Sporządził", "Łukasz Dąbrowski"),
    ),
    (
        "W nocy z poniedziałku na wtorek pękła rura doprowadzająca ciepłą wodę. Woda zalała łazienkę, przedpokój oraz "
        "część kuchni, a sąsiedzi z dołu zauważyli zacieki na suficie. Zawór zamknięto około godziny szóstej.",
        "Proszę o przysłanie rzeczoznawcy w możliwie najbliższym terminie. Zdjęcia i rachunki za osuszanie załączam do "
        "niniejszego pisma. Źródło awarii zostało już usunięte, lecz ściany wciąż są wilgotne. Będę wdzięczna za "
        "szybką odpowiedź, gdyż chciałabym rozpocząć remont jeszcze przed świętami.",
    ),
)

GREEK = Text(
    "Greek",
    "ell",
    "Αίτηση για άδεια λειτουργίας",
    (
        ("Αριθμός πρωτοκόλλου", "5821/2023"),
        ("Ονοματεπώνυμο", "Ελευθερία Παπαδοπούλου"),
        ("Διεύθυνση", "Οδός Αγίου Γεωργίου 34"),
        ("Ταχυδρομικός κώδικας", "546 38 Θεσσαλονίκη"),
        ("Τηλέφωνο", "2310 947 605"),
        ("Ημερομηνία", "14 Ιουνίου 2023"),
        ("Είδος επιχείρησης", "εργαστήριο ζαχαροπλαστικής"),
        ("Εμβαδόν χώρου", "82,5 τ.μ."),
        ("Παράβολο", "150,00 €"),
        ("Υπάλληλος", "Νικόλαος Ψαράς"),
    ),
    (
        "Παρακαλώ να μου χορηγήσετε άδεια λειτουργίας για το εργαστήριο που βρίσκεται στην παραπάνω διεύθυνση. Ο χώρος "
        "είναι ισόγειος, έχει φυσικό φωτισμό και πληροί όλους τους όρους υγιεινής που προβλέπει ο νόμος.",
        "Συνυποβάλλω τα σχέδια του μηχανικού, τη βεβαίωση της πυροσβεστικής και την απόδειξη πληρωμής του τέλους. Αν "
        "χρειάζεστε οποιοδήποτε άλλο έγγραφο, ενημερώστε με τηλεφωνικώς ή με επιστολή. Σας ευχαριστώ εκ των προτέρων "
        "για τη γρήγορη εξυπηρέτηση, καθώς τα εγκαίνια έχουν οριστεί για τις αρχές του φθινοπώρου.",
    ),
)

JAPANESE = Text(
    "Japanese",
    "jpn",
    "図書館利用申込書",
    (
        ("受付番号", "第2024-0318号"),
        ("氏名", "佐藤美咲"),
        ("生年月日", "1992年7月15日"),
        ("住所", "京都市左京区北白川2丁目8番地"),
        ("郵便番号", "606-8267"),
        ("電話番号", "075-721-4930"),
        ("申込日", "2024年3月18日"),
        ("利用目的", "研究資料の閲覧"),
        ("年会費", "1,500円"),
        ("担当者", "山田健一"),
    ),
    (
        "このたび、下記の規則に同意のうえ、図書館の利用を申し込みます。",
        "本は一度に五冊まで、二週間借りることができます。返却が遅れた場合は、",
        "次の貸出を断ることがあります。館内での飲食はご遠慮ください。",
        "コピーサービスは一階のカウンターで受け付けています。",
        "資料を汚したり失くしたりしたときは、すぐに係員へお知らせください。",
        "カードの有効期限は発行の日から一年間です。",
    ),
    by_character=True,
)

TEXTS = (GERMAN, FRENCH, SPANISH, POLISH, GREEK, JAPANESE)
