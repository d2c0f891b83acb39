"""Vocabulary of keys, product names and sentences, and names of people and places; our own lists.

Keys must be matched by their letters, whatever they mean. Half of a corpus' vocabulary is therefore coined (see
`coined`), and a network cannot memorise the list.
"""

# ruff: noqa: SIM905 - a list of two thousand words is easier to read as text

from __future__ import annotations

import random

LETTERS = "abcdefghijklmnopqrstuvwxyz"

# Nouns and adjectives of paperwork, trade, science, food, houses and machines.
COMMON = """
account action active activity addition address adjustment advance agency agenda agent agreement aid air alarm alcohol
alert allocation allowance alloy alternate aluminium amount analysis angle animal annual answer antenna apparatus appeal
appearance appendix apple application appointment approval approximate april area arrangement arrival article aspect
assembly assessment asset assignment assistant associate attachment attempt attendance attention auction audit august
author authority auto available average award balance bale ball band bank bar barrel base basic basin basket batch
bath battery beam bearing bed beef beginning bell belt bench benefit beverage bill billing bin biology bird birth
black blade blank blanket blend block blood blue board boat body boiler bolt bond bonus book border boring bottle
bottom bowl box bracket brake branch brand brass bread breakage breakfast brick bridge brief broker bronze brown brush
bucket budget buffer building bulk bulletin bumper bureau burner bus business butter button buyer cabin cabinet cable
cake calcium calendar calibration call camera camp campaign cancel candidate candle canvas cap capacity capital car
carbon card care cargo carpet carriage carrier carton case cash cask casing cast catalogue category cattle cause
ceiling cell cement center century certificate chain chair chamber change channel chapter character charge chart
charter check cheese chemical cheque chicken chief child chip chocolate choice chrome cigar circle circuit circular
citizen city claim class classification clause clay clean clearance clerk client clinic clip clock closing cloth club
coach coal coast coat code coffee coil coin cold collar collection college colony color column combination comment
commerce commission committee commodity common communication community company comparison compartment complaint
completion component composition compound computer concentration concept concern conclusion concrete condition
conductor cone conference confirmation connection consent consignee construction consultant consumer contact container
content contest contract contractor contribution control convention conversion cook cooler cooling copper copy cord
core cork corn corner corporate correction correspondence cost cotton council count counter country county coupon
course court cover coverage cradle crane crate cream credit crew crop cross crown crude crystal culture cup currency
current curtain curve cushion custody custom customer cut cycle cylinder daily dairy damage dark data date day dealer
debit debt decision deck declaration decline deduction deed default defect deficit definition degree delay delegate
delivery demand density department departure dependent deposit depot depth deputy description design desk destination
detail detector determination development deviation device diagnosis diagram diameter diesel diet difference digital
dimension dinner diploma direct direction director directory discharge discipline discount disease dish disk display
disposal distance distribution district dividend division dock doctor document dollar domestic donor door dosage double
draft drain drawer drawing dress drill drink drive driver drop drum dry duct due duplicate duration dust duty early
earning east economy edge edition editor education effect efficiency egg elbow election electric element elevation
emergency emission employee employer employment enamel enclosure end endorsement energy engine engineer enquiry entrance
entry envelope environment equipment error escort estate estimate ethanol evaluation evening event evidence exact
examination example excess exchange exemption exhaust exhibit exit expansion expense experience experiment expert expiry
export exposure express extension external extra extract fabric facility factor factory failure fair family fan fare
farm fashion fat father fault feature federal fee feed female fence fiber field figure file fill film filter final
finance finding fine finger finish fire firm fiscal fish fitting flag flame flange flash flat flavor fleet flight flood
floor flour flow fluid foam foil folder food foot force foreign forest form format formula forward foundation fraction
frame free freight frequency fresh friction front frozen fruit fuel full function fund furnace furniture fuse future
gain gallery gallon game garage garden garment gas gasket gate gauge gear general generator gift glass glove glue goal
gold goods governor grade grain gram grand grant graph grass gravel gravity gray green grid grinder gross ground group
growth guarantee guard guest guide gum guarantor hair half hall hammer hand handle handling harbor hardness harvest hat
hazard head header health hearing heat heater heavy height helmet hide high highway hinge hire history hold holder hole
holiday home honey hook horizontal horse hose hospital host hotel hour house household human humidity hydrogen ice idea
identity image immediate impact import improvement impulse incident income increase index indication individual
industry infant influence information ingredient initial injection injury ink inlet input inquiry insert inspection
installation institute instruction instrument insulation insurance intake intensity interest interim interior internal
interval interview introduction invention inventory investment invoice iron island issue item jacket january jar job
joint journal journey judge juice july jump june junction junior juror kettle key kitchen knife label labor laboratory
ladder lake lamp land language large laser latch lateral launch law layer lead leader leaf leakage lease leather leave
ledger left legal lemon length lens lesson letter level lever liability library licence life lift light limit line
linen liner link lint liquid list liter load loan local location lock log long loop loss lot low lubricant luggage lumber
lunch machine magazine magnet mail main maintenance major male management manager manual manufacture map march margin
marine mark market marketing mask mass master match material matter maximum meal mean measure meat mechanic media
medical medicine medium meeting melon member memory mental menu mercury message metal meter method middle mile milk mill
mineral minimum mining minor minute mirror mission mixture mobile mode model module moisture monitor month monthly moon
morning mortgage mother motion motor mount mouse mouth movement muffler music nail name narrow nation native nature
navy neck needle negative net network new news nickel night nitrogen noise nominal north notch note notice nozzle number
nurse nut nylon oak oath object objective observation obligation occupation ocean october odor offer office officer
official oil old olive onion opening operation operator opinion option orange orbit order ordinary organ organic
organization origin original outlet outline output outside oven overhead overtime owner oxygen pack package packaging pad
page paint pair pallet pan panel paper paragraph parcel parent park parking part partial particle partner party pass
passage passenger passport past paste patent path patient pattern payee payment payroll peak pearl pedal pen penalty
pencil pension people pepper percent performance period permanent permit person personnel petrol phase phone phosphate
photo physical piano picture piece pier pig pilot pin pine pipe piston pitch place plain plan plane plant plaster plastic
plate platform player plot plug plum plus pocket point poison pole police policy polish political pool population pork
port portion position positive post postage postal pot potato pound powder power practice precision premium preparation
presence present president press pressure prevention previous price primary prime print printer printing prior priority
prison private prize probe problem procedure process produce producer product production profession profile profit
program progress project promotion proof property proposal prospect protection protein protocol provider province pulley
pulp pulse pump punch pupil purchase pure purity purpose quality quantity quarter query question quota quote rack radio
rail rain random range rank rate rating ratio raw ray reaction reader reading rear reason rebate receipt receiver
recipient recommendation record recovery red reduction reel reference refund region register registration regular
regulation rejection relation release relief remainder remark remedy removal rent repair replacement reply report
representative request requirement rescue research reserve residence residue resin resistance resolution resource
response restaurant result retail return revenue review revision reward rice ride rifle right ring risk river road rock
rod roll roof room root rope rotation rough round route routine row royal rubber rug rule run rural safety salad salary
sale salmon salt sample sand sanitary sauce saving scale schedule scheme school science scope score scrap screen screw
seal search season seat second secretary section security seed segment selection seller semester seminar senior sense
sensor sentence serial series service session set settlement shade shaft shape share sheet shelf shell shelter shield
shift ship shipment shipper shirt shoe shop short shoulder shower side sight sign signal silicon silk silver simple single
sink site size sketch skill skin sleeve slide slip slope small smoke snow soap social socket sodium soft software soil
solar sole solid solution solvent sound soup source south space span spare speaker special specimen speed spice spindle
spirit split sponsor spoon sport spot spray spread spring square stable staff stage stain stainless stair stamp standard
staple star starch start state statement station statistics status steam steel stem step stock stomach stone stop storage
store storm story stove strain strap strategy straw stream street strength stress string strip stroke structure student
study style subject submission subscription subsidy substance subtotal suburb sugar suggestion suit sulfur sum summary
summer sun supervisor supplement supplier supply support surcharge surface surgery surname surplus survey switch symbol
syrup system table tablet tackle tail tank tap tape tar target tariff task taste tax tea teacher team technical telephone
temperature tenant tension tent term terminal territory test text texture theater theory thermal thickness thread
throat ticket tie tile timber time tin tip tire tissue title toast tobacco token tomato tone tool tooth top topic torque
total touch tour towel tower town track tractor trade traffic trailer training transaction transfer transit
transmission transport travel tray treasurer treatment tree trial trim trip truck trunk trust tube tunnel turbine turn
twin type typical unit universal upper urban urgent usage user utility vacancy vacuum valid value valve vanilla vapor
variable variety vat vehicle vendor vent ventilation venue version vertical vessel veteran victim video view village
vinegar vintage visa visit visitor visual vitamin voice void voltage volume volunteer vote voucher voyage wage wagon
waiver walk wall wallet walnut warehouse warning warranty wash washer waste watch water wave wax way wear weather week
weekly weight welding welfare west wheat wheel white whole wholesale wide width wind window wine wing winter wire witness
woman wood wool word work worker workshop world wrap wrist writer yard yarn year yellow yield young zero zinc zone
abrasion absence absorption acceptance accident acetate acidity acreage adhesive admission adult aerosol affidavit
agriculture alkali ammonia amplifier anchor annex apparel apprentice apron arbitration archive arm arrears ash
assay asphalt assembler assurance asylum athlete attorney axis axle bacon bacteria badge baggage bakery ballot banana
bandage bankruptcy baptism barcode barley barn barrier basement basis bay beach bean beer beneficiary bias bicycle
bidder binder biscuit bishop blood blower boarding bobbin booking booth bracelet brain brandy breach broadcast brochure
burial cabbage calf cancer canoe captain caption carrot cartridge cashier casino cashew casualty cathode cavity cedar
cemetery cereal chapel charcoal charity cherry chili chlorine chord cinema citrus civil clamp clarinet clearing climate
clinker cloud clutch cocoa coconut collateral collector comet compass compost compressor concert condenser conduit
congress consul converter cookie copyright cosmetic couch courier cousin crack creek cricket cruise cube cucumber curator
cutter dealer decade decree delta dental deposition desert detergent dialect diary diploma disability discovery dispatch
ditch diver dose dough dozen drought drug duck dye eagle easement ebony eclipse elastic electrode embassy embroidery
emerald empire enzyme epoxy equity erosion escrow exhaust explosive export eyewear faculty falcon faucet ferry fertilizer
festival fever fiction fiddle filing flora fluoride flute folio forge fork fossil foundry fountain fox fragment franchise
fungus garlic gasoline gelatin gender gene genus ginger glacier glaze glucose goat gown granite grape grease greenhouse
grille grocery guardian guitar gulf gypsum hamlet hatch hedge helium hemp herb heritage hernia hickory hockey hormone
hostel hull hydraulic hygiene icon ignition immigration implant incense inch incubator infection inhibitor inn inquest
invoice iodine irrigation ivory jade jam jelly jersey jet jewel judgment jungle jury kerosene kidney kiln kiosk kit
lace lactose landlord lantern lard lava lawn leek legacy legend lending lentil lettuce ligament lime limestone lipid
lobby lobster logo lotion lung lyric maize mango manifest manor manure maple marble marrow marsh mayor meadow merger
mesh methanol microphone midwife migration mint mortality mortar motel mural muscle museum mushroom mustard mutation
napkin neon nephew nest nicotine niece noodle notary novel nursery nutmeg oats oboe offense opal opera orchard orchid
ore organism ornament orphan outfit oval oxide oyster palace palm pancake papaya parade parish parsley pasta pastry
patrol pavement pea peach peanut pear pebble pediatric pelican peptide perfume petition pharmacy pheasant pickle pigment
pillow pirate pixel pizza plague plaintiff plasma plateau plaza plywood poem polymer pond poster poultry prayer premise
prescription pretzel prune pub puzzle quarry quartz quilt rabbit radar radish raisin ranch raspberry razor rebar referral
refinery relay reptile retina rhythm ribbon rivet robe robot roster rotor ruby ruler rye saddle saffron sail salon satin
sausage sawmill scaffold scanner scholar scissors sculpture seafood seam secondary semester serum sesame sewer sheep shrimp
shuttle siding silo siren skeleton slab sleigh slipper sodium sofa sorghum soybean spa spinach sponge squash stadium statue
stereo stew stitch straw strawberry studio suede sulfate sultan surgeon sweater syringe tailor talent tannery tapestry
tavern taxi template tennis terrace testimony textile theft thermostat thigh threshold thyme tibia toffee toll tonnage torch
tournament toxin toy trachea trailer transformer transistor treaty trench trousers trout trustee tulip tumor tuna turkey
turnip turquoise tutor twine umbrella uniform union vaccine vector vein velvet vendor veneer verdict veterinary villa vine
violin virus visor vodka vowel waffle waiter warden warrant watermelon weaving wedding whale wharf whisky wicker widget
widow willow winery wreath yacht yeast yogurt zebra zipper
""".split()

SMALL = "the of and to in a is for on with that by as be this are at from or was it not all will has been which their".split()

FIRST_NAMES = """
James Mary Robert Linda Michael Susan David Karen Joseph Nancy Paul Helen Mark Anna Ahmad Siti Wei Ling Raj Chen John
William Richard Thomas Charles Daniel Matthew Anthony Donald Steven Andrew Kenneth George Joshua Kevin Brian Edward Ronald
Timothy Jason Jeffrey Ryan Jacob Gary Nicholas Eric Jonathan Stephen Larry Justin Scott Brandon Benjamin Samuel Gregory
Frank Alexander Raymond Patrick Jack Dennis Jerry Tyler Aaron Jose Adam Nathan Henry Douglas Zachary Peter Kyle Walter
Ethan Jeremy Harold Keith Christian Roger Noah Gerald Carl Terry Sean Austin Arthur Lawrence Jesse Dylan Bryan Joe Jordan
Billy Bruce Albert Willie Gabriel Logan Alan Juan Wayne Roy Ralph Randy Eugene Vincent Russell Louis Bobby Philip Patricia
Jennifer Elizabeth Barbara Jessica Sarah Lisa Betty Sandra Ashley Kimberly Emily Donna Michelle Carol Amanda Dorothy Melissa
Deborah Stephanie Rebecca Sharon Laura Cynthia Kathleen Amy Angela Shirley Brenda Emma Pamela Nicole Samantha Katherine
Christine Debra Rachel Carolyn Janet Catherine Maria Heather Diane Ruth Julie Olivia Joyce Virginia Victoria Kelly Lauren
Christina Joan Evelyn Judith Megan Andrea Cheryl Hannah Jacqueline Martha Gloria Teresa Ann Sara Madison Frances Kathryn
Janice Jean Abigail Alice Julia Judy Sophia Grace Denise Amber Doris Marilyn Danielle Beverly Isabella Theresa Diana Natalie
Brittany Charlotte Marie Kayla Alexis Lori Mei Hui Yong Aminah Farid Hassan Ismail Nur Priya Ravi Kumar Suresh Anil Sanjay
Hans Klaus Ingrid Pierre Claude Luc Marco Giulia Carlos Lucia Ivan Olga Piotr Yuki Kenji Fatima Omar Layla Ibrahim Zainab
""".split()

LAST_NAMES = """
Smith Johnson Williams Brown Jones Garcia Miller Davis Rodriguez Martinez Hernandez Lopez Gonzalez Wilson Anderson Thomas
Taylor Moore Jackson Martin Lee Perez Thompson White Harris Sanchez Clark Ramirez Lewis Robinson Walker Young Allen King
Wright Scott Torres Nguyen Hill Flores Green Adams Nelson Baker Hall Rivera Campbell Mitchell Carter Roberts Gomez
Phillips Evans Turner Diaz Parker Cruz Edwards Collins Reyes Stewart Morris Morales Murphy Cook Rogers Gutierrez Ortiz
Morgan Cooper Peterson Bailey Reed Kelly Howard Ramos Kim Cox Ward Richardson Watson Brooks Chavez Wood James Bennett Gray
Mendoza Ruiz Hughes Price Alvarez Castillo Sanders Patel Myers Long Ross Foster Jimenez Tan Lim Wong Ng Ong Chan Koh Teo
Ahmad Rahman Singh Abdullah Zhang Chen Wang Liu Schmidt Rossi Dubois Muller Weber Fischer Becker Hoffmann Ivanov Novak
Kowalski Jansen Bakker Larsen Nielsen Hansen Olsen Berg Lindqvist Virtanen Moreau Laurent Lefebvre Bianchi Ferrari Costa
Silva Santos Pereira Oliveira Tanaka Suzuki Sato Yamamoto Kobayashi Park Choi Jung Khan Hussain Malik Sharma Gupta Mehta
Reddy Iyer Nair Goh Chong Yap Lau Cheah Low Hashim Yusof Othman Salleh Whitfield Barrow Ashworth Langley Mercer Holloway
Prescott Sinclair Bradshaw Kendrick Townsend Ellsworth Hargrove Tillman Vance Whitaker Winslow Yates Zimmerman
""".split()

CITIES = """
Springfield|Boston|Atlanta|Chicago|Louisville|Greensboro|Winston-Salem|Richmond|Houston|Dallas|Denver|Phoenix|Miami|London|
Leeds|Manchester|Dublin|Toronto|Sydney|Berlin|Paris|Madrid|Singapore|Bangkok|Jakarta|Penang|Johor Bahru|Melaka|Ipoh|Klang|
Delhi|Mumbai|Manila|Tampa|Austin|Portland|Seattle|Cleveland|Detroit|New York|Los Angeles|San Francisco|Kuala Lumpur|
Petaling Jaya|Shah Alam|Hong Kong|St. Louis|New Delhi|Subang Jaya|Cape Town|Raleigh|Durham|Nashville|Memphis|Baltimore|
Pittsburgh|Cincinnati|Milwaukee|Omaha|Tucson|Oakland|Sacramento|Hartford|Providence|Buffalo|Rochester|Albany|Trenton|Newark|
Bristol|Cardiff|Glasgow|Edinburgh|Hamburg|Munich|Cologne|Vienna|Zurich|Geneva|Milan|Rome|Lisbon|Oslo|Stockholm|Helsinki|
Prague|Warsaw|Budapest|Athens|Cairo|Nairobi|Lagos|Seoul|Osaka|Tokyo|Taipei|Hanoi|Auckland|Perth|Brisbane|Montreal|Ottawa|
Seremban|Kajang|Puchong|Cheras|Ampang|Kuching|Kota Kinabalu|Butterworth|Sungai Petani|Batu Pahat|Muar|Kluang|Bangsar
""".replace("\n", "").split("|")  # fmt: skip

STATES = """
AL|AK|AZ|CA|CO|CT|DE|FL|GA|IL|IN|KS|KY|LA|MA|MD|MI|MN|MO|NC|NJ|NV|NY|OH|OK|OR|PA|SC|TN|TX|UT|VA|WA|WI|Selangor|Johor|Perak|
Ontario|Kent|Bavaria|Ohio|Texas|Virginia|California|Florida|Kentucky|Georgia|N. C.|N.Y.|D. C.|Kedah|Pahang|Sabah|Sarawak|Victoria
""".replace("\n", "").split("|")  # fmt: skip

COUNTRIES = """
USA|U.S.A.|United States|Canada|Malaysia|Singapore|Germany|France|United Kingdom|England|Australia|India|Japan|China|Brazil|
Mexico|Spain|Italy|Netherlands|Belgium|Sweden|Switzerland|Poland|Turkey|Egypt|Kenya|Thailand|Indonesia|Philippines|Vietnam
""".replace("\n", "").split("|")  # fmt: skip

_ONSETS = "b c d f g h j k l m n p r s t v w z br ch cl cr dr fl gl gr pl pr qu sh sl sp st str th tr".split()
_VOWELS = "a e i o u a e i o ea ee io ou ai y".split()
_CODAS = ["", "", "", "n", "r", "l", "s", "t", "m", "x", "nd", "rt", "st", "ck", "ll"]
_ENDINGS = [
    "ine",
    "ol",
    "ate",
    "ium",
    "or",
    "er",
    "ing",
    "ment",
    "tion",
    "ity",
    "al",
    "ic",
    "ex",
    "on",
    "ide",
    "um",
    "an",
]


def coin_word(rng: random.Random) -> str:
    """Return a pronounceable word that is in no list."""
    text = ""
    for _ in range(rng.choice((1, 2, 2, 2, 3))):
        text += rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS)
    return text + (rng.choice(_ENDINGS) if len(text) < 4 or rng.random() < 0.35 else "")


def word(rng: random.Random, coined_share: float = 0.15) -> str:
    """Return a lower-case word."""
    return coin_word(rng) if rng.random() < coined_share else rng.choice(COMMON)


def words(rng: random.Random, fewest: int, most: int) -> list[str]:
    """Return between `fewest` and `most` lower-case words."""
    return [word(rng) for _ in range(rng.randint(fewest, most))]


def phrase(rng: random.Random, fewest: int = 1, most: int = 6) -> str:
    """Return a few words in upper case, title case, sentence case or unchanged."""
    text = " ".join(words(rng, fewest, most))
    return rng.choice((str.upper, str.title, str.capitalize, str))(text)


def sentence(rng: random.Random, fewest: int = 5, most: int = 30) -> str:
    """Return a meaningless sentence with a natural rhythm."""
    parts = [word(rng, 0.05) if rng.random() < 0.6 else rng.choice(SMALL) for _ in range(rng.randint(fewest, most))]
    if len(parts) > 9 and rng.random() < 0.5:
        parts[rng.randint(3, len(parts) - 3)] += ","
    return " ".join(parts).capitalize() + "."
