// The colours of marks. Each pair stays apart for every kind of colour blindness (tests/annotator/test_palettes.py
// measures it), and the two signs of a point are told apart by their shape too.

/** @typedef {[red: number, green: number, blue: number]} Colour 0..255 each */

/**
 * Marks by the model and by a person; points inside and outside the answer; words of low
 * confidence.
 *
 * @typedef {{ label: string, model: Colour, person: Colour, here: Colour, not: Colour, doubt: Colour }} Palette
 */

/** @type {{ blue: Palette, [name: string]: Palette }} */
export const PALETTES = {
  blue: {
    label: 'Blue and orange',
    model: [29, 99, 214],
    person: [224, 104, 0],
    here: [0, 114, 96],
    not: [176, 32, 84],
    doubt: [184, 124, 0],
  },
  purple: {
    label: 'Purple and green',
    model: [118, 42, 131],
    person: [20, 138, 62],
    here: [0, 92, 140],
    not: [170, 60, 0],
    doubt: [184, 124, 0],
  },
};

/**
 * On a dark panel, where the colours of paper are too dark to be seen. Those of the first palette stand in theme.css.
 *
 * @type {Record<string, Pick<Palette, 'model' | 'person'> | undefined>}
 */
const ON_DARK = {
  purple: { model: [201, 141, 214], person: [86, 196, 122] },
};

/** What is drawn with now; changed in place, so that whoever imports it sees the choice. */
export const COLOURS = { ...PALETTES.blue };

/**
 * Draws with a palette from now on; with the first one where there is none of this name.
 *
 * @param {string} name
 */
export function choosePalette(name) {
  Object.assign(COLOURS, PALETTES[name] ?? PALETTES.blue);
  const { style } = document.documentElement,
    dark = ON_DARK[name];
  /** @param {Colour} colour */
  const css = (colour) => `rgb(${colour.join(' ')})`;
  for (const each of /** @type {const} */ (['model', 'person'])) {
    if (dark) style.setProperty(`--g-${each}`, `light-dark(${css(COLOURS[each])}, ${css(dark[each])})`);
    else style.removeProperty(`--g-${each}`);
  }
}

/** @type {(colour: Colour, opacity?: number) => string} */
export const css = ([red, green, blue], opacity = 1) => `rgba(${red}, ${green}, ${blue}, ${opacity})`;
