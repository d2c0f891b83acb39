"""Names of countries as papers print them, in English and in some of their own languages, in lower case."""

_NAMES = """
afghanistan|albania|algeria|andorra|angola|antigua and barbuda|argentina|armenia|australia|austria|azerbaijan|bahamas
bahrain|bangladesh|barbados|belarus|belgium|belize|benin|bhutan|bolivia|bosnia and herzegovina|botswana|brazil|brunei
bulgaria|burkina faso|burundi|cambodia|cameroon|canada|cape verde|central african republic|chad|chile|china|colombia
comoros|congo|costa rica|croatia|cuba|cyprus|czechia|czech republic|denmark|djibouti|dominica|dominican republic
ecuador|egypt|el salvador|equatorial guinea|eritrea|estonia|eswatini|ethiopia|fiji|finland|france|gabon|gambia|georgia
germany|ghana|greece|grenada|guatemala|guinea|guinea-bissau|guyana|haiti|honduras|hong kong|hungary|iceland|india
indonesia|iran|iraq|ireland|israel|italy|ivory coast|jamaica|japan|jordan|kazakhstan|kenya|kiribati|kosovo|kuwait
kyrgyzstan|laos|latvia|lebanon|lesotho|liberia|libya|liechtenstein|lithuania|luxembourg|macau|madagascar|malawi
malaysia|maldives|mali|malta|marshall islands|mauritania|mauritius|mexico|micronesia|moldova|monaco|mongolia|montenegro
morocco|mozambique|myanmar|namibia|nauru|nepal|netherlands|holland|new zealand|nicaragua|niger|nigeria|north korea
north macedonia|norway|oman|pakistan|palau|panama|papua new guinea|paraguay|peru|philippines|poland|portugal|qatar
romania|russia|russian federation|rwanda|saint lucia|samoa|san marino|saudi arabia|senegal|serbia|seychelles
sierra leone|singapore|slovakia|slovenia|solomon islands|somalia|south africa|south korea|korea|south sudan|spain
sri lanka|sudan|suriname|sweden|switzerland|syria|taiwan|tajikistan|tanzania|thailand|togo|tonga|trinidad and tobago
tunisia|turkey|türkiye|turkmenistan|tuvalu|uganda|ukraine|united arab emirates|uae|united kingdom|uk|u.k|great britain
england|scotland|wales|northern ireland|united states|united states of america|usa|u.s.a|us|u.s|uruguay|uzbekistan
vanuatu|vatican|venezuela|vietnam|viet nam|yemen|zambia|zimbabwe|deutschland|österreich|schweiz|suisse|svizzera
españa|italia|nederland|belgië|belgique|danmark|sverige|norge|suomi|polska|brasil|méxico
"""
COUNTRY_NAMES = frozenset(_NAMES.strip().replace("\n", "|").split("|"))
